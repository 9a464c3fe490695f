"""The content of a documentation repository: pages, files, snippets and findings.

A source path is a path from the root of the content, with slashes; it never leaves the repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from presscheck.documents.git_format.findings import Finding
from presscheck.documents.markdown.links import Destination
from presscheck.documents.pages.tree import flatten

DEFAULT_LAYOUT: Mapping[str, Any] = {
    "width": "default",
    "cover": True,
    "coverSize": "full",
    "coverMask": "none",
    "title": True,
    "description": True,
    "tableOfContents": True,
    "outline": True,
    "pagination": True,
    "metadata": True,
    "tags": True,
    "actions": True,
    "anchors": True,
}
"""The layout of a page without settings, in API form."""


@dataclass(frozen=True)
class Cover:
    """The cover image of a page: `picture` and `picture_dark` are source paths or URLs."""

    picture: str
    picture_dark: str | None = None
    y_pos: float = 0
    height: float | None = None


@dataclass(frozen=True)
class SourcePage:
    """A document, a group, a link, or the place of generated pages (`computed`). The keys of `details` are API names.

    A document with a file has `source` and the Git object id `oid` of its content. A link has `target`: a URL, or the
    source path of a page, optionally with an anchor. `unknown_keys` are the keys of front matter that have no detail.
    """

    kind: Literal["document", "group", "link", "computed"]
    title: str
    slug: str = ""
    source: str = ""
    oid: str = ""
    body: str = ""
    target: str = ""
    link_title: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cover: Cover | None = None
    unknown_keys: tuple[str, ...] = ()
    pages: tuple[SourcePage, ...] = ()


@dataclass(frozen=True)
class Snippet:
    """A text that pages include."""

    source: str
    oid: str
    title: str
    body: str


@dataclass(frozen=True)
class SourceFile:
    """An image or a download; its bytes are read on demand."""

    source: str
    name: str
    content_type: str
    size: int
    location: Path
    dimensions: tuple[float, float] | None = None

    def read(self) -> bytes:
        """Read the bytes.

        Raises:
            OSError: the file has become unreadable.
        """
        return self.location.read_bytes()


@dataclass(frozen=True)
class Repository:
    """A documentation repository. `redirects` maps former paths to pages and files, identified by source paths."""

    title: str
    pages: tuple[SourcePage, ...]
    files: tuple[SourceFile, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    redirects: Mapping[str, Destination] = field(default_factory=dict[str, Destination])
    findings: tuple[Finding, ...] = ()

    def walk(self) -> Iterator[SourcePage]:
        """Yield every page, each before its subpages."""
        return flatten(self.pages)
