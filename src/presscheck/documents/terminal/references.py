"""What a page refers to: titles of the pages behind its links, text of reusable content, variables, API descriptions.

A page is drawn with what is known at that moment. What is not known yet is drawn as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from presscheck.documents.markdown.links import LinkTarget
from presscheck.text.styled_text import Line


class Included(NamedTuple):
    """Reusable content.

    Attributes:
        title: its title; untrusted text.
        markdown: its text; None if that is not known.
        note: the reason why, a sentence of display text; empty without one.
        key: what it is known by, wherever it is included; empty for its address.
    """

    title: str
    markdown: str | None = None
    note: str = ""
    key: str = ""


class Picture(NamedTuple):
    """What is drawn above the caption of an image.

    Attributes:
        lines: the picture, or the blank lines that are reserved for it.
        note: why nothing is drawn, for the caption; else empty.
        wanted: names the picture to the page view, which asks for it when it comes near; empty if it is there.
    """

    lines: Sequence[Line] = ()
    note: str = ""
    wanted: str = ""


class References(Protocol):
    """Resolves what a page refers to; None for what is not known yet."""

    def target(self, address: str) -> LinkTarget | None:
        """Returns what a link leads to."""
        ...

    def included(self, address: str) -> Included | None:
        """Returns the reusable content that an address names."""
        ...

    def variable(self, expression: str) -> str | None:
        """Returns the value of an expression."""
        ...

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Returns an API description by the name of its specification, or by the address of its file."""
        ...

    def shows(self, condition: str) -> bool | None:
        """Returns whether the visitor of this page meets a condition; None for no visitor in particular.

        Content with a condition that is not met is left out.
        """
        ...

    def picture(self, address: str, columns: int) -> Picture | None:
        """Returns what is drawn for an image, at most so many cells wide; None for its caption alone."""
        ...


class NoReferences:
    """Knows nothing: every reference is drawn as it is written."""

    def target(self, address: str) -> LinkTarget | None:
        """Returns None."""
        return None

    def included(self, address: str) -> Included | None:
        """Returns None."""
        return None

    def variable(self, expression: str) -> str | None:
        """Returns None."""
        return None

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Returns None."""
        return None

    def shows(self, condition: str) -> bool | None:
        """Returns None."""
        return None

    def picture(self, address: str, columns: int) -> Picture | None:
        """Returns None."""
        return None


NO_REFERENCES = NoReferences()
