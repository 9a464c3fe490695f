"""Reads a page of a repository: front matter, title and body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, cast
from urllib.parse import unquote

from presscheck.documents.git_format.config import normalize_path
from presscheck.documents.git_format.models import Cover, Problem
from presscheck.documents.git_format.summary import plain_title
from presscheck.documents.pages.front_matter import find_front_matter
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml

MAX_TITLE = 1000
"""The longest heading that can be a title, in characters."""

_TITLE = re.compile(r"\s*(?:#[ \t]+(.*)(?:\n|\Z)|([^\s#>*+<{`~|-].*)\n=+[ \t]*(?:\n|\Z))")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_STRONG = re.compile(r"(\*\*|__|`)(.+?)\1")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")

_TEXTS = ("description", "icon", "emoji")
_FLAGS = ("hidden", "noIndex", "noRobotsIndex")
_PARTS = ("cover", "title", "description", "tableOfContents", "outline", "pagination", "metadata")


@dataclass(frozen=True)
class PageText:
    """The content of a page's file; `body_line` is the first line of the body."""

    title: str | None
    body: str
    body_line: int
    oid: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    cover: Cover | None = None
    problems: tuple[Problem, ...] = ()


def read_page(source: str, text: str, *, oid: str = "", has_title: bool = True) -> PageText:
    """Reads the file of a page; a heading at the start of the text is the title of the page."""
    problems: list[Problem] = []
    front: dict[str, Any] = {}
    start = 0
    front_matter = find_front_matter(text)
    if front_matter:
        start = front_matter.end
        try:
            front = load_yaml(front_matter.yaml)
        except InvalidYaml as error:
            problems.append(Problem(source, error.line + 1, f"the front matter is not YAML: {error}"))
    heading = _TITLE.match(text, start) if has_title else None
    title = _plain(heading[1] or heading[2]) if heading else None
    start = heading.end() if heading else start
    body = text[start:].lstrip("\n")
    body_line = text.count("\n", 0, len(text) - len(body)) + 1
    named = front.get("title")
    return PageText(
        title or (named if isinstance(named, str) and named.strip() else None),
        body,
        body_line,
        oid,
        _details(front),
        _cover(front, source),
        tuple(problems),
    )


def _details(front: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for name in _TEXTS:
        if front.get(name) is not None and not isinstance(front[name], dict | list | bool):
            details[name] = str(front[name]).strip()
    details |= {name: front[name] for name in _FLAGS if isinstance(front.get(name), bool)}
    if isinstance(front.get("if"), str):
        details["condition"] = front["if"]
    named = _parts(front.get("vars"))
    if named:
        details["variables"] = {
            str(name): value for name, value in named.items() if isinstance(value, str) or _number(value) is not None
        }
    layout = _parts(front.get("layout"))
    if layout:
        details["layout"] = _layout(layout)
    return details


def _layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the full layout, as it is sent: parts that the file does not mention are visible."""
    size = _parts(layout.get("cover")).get("size")
    return {
        "width": str(layout.get("width") or "default"),
        "coverSize": str(size or "hero"),
        **{part: _is_visible(layout.get(part)) for part in _PARTS},
    }


def _is_visible(part: object) -> bool:
    return part is not False and _parts(part).get("visible") is not False


def _parts(found: object) -> dict[str, Any]:
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _cover(front: Mapping[str, Any], source: str) -> Cover | None:
    pictures = _parts(front.get("cover"))
    picture = pictures.get("light") if pictures else front.get("cover")
    dark = pictures.get("dark")
    if not isinstance(picture, str):
        return None
    return Cover(
        _from_root(picture, source),
        _from_root(dark, source) if isinstance(dark, str) else None,
        _number(front.get("coverY")) or 0,
        _number(front.get("coverHeight")),
    )


def _from_root(picture: str, source: str) -> str:
    """Returns the source path of an image that a page names; a URL or a path outside the repository stays as it is."""
    if "://" in picture:
        return picture
    return normalize_path(f"{source.rpartition('/')[0]}/{unquote(picture)}") or picture


def _number(found: object) -> float | None:
    return float(found) if isinstance(found, int | float) and isfinite(found) else None


def _plain(heading: str) -> str | None:
    words = heading[:MAX_TITLE].rstrip()
    bare = words.rstrip("#")
    if not bare or bare[-1] in " \t":  # the heading had closing #s
        words = bare
    words = _STRONG.sub(r"\2", _LINK.sub(r"\1", plain_title(words)[0]))
    return " ".join(_ESCAPE.sub(r"\1", words).split()) or None
