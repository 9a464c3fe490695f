"""Search results: sections of pages of spaces. Scores and ranks exist in the newest release only."""

from pydantic import Field

from presscheck.api.operation import Model
from presscheck.api.roles import Location


class SearchSectionResult(Model):
    """A section of a page; `body` is the text around the match."""

    id: str
    title: str = ""
    path: str = ""
    body: str = ""
    score: float | None = None
    urls: Location = Field(default_factory=Location)


class Ancestor(Model):
    """An ancestor of a page in the results."""

    title: str = ""


class SearchPageResult(Model):
    """A page with the sections that match."""

    id: str
    title: str = ""
    description: str | None = None
    path: str = ""
    score: float | None = None
    rank: int | None = None
    sections: tuple[SearchSectionResult, ...] | None = None
    ancestors: tuple[Ancestor, ...] | None = None
    urls: Location = Field(default_factory=Location)


class SearchSpaceResult(Model):
    """A space with the pages that match."""

    type: str | None = None
    id: str
    title: str = ""
    score: float | None = None
    pages: tuple[SearchPageResult, ...] = ()
