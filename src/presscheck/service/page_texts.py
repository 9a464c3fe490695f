"""The Markdown of a page and what surrounds it on the wire: the title as a first heading, details as front matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from presscheck.documents.pages.front_matter import find_front_matter
from presscheck.documents.pages.tree import slugify
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml
from presscheck.service.handling import Problem

__all__ = ["DETAILS", "PageText", "put_together", "slugify", "take_apart"]

_WORDS = ("title", "slug", "emoji", "icon", "description", "condition")
_CLAIMS = ("hidden", "noIndex", "noRobotsIndex")
DETAILS: dict[str, type] = {**dict.fromkeys(_WORDS, str), **dict.fromkeys(_CLAIMS, bool)}
"""What front matter may say of a page, and the type of each value."""

_TITLE = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n+|\Z)")


@dataclass(frozen=True)
class PageText:
    """What a text says: its title, details by their names on the wire, and the rest."""

    title: str | None
    details: dict[str, Any]
    body: str


def take_apart(markdown: str) -> PageText:
    """A page's own text out of Markdown from outside.

    Raises:
        Problem: the front matter is not YAML.
    """
    text = markdown.replace("\r\n", "\n")
    details: dict[str, Any] = {}
    front = find_front_matter(text)
    if front:
        details = _details(front.yaml)
        text = text[front.end :]
    heading = _TITLE.match(text)
    if heading:
        text = text[heading.end() :]
    return PageText(_plain(heading[1]) if heading else None, details, text.strip("\n") + "\n" if text.strip() else "")


def put_together(title: str, body: str) -> str:
    """The Markdown of a page as the service sends it."""
    return f"# {title}\n\n{body}" if title else body


def _details(front: str) -> dict[str, Any]:
    try:
        given = load_yaml(front)
    except InvalidYaml as error:
        raise Problem(400, f"document: the front matter is not YAML: {error}") from None
    return {name: given[name] for name, kind in DETAILS.items() if isinstance(given.get(name), kind)}


def _plain(heading: str) -> str:
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", heading)
