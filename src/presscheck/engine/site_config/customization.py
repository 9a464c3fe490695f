"""The customization of a site: what a file may change in it, and the whole that is sent.

The service replaces a customization as a whole, so what a file does not have is sent as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from presscheck.api.site_customization import known_names
from presscheck.engine.site_config.comparison import same_value
from presscheck.engine.site_config.document import Place
from presscheck.engine.site_config.validation import Problem

_COLOR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_THEMED = frozenset(("light", "dark"))
LINKS = ("header", "links")
"""Where links are of which the target is null if they only hold other links."""


def customization_problems(site: Mapping[str, Any], file: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the values of a file that the site does not have already."""
    return [*_problems(("customization",), site, file)]


def merged(site: Any, file: Any, *, prune: bool = False) -> Any:
    """A value of the site with what a file has: what the file lacks stays, unless it is pruned; lists are replaced.

    Null values cannot be written into a file; they stay where the file has nothing.
    """
    if isinstance(file, dict) and isinstance(site, dict):
        theirs, ours = cast("dict[str, Any]", site), cast("dict[str, Any]", file)
        kept = {name: value for name, value in theirs.items() if name in ours or not prune or value is None}
        return {**kept, **{name: merged(theirs.get(name), value, prune=prune) for name, value in ours.items()}}
    if isinstance(file, list) and isinstance(site, list):
        present, wanted = cast("list[Any]", site), cast("list[Any]", file)
        return [_with_nulls(present[at] if at < len(present) else None, item) for at, item in enumerate(wanted)]
    return cast("Any", file)


def with_link_targets(customization: dict[str, Any]) -> dict[str, Any]:
    """A customization in which each link of the header has a target: null if it has none."""
    first, second = LINKS
    header = customization.get(first)
    if not isinstance(header, dict) or not isinstance(cast("dict[str, Any]", header).get(second), list):
        return customization
    inner = cast("dict[str, Any]", header)
    links: list[Any] = [
        {"to": None, **cast("dict[str, Any]", link)} if isinstance(link, dict) else link for link in inner[second]
    ]
    return {**customization, first: {**inner, second: links}}


def _with_nulls(site: Any, file: Any) -> Any:
    if isinstance(site, dict) and isinstance(file, dict):
        theirs, ours = cast("dict[str, Any]", site), cast("dict[str, Any]", file)
        nulls = {name: None for name, value in theirs.items() if value is None and name not in ours}
        return {**nulls, **{name: _with_nulls(theirs.get(name), value) for name, value in ours.items()}}
    if isinstance(site, list) and isinstance(file, list):
        present, wanted = cast("list[Any]", site), cast("list[Any]", file)
        return [_with_nulls(present[at] if at < len(present) else None, item) for at, item in enumerate(wanted)]
    return file


def _problems(place: Place, site: Any, file: Any) -> Iterator[Problem]:
    if site is not None and same_value(site, file):
        return
    if isinstance(site, dict | list | bool) and not isinstance(file, type(cast("Any", site))):
        words = {dict: "a table with keys and values", list: "a list", bool: "true or false"}
        yield Problem(place, f"must be {words[type(cast('Any', site))]}")
        return
    if isinstance(file, dict):
        theirs = cast("dict[str, Any]", site) if isinstance(site, dict) else {}
        known = known_names().get(".".join(str(part) for part in place[1:]))
        for name, value in cast("dict[str, Any]", file).items():
            if known and name not in known and name not in theirs:
                yield Problem((*place, name), f"is not a known key; known: {', '.join(sorted({*known, *theirs}))}")
            else:
                yield from _problems((*place, name), theirs.get(name), value)
    elif isinstance(file, list):
        present = cast("list[Any]", site) if isinstance(site, list) else []
        for number, value in enumerate(cast("list[Any]", file)):
            yield from _problems((*place, number), present[number] if number < len(present) else None, value)
    elif isinstance(site, str) and not isinstance(file, str):
        yield Problem(place, "must be a text: put it in quotes")
    elif _is_color(place) and not (isinstance(file, str) and _COLOR.fullmatch(file)):
        yield Problem(place, "must be a color such as #9a4f1b")


def _is_color(place: Place) -> bool:
    """Whether a place has a color: the light or dark one of a field such as primaryColor, or of a tint."""
    return place[-1] in _THEMED and len(place) > 1 and str(place[-2]).lower().endswith("color")
