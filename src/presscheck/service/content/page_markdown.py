"""Parses and formats the Markdown of a page: title as first heading, details as front matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from presscheck.documents.markdown.headings import leading_title
from presscheck.documents.pages.front_matter import find_front_matter
from presscheck.documents.pages.tree import slugify
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml
from presscheck.service.http.operation_registry import ApiError

__all__ = ["DETAILS", "PageText", "format_page", "parse_page", "slugify"]

_WORDS = ("title", "slug", "emoji", "icon", "description", "condition")
_CLAIMS = ("hidden", "noIndex", "noRobotsIndex")
DETAILS: dict[str, type] = {**dict.fromkeys(_WORDS, str), **dict.fromkeys(_CLAIMS, bool)}
"""The page details that front matter can set, with their types."""


@dataclass(frozen=True)
class PageText:
    """Parsed Markdown: title, details named as in the API, and the body."""

    title: str | None
    details: dict[str, Any]
    body: str


def parse_page(markdown: str) -> PageText:
    """Parses submitted Markdown into title, details and body.

    Raises:
        ApiError: the front matter is invalid YAML.
    """
    text = markdown.replace("\r\n", "\n")
    details: dict[str, Any] = {}
    front = find_front_matter(text)
    if front:
        details = _details(front.yaml)
        text = text[front.end :]
    heading = leading_title(text)
    if heading:
        text = text[heading.end :]
    return PageText(
        _plain(heading.title) if heading else None, details, text.strip("\n") + "\n" if text.strip() else ""
    )


def format_page(title: str, body: str) -> str:
    """The Markdown of a page as the API returns it."""
    return f"# {title}\n\n{body}" if title else body


def _details(front: str) -> dict[str, Any]:
    try:
        given = load_yaml(front)
    except InvalidYaml as error:
        raise ApiError(400, f"document: invalid YAML in the front matter: {error}") from None
    return {name: given[name] for name, kind in DETAILS.items() if isinstance(given.get(name), kind)}


def _plain(heading: str) -> str:
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", heading)
