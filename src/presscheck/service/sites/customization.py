"""The customization of a site in the format of the API, with defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.sites import SiteRow, SiteSettingsRow

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def _both(light: str, dark: str) -> dict[str, str]:
    return {"light": light, "dark": dark}


LOOKS: dict[str, Any] = {
    "styling": {
        "theme": "clean",
        "primaryColor": _both("#9a4f1b", "#e0a458"),
        "infoColor": _both("#226583", "#7fb4ca"),
        "successColor": _both("#37702f", "#9bbf7c"),
        "warningColor": _both("#7c5f10", "#d7ba7d"),
        "dangerColor": _both("#a8352a", "#e58072"),
        "corners": "rounded",
        "depth": "subtle",
        "links": "default",
        "font": "Inter",
        "monospaceFont": "IBMPlexMono",
        "background": "plain",
        "icons": "regular",
        "sidebar": {"background": "default", "list": "default"},
        "search": "subtle",
    },
    "internationalization": {"locale": "en"},
    "favicon": {},
    "header": {"preset": "default", "links": []},
    "footer": {"groups": []},
    "themes": {"default": "light", "toggeable": True},
    "pdf": {"enabled": False},
    "feedback": {"enabled": False},
    "ai": {"mode": "none"},
    "advancedCustomization": {"enabled": False},
    "git": {"showEditLink": False},
    "pageActions": {"externalAI": False, "markdown": True, "mcp": False},
    "externalLinks": {"target": "self"},
    "pagination": {"enabled": True},
    "trademark": {"enabled": False},
    "privacyPolicy": {},
    "socialPreview": {},
    "insights": {"trackingCookie": False},
}
"""The default customization of a site."""
CHOICES: dict[str, frozenset[str]] = {
    "styling.corners": frozenset(("straight", "rounded", "circular")),
    "styling.depth": frozenset(("subtle", "flat")),
    "styling.links": frozenset(("default", "accent")),
    "themes.default": frozenset(("light", "dark", "system")),
    "announcement.style": frozenset(("info", "warning", "danger", "success")),
}
"""The allowed values of fields with fixed choices."""


CODE_THEME = {name: {"light": "default-light", "dark": "default-dark"} for name in ("default", "openapi")}
"""The default colors of code blocks and API operations. Only the newest API release has this setting."""


def looks_of(context: Context, site: SiteRow) -> dict[str, Any]:
    """Return the customization of a site, or the default customization if the site has none."""
    row = context.session.get(SiteSettingsRow, site.id)
    return row.looks if row and row.looks else LOOKS


OF_SPACES = frozenset(
    (
        "title",
        "localizedTitle",
        "styling",
        "internationalization",
        "favicon",
        "announcement",
        "header",
        "footer",
        "themes",
        "feedback",
        "externalLinks",
        "pagination",
        "trademark",
        "privacyPolicy",
        "socialPreview",
    )
)
"""The parts of a customization that a space of a site can override."""


def combined(looks: dict[str, Any], own: dict[str, Any] | None) -> dict[str, Any]:
    """Return a customization in which the values of `own` override the values of `looks`.

    Objects are combined recursively, other values are replaced, and None removes a value.
    """
    result = dict(looks)
    for name, value in (own or {}).items():
        if isinstance(value, dict):
            inner = result.get(name)
            result[name] = combined(
                cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}, cast("dict[str, Any]", value)
            )
        elif value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def with_newest_parts(looks: dict[str, Any]) -> dict[str, Any]:
    """Return a customization with defaults for missing parts that only the newest API release has."""
    return looks | {
        "styling": {"codeTheme": CODE_THEME} | looks["styling"],
        "pageActions": {"items": []} | looks["pageActions"],
        "socialAccounts": looks.get("socialAccounts", []),
    }


def require_customization(given: dict[str, Any]) -> None:
    """Check that a customization is complete and valid.

    Raises:
        ApiError: 400, naming the invalid field.
    """
    missing = sorted(LOOKS.keys() - given.keys())
    if missing:
        raise ApiError(400, f"{missing[0]}: required; the customization of a site is replaced as a whole")
    for path, value in _places(given, ""):
        default = _value_at(LOOKS, path)
        for kind, words in ((dict, "an object"), (list, "an array"), (bool, "true or false")):
            if isinstance(default, kind) and not isinstance(value, kind):
                raise ApiError(400, f"{path}: must be {words}")
        if path in CHOICES and value not in CHOICES[path]:
            raise ApiError(400, f"{path}: must be one of {', '.join(sorted(CHOICES[path]))}")
        if "olor." in path and not (isinstance(value, str) and _COLOUR.fullmatch(value)):
            raise ApiError(400, f"{path}: must be a color such as #9a4f1b")


def _places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every path in an object with its value."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from _places(inner, f"{path}.{name}" if path else name)


def _value_at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value
