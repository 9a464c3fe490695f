"""The data that the HTML renderer needs for a page: link targets, included texts, and the visitor's conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from presscheck.documents.openapi.specification import SpecificationReader


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
    """A heading in the outline of a page. `tab` is the title of the tab around it, if that tab is closed at first."""

    level: int
    title: str
    fragment: str
    tab: str = ""


class Component(NamedTuple):
    """A component that an integration made for a block: the root element, and the state that elements refer to."""

    element: Mapping[str, Any]
    state: Mapping[str, Any]


class RenderContext(Protocol):
    """The context of one page. `source` is the source path of the text with the link (see `links.source_path`)."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """Resolve a link; return None if its target does not exist or is not safe."""
        ...

    def included(self, target: str, source: str) -> Included | None:
        """Return the text that an include refers to, or None if it does not exist."""
        ...

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        """Return the component for a block of an integration, or None if it cannot be drawn."""
        ...

    def specification(self, name: str, source: str, *, is_file: bool) -> SpecificationReader | None:
        """Return a specification, or None if it cannot be read.

        Args:
            name: the slug of a specification of the organization, or with `is_file` a path or a URL.
            source: the source path of the text with the block.
            is_file: whether the name is a path or a URL.
        """
        ...

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        """Return the URL of the description of a model, or None if no page has it."""
        ...

    def holds(self, condition: str) -> bool:
        """Return whether a condition is true for the visitor."""
        ...

    def variable(self, name: str) -> str | None:
        """Return the value of an expression such as `space.vars.version`, or None if it is unknown."""
        ...
