"""The data that the HTML renderer needs for a page: link targets, included texts, and the visitor's conditions."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ResolvedLink(NamedTuple):
    """A resolved link: its URL, the title of its target, and whether it leads outside of the site."""

    url: str
    title: str = ""
    is_outside: bool = False


class Included(NamedTuple):
    """A text that a page includes, and its source path."""

    markdown: str
    source: str


class Heading(NamedTuple):
    """A heading in the outline of a page, with the URL fragment of its anchor."""

    level: int
    title: str
    fragment: str


class RenderContext(Protocol):
    """The context of one page. `source` is the source path of the text with the link (see `links.source_path`)."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """Resolves a link; returns None if its target does not exist or is not safe."""
        ...

    def included(self, target: str, source: str) -> Included | None:
        """Returns the text that an include refers to, or None if it does not exist."""
        ...

    def holds(self, condition: str) -> bool:
        """Returns whether a condition is true for the visitor."""
        ...

    def variable(self, name: str) -> str | None:
        """Returns the value of an expression such as `space.vars.version`."""
        ...
