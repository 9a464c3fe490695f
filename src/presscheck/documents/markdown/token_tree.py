"""Tokens of Markdown as a tree, and the marks that some blocks begin with: of a task, of a hint in a quotation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from presscheck.documents.block_tags import HINTS

if TYPE_CHECKING:
    from markdown_it.token import Token

    Tokens = Sequence[Token]

_task = re.compile(r"\[([ xX])\](?:[ \t]+|$)").match
_alert = re.compile(r"\[!(\w+)\][ \t]*\n?").match


def outermost(tokens: Tokens) -> Iterator[tuple[Token, Tokens]]:
    """The outermost blocks among the tokens, each with the tokens within it."""
    at = 0
    while at < len(tokens):
        opened = at
        depth = tokens[at].nesting
        while depth > 0:
            at += 1
            depth += tokens[at].nesting
        yield tokens[opened], tokens[opened + 1 : at] if at > opened else ()
        at += 1


def take_task(inner: Tokens) -> str:
    """Whether an item is a task; the mark in its text is taken away."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    found = _task(children[0].content) if children and children[0].type == "text" else None
    if not children or not found:
        return ""
    children[0].content = children[0].content[found.end() :]
    return found[1]


def take_alert(inner: Tokens) -> str:
    """The kind of hint that a quotation begins with, taken away from its text."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    found = _alert(children[0].content) if children and children[0].type == "text" else None
    if not children or not found or found[1].lower() not in HINTS:
        return ""
    children[0].content = children[0].content[found.end() :]
    return found[1].lower()
