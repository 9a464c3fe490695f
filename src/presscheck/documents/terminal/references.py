"""The content that a page refers to: titles of linked pages, reusable content, variables, API descriptions.

A page is rendered with the references loaded so far; all others appear as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from presscheck.documents.markdown.links import LinkTarget
from presscheck.text.styled_text import Line


class Included(NamedTuple):
    """Reusable content.

    Attributes:
        title: the title; untrusted text.
        markdown: the text, or None if it is unknown.
        note: the reason why the text is unknown, as a sentence; may be empty.
        key: an identifier that does not depend on the address; empty if the address identifies the content.
    """

    title: str
    markdown: str | None = None
    note: str = ""
    key: str = ""


class Picture(NamedTuple):
    """The picture of an image, above its caption.

    Attributes:
        lines: the picture, or blank lines reserved for it.
        note: the reason why nothing is drawn, for the caption; empty otherwise.
        wanted: the name under which the page view requests the picture when it becomes visible; empty if it is loaded.
    """

    lines: Sequence[Line] = ()
    note: str = ""
    wanted: str = ""


class References(Protocol):
    """Access to the content that a page refers to. Methods return None for references that are not loaded."""

    def target(self, address: str) -> LinkTarget | None:
        """Return the target of a link."""
        ...

    def included(self, address: str) -> Included | None:
        """Return the reusable content with this address."""
        ...

    def variable(self, expression: str) -> str | None:
        """Return the value of an expression."""
        ...

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Return an API description, given the name of its specification or the address of its file."""
        ...

    def shows(self, condition: str) -> bool | None:
        """Return whether the visitor of this page meets a condition, or None if the page is not shown for a visitor.

        Content is left out if its condition is not met.
        """
        ...

    def picture(self, address: str, columns: int) -> Picture | None:
        """Return the picture of an image, at most `columns` wide, or None to show only its caption."""
        ...

    def component(self, tag: str, columns: int) -> list[Line] | None:
        """Return the block of an integration, given its tag as written; None to show its properties.

        Its lines may be wider than `columns`.
        """
        ...


class NoReferences:
    """No references: everything that a page refers to appears as written."""

    def target(self, address: str) -> LinkTarget | None:
        """Return None."""
        return None

    def included(self, address: str) -> Included | None:
        """Return None."""
        return None

    def variable(self, expression: str) -> str | None:
        """Return None."""
        return None

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Return None."""
        return None

    def shows(self, condition: str) -> bool | None:
        """Return None."""
        return None

    def picture(self, address: str, columns: int) -> Picture | None:
        """Return None."""
        return None

    def component(self, tag: str, columns: int) -> list[Line] | None:
        """Return None."""
        return None


NO_REFERENCES = NoReferences()
