"""What a page needs to be rendered as HTML: resolved links, included texts, and what the visitor may see."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ResolvedLink(NamedTuple):
    """A resolved link: its URL, the title of its target, and whether it leaves the site."""

    url: str
    title: str = ""
    is_outside: bool = False


class Included(NamedTuple):
    """An included text and its source path."""

    markdown: str
    source: str


class Heading(NamedTuple):
    """A heading in the outline of a page, and the address of its anchor after `#`."""

    level: int
    title: str
    fragment: str


class RenderContext(Protocol):
    """The context of one page. A `source` is the source path of the text that has the link (`links.source_path`)."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """Resolves a link; None if its target does not exist or is not safe."""
        ...

    def included(self, target: str, source: str) -> Included | None:
        """Returns the text that is included under this name."""
        ...

    def holds(self, condition: str) -> bool:
        """Returns whether a condition is true for the visitor."""
        ...

    def variable(self, name: str) -> str | None:
        """Returns the value of an expression such as `space.vars.version`."""
        ...
