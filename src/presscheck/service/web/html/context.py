"""What a page needs to know of the world to become HTML: where links lead, what is included, who reads it."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ResolvedLink(NamedTuple):
    """Where a link leads: an address that a browser may follow, what is there, and whether that is elsewhere."""

    url: str
    title: str = ""
    is_outside: bool = False


class Included(NamedTuple):
    """A text that a page includes, and its own source."""

    markdown: str
    source: str


class Heading(NamedTuple):
    """A heading of a page, as its outline lists it."""

    level: int
    title: str
    anchor: str


class RenderContext(Protocol):
    """Answers for one page. A `source` is that of the text in which a link stands (see `links.source_of`)."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """Where a target leads; None where that is nowhere, or nowhere safe."""
        ...

    def included(self, target: str, source: str) -> Included | None:
        """What is included under this name."""
        ...

    def holds(self, condition: str) -> bool:
        """Whether a condition holds for who reads."""
        ...

    def variable(self, name: str) -> str | None:
        """The value of an expression such as `space.vars.version`."""
        ...
