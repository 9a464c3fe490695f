"""Parses and formats the Markdown of a page: title as first heading, details as front matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

import yaml

from presscheck.documents.page_trees import slug_of
from presscheck.service.handling import Problem

__all__ = ["DETAILS", "PageText", "put_together", "slug_of", "take_apart"]

_WORDS = ("title", "slug", "emoji", "icon", "description", "condition")
_CLAIMS = ("hidden", "noIndex", "noRobotsIndex")
DETAILS: dict[str, type] = {**dict.fromkeys(_WORDS, str), **dict.fromkeys(_CLAIMS, bool)}
"""The page details that front matter can set, with their types."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n+|\Z)")


@dataclass(frozen=True)
class PageText:
    """Parsed Markdown: title, details named as in the API, and the body."""

    title: str | None
    details: dict[str, Any]
    body: str


def take_apart(markdown: str) -> PageText:
    """Parses submitted Markdown into title, details and body.

    Raises:
        Problem: the front matter is invalid YAML.
    """
    text = markdown.replace("\r\n", "\n")
    details: dict[str, Any] = {}
    front = _FRONT_MATTER.match(text)
    if front:
        details = _details(front[1])
        text = text[front.end() :]
    heading = _TITLE.match(text)
    if heading:
        text = text[heading.end() :]
    return PageText(_plain(heading[1]) if heading else None, details, text.strip("\n") + "\n" if text.strip() else "")


def put_together(title: str, body: str) -> str:
    """The Markdown of a page as the API returns it."""
    return f"# {title}\n\n{body}" if title else body


def _details(front: str) -> dict[str, Any]:
    try:
        details = yaml.safe_load(front)
    except yaml.YAMLError as error:
        raise Problem(400, f"document: invalid YAML in the front matter: {str(error).splitlines()[0]}") from None
    if not isinstance(details, dict):
        return {}
    given = cast("dict[str, Any]", details)
    return {name: given[name] for name, kind in DETAILS.items() if isinstance(given.get(name), kind)}


def _plain(heading: str) -> str:
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", heading)
