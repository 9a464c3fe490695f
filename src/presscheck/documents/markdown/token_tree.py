"""Markdown tokens as a tree, and the markers of task items and alerts."""

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
    """Yields the outermost blocks of the tokens, each with the tokens inside it."""
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
    """Removes the marker of a task from an item and returns its character, empty if the item is no task."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    match = _task(children[0].content) if children and children[0].type == "text" else None
    if not children or not match:
        return ""
    children[0].content = children[0].content[match.end() :]
    return match[1]


def take_alert(inner: Tokens) -> str:
    """Removes the marker of an alert from a quotation and returns its kind, empty if it is none."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    match = _alert(children[0].content) if children and children[0].type == "text" else None
    if not children or not match or match[1].lower() not in HINTS:
        return ""
    children[0].content = children[0].content[match.end() :]
    return match[1].lower()
