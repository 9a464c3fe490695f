"""Themes: nine colours in a TOML file each, and what each word of a style looks like in them.

Colour never speaks alone: what it says, a glyph or a word beside it says too.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.style import Style
from textual.theme import Theme as TextualTheme

from presscheck.errors import ConfigurationError

COLORS = ("ground", "raised", "text", "quiet", "accent", "link", "added", "removed", "waiting")
PACKAGED = Path(__file__).parents[1] / "themes"
IN_CHECKOUT = Path(__file__).parents[3] / "themes"

LOOKS: dict[str, tuple[str, str]] = {
    "text": ("text", ""),
    "quiet": ("quiet", ""),
    "accent": ("accent", ""),
    "you": ("accent", ""),
    "mark": ("accent", ""),
    "link": ("link", ""),
    "keyword": ("link", ""),
    "hint-info": ("link", ""),
    "added": ("added", ""),
    "string": ("added", ""),
    "hint-success": ("added", ""),
    "removed": ("removed", ""),
    "error": ("removed", ""),
    "hint-danger": ("removed", ""),
    "waiting": ("waiting", ""),
    "number": ("waiting", ""),
    "hint-warning": ("waiting", ""),
    "comment": ("quiet", ""),
    "code": ("text", "raised"),
    "heading": ("text", "bold"),
    "title": ("text", "bold"),
    "strong": ("", "bold"),
    "emphasis": ("", "italic"),
    "strike": ("", "strike"),
    "underline": ("", "underline"),
}
"""Word → colour, and ``raised`` ground or an attribute."""


@dataclass(frozen=True)
class Theme:
    """Nine colours by name."""

    name: str
    dark: bool
    colors: dict[str, str]

    def style(self, words: str) -> Style:
        """What a style of spans looks like."""
        return _style(self.name, words, tuple(sorted(self.colors.items())))

    def as_textual(self) -> TextualTheme:
        """The same for style sheets, whose variables are ``$ground``, ``$raised``, ``$text`` and so on."""
        colors = self.colors
        return TextualTheme(
            name=self.name,
            dark=self.dark,
            primary=colors["accent"],
            background=colors["ground"],
            surface=colors["ground"],
            panel=colors["raised"],
            foreground=colors["text"],
            warning=colors["waiting"],
            error=colors["removed"],
            success=colors["added"],
            accent=colors["accent"],
            variables={"ink-" + name: value for name, value in colors.items()},
        )


@lru_cache(maxsize=1024)
def _style(_name: str, words: str, colors: tuple[tuple[str, str], ...]) -> Style:
    named = dict(colors)
    foreground, background = named["text"], named["ground"]
    attributes: set[str] = set()
    for word in words.split():
        color, extra = LOOKS.get(word, ("", ""))
        foreground = named[color] if color else foreground
        background = named["raised"] if extra == "raised" or word == "cursor" else background
        if extra and extra != "raised":
            attributes.add(extra)
    return Style(
        color=foreground,
        bgcolor=background,
        bold="bold" in attributes,
        italic="italic" in attributes,
        strike="strike" in attributes,
        underline="underline" in attributes,
    )


def load(own: Path | None = None) -> dict[str, Theme]:
    """Every theme by name: ours, then the user's own from that directory.

    Raises:
        ConfigurationError: names the file and what is missing.
    """
    ours = PACKAGED if PACKAGED.is_dir() else IN_CHECKOUT
    found = [read(path) for place in (ours, own) if place for path in sorted(place.glob("*.toml"))]
    return {theme.name: theme for theme in found}


def read(path: Path) -> Theme:
    """A theme from its file.

    Raises:
        ConfigurationError: names the file and what is missing.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        colors = {name: str(table["colors"][name]) for name in COLORS}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    except KeyError as error:
        raise ConfigurationError(f"{path}: colors.{error.args[0]} is missing") from None
    return Theme(str(table.get("name", path.stem)), bool(table.get("dark", True)), colors)
