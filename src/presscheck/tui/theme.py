"""Themes: nine colours in a TOML file each, and what each word of a style looks like in them.

Colour never speaks alone: what it says, a glyph or a word beside it says too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rich.color import Color, ColorParseError
from rich.style import Style
from textual.theme import Theme as TextualTheme

from presscheck.errors import ConfigurationError

COLORS = ("ground", "raised", "text", "quiet", "accent", "link", "added", "removed", "waiting")
PACKAGED = Path(__file__).parents[1] / "themes"
# src/presscheck/tui in a checkout, where the themes are not yet beside the package as a wheel has them
IN_CHECKOUT = Path(__file__).parents[3] / "themes"
_hex = re.compile(r"#[0-9a-fA-F]{6}").fullmatch

FOREGROUNDS: dict[str, str] = {
    "text": "text",
    "quiet": "quiet",
    "comment": "quiet",
    "accent": "accent",
    "you": "accent",
    "number": "accent",
    "link": "link",
    "keyword": "link",
    "hint-info": "link",
    "added": "added",
    "hint-success": "added",
    "removed": "removed",
    "error": "removed",
    "hint-danger": "removed",
    "waiting": "waiting",
    "string": "waiting",
    "hint-warning": "waiting",
}
"""Word of a style → colour."""
ATTRIBUTES: dict[str, str] = {
    "heading": "bold",
    "title": "bold",
    "strong": "bold",
    "emphasis": "italic",
    "strike": "strike",
    "underline": "underline",
    "mark": "reverse",
}
"""Word of a style → attribute."""
RAISED = frozenset(("code", "raised"))
"""Words that stand on the raised ground; `raised` is what sheets add to all that is on them."""
CURSOR = "cursor"
"""What is under the cursor is bold where nothing else marks it: a moved cursor then changes few cells."""


@dataclass(frozen=True)
class Theme:
    """Nine colours by name: `#rrggbb`, or a name of the terminal's own sixteen."""

    name: str
    dark: bool
    colors: dict[str, str]

    @property
    def is_of_the_terminal(self) -> bool:
        """Whether the colours are the terminal's own."""
        return not all(_hex(color) for color in self.colors.values())

    def as_textual(self) -> TextualTheme:
        """The same for style sheets, whose variables are `$ink-ground`, `$ink-text` and so on."""
        colors = {
            name: color if _hex(color) else f"ansi_{color.removeprefix('ansi_')}" for name, color in self.colors.items()
        }
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
            variables={f"ink-{name}": value for name, value in colors.items()},
            ansi=self.is_of_the_terminal,
        )

    def style(self, style: str) -> Style:
        """The colours and attributes of a style of spans, such as `added strong`."""
        words = style.split()
        named = [FOREGROUNDS[word] for word in words if word in FOREGROUNDS]
        attributes = {ATTRIBUTES[word]: True for word in words if word in ATTRIBUTES}
        if CURSOR in words and not named and words != [CURSOR]:
            attributes["bold"] = True
        ground = "raised" if RAISED.intersection(words) else "ground"
        return Style(
            color=self.colors[named[-1] if named else "text"],
            bgcolor=self.colors[ground],
            bold=attributes.get("bold"),
            italic=attributes.get("italic"),
            strike=attributes.get("strike"),
            underline=attributes.get("underline"),
            reverse=attributes.get("reverse"),
        )


StyleLookup = Callable[[str], Style]
"""Returns the style for some words, such as `added strong`."""


class StyleTable(dict[str, Style]):
    """The styles of the current theme by their words, such as `added strong`; each is made at its first use.

    Every span that is drawn looks its style up here, so a look-up is one access of a dict.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def use(self, theme: Theme) -> None:
        """Switch to another theme."""
        self._theme = theme
        self.clear()

    def __missing__(self, words: str) -> Style:
        self[words] = style = self._theme.style(words)
        return style


def load(own: Path | None = None) -> dict[str, Theme]:
    """Every theme by name: ours, then the user's own from that directory.

    Raises:
        ConfigurationError: names the file and what is wrong in it.
    """
    ours = PACKAGED if PACKAGED.is_dir() else IN_CHECKOUT
    found = [read(path) for place in (ours, own) if place for path in sorted(place.glob("*.toml"))]
    return {theme.name: theme for theme in found}


def read(path: Path) -> Theme:
    """A theme from its file.

    Raises:
        ConfigurationError: names the file and what is wrong in it.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    given = table.get("colors")
    colors = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    for name in COLORS:
        if name not in colors:
            raise ConfigurationError(f"{path}: colors.{name} is missing")
        if not _is_color(colors[name]):
            raise ConfigurationError(f'{path}: colors.{name} must be "#rrggbb" or one of the terminal\'s sixteen')
    return Theme(str(table.get("name", path.stem)), bool(table.get("dark", True)), {n: colors[n] for n in COLORS})


def _is_color(value: object) -> bool:
    if not isinstance(value, str):
        return False
    if _hex(value):
        return True
    try:
        number = Color.parse(value).number
    except ColorParseError:
        return False
    return value == "default" or (number is not None and number < 16)
