"""How a site looks whose looks nobody has chosen: plain, in the platform's own words."""

from __future__ import annotations

from typing import Any


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
}
