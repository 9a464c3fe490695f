"""Themes: nine colors per TOML file, and the mapping from style words to colors and attributes.

Color never carries meaning alone: a glyph or a word next to it has the same meaning.
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
from textual.css.stylesheet import Stylesheet
from textual.theme import Theme as TextualTheme
from typing_extensions import override

from presscheck.config.validation import (
    SettingsError,
    line_of_key,
    lines_of_keys,
    located,
    read_all,
    read_toml_error,
)
from presscheck.errors import ConfigurationError

COLORS = ("ground", "raised", "text", "quiet", "accent", "link", "added", "removed", "waiting")
PACKAGED = Path(__file__).parents[1] / "themes"
# in a checkout the themes are at the root of the repository; a wheel has them in the package
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
"""The color of each style word."""
ATTRIBUTES: dict[str, str] = {
    "heading": "bold",
    "title": "bold",
    "strong": "bold",
    "emphasis": "italic",
    "strike": "strike",
    "underline": "underline",
    "mark": "reverse",
}
"""The text attribute of each style word."""
RAISED = frozenset(("code", "raised"))
"""Style words with the raised background. Dialogs add `raised` to all their text but that of inputs."""
CURSOR = "cursor"
"""The style word of the row under the cursor. Only its uncolored text is bold, so that moving repaints few cells."""

PICTURE = "picture"
"""The prefix of style words of picture cells, such as `picture-7-0` for picture 7 and row 0."""
MOST_STYLES = 20_000
"""Maximum number of cached styles; pictures have a style per pair of colors."""


@dataclass(frozen=True)
class Theme:
    """Nine colors by name; each is `#rrggbb` or one of the 16 colors of the terminal."""

    name: str
    dark: bool
    colors: dict[str, str]

    @property
    def uses_terminal_colors(self) -> bool:
        """Whether the theme uses colors of the terminal."""
        return not all(_hex(color) for color in self.colors.values())

    def as_textual(self) -> TextualTheme:
        """Return the theme for Textual, with CSS variables such as `$ink-ground` and `$ink-text`."""
        colors = {
            name: color if _hex(color) else f"ansi_{color.removeprefix('ansi_')}" for name, color in self.colors.items()
        }
        variables = {f"ink-{name}": value for name, value in colors.items()}
        if self.uses_terminal_colors:  # variables that Textual's CSS uses, but only Textual's themes define
            dim, bright = ("ansi_black", "ansi_white") if self.dark else ("ansi_white", "ansi_black")
            variables |= {"ansi-background": dim, "ansi-foreground": bright}
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
            variables=variables,
            ansi=self.uses_terminal_colors,
        )

    def style(self, style: str) -> Style:
        """Return the Rich style for style words such as `added strong`."""
        words = style.split()
        colors = [FOREGROUNDS[word] for word in words if word in FOREGROUNDS]
        shown, behind = _own_colors(words)
        attributes = {ATTRIBUTES[word]: True for word in words if word in ATTRIBUTES}
        mark = _picture_mark(words)
        if CURSOR in words and not colors and mark is None and words != [CURSOR]:
            attributes["bold"] = True
        background = "raised" if RAISED.intersection(words) else "ground"
        return Style(
            color=shown or self.colors[colors[-1] if colors else "text"],
            bgcolor=behind or self.colors[background],
            bold=attributes.get("bold"),
            italic=attributes.get("italic"),
            strike=attributes.get("strike"),
            underline=attributes.get("underline"),
            reverse=attributes.get("reverse"),
            meta=None if mark is None else {PICTURE: mark},
        )


def _picture_mark(words: list[str]) -> tuple[int, int] | None:
    """Return the picture and the row of a style word such as `picture-7-0`, or None."""
    parts = next((word.split("-") for word in words if word.startswith(f"{PICTURE}-")), None)
    return (int(parts[1]), int(parts[2])) if parts else None


def _own_colors(words: list[str]) -> tuple[str | None, str | None]:
    """Return the explicit colors in style words of pictures, such as `#9a4f1b on#ffffff`."""
    shown = next((word for word in words if word[0] == "#" and _hex(word)), None)
    behind = next((word[2:] for word in words if word.startswith("on#") and _hex(word[2:])), None)
    return shown, behind


_UNDERLINED = Style(underline=True)
StyleLookup = Callable[[str], Style]
"""Returns the style for style words such as `added strong`."""


class ParsedStylesheet(Stylesheet):
    """A Textual stylesheet that is parsed once per theme.

    Textual would parse it at each refresh of the styles, three times before the first screen is shown.
    """

    @override
    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the colors of a theme; unchanged colors keep the parsed rules."""
        if variables != self._variables:
            super().set_variables(variables)

    @override
    def reparse(self) -> None:
        self.parse()


class StyleTable(dict[str, Style]):
    """A cache of the current theme's styles by style words such as `added strong`.

    Drawing looks up a style for every span, so a look-up must cost no more than a dict access.

    Args:
        theme: the theme.
        has_color: whether colors are shown; without them, links are underlined.
    """

    def __init__(self, theme: Theme, *, has_color: bool = True) -> None:
        super().__init__()
        self._theme, self._has_color = theme, has_color

    def use(self, theme: Theme) -> None:
        """Switch to another theme."""
        self._theme = theme
        self.clear()

    def __missing__(self, words: str) -> Style:
        if len(self) >= MOST_STYLES:
            self.clear()
        style = self._theme.style(words)
        if not self._has_color and "link" in words.split():
            style += _UNDERLINED  # without color, links would look like the text around them
        self[words] = style
        return style


def load(own: Path | None = None) -> dict[str, Theme]:
    """Load all themes by name. A theme in the user's directory replaces the built-in theme with the same name.

    Raises:
        ConfigurationError: a file is invalid; the message names the file and the problem.
    """
    built_in = PACKAGED if PACKAGED.is_dir() else IN_CHECKOUT
    themes = [read(path) for directory in (built_in, own) if directory for path in sorted(directory.glob("*.toml"))]
    return {theme.name: theme for theme in themes}


def read(path: Path) -> Theme:
    """Read a theme from its file.

    Raises:
        ConfigurationError: the file cannot be read or is invalid; the message names the file and the problem.
    """
    theme = _theme_or_error(path)
    if isinstance(theme, SettingsError):
        raise ConfigurationError(str(theme))
    return theme


def theme_errors(settings: Path) -> tuple[SettingsError, ...]:
    """Return the errors in theme files next to a settings file, and of profiles whose theme does not exist."""
    own = [_theme_or_error(path) for path in sorted((settings.parent / "themes").glob("*.toml"))]
    names = {*load(), *(theme.name for theme in own if isinstance(theme, Theme))}
    unknown = [
        (("profiles", profile, "theme"), f"is not the name of a theme; available: {', '.join(sorted(names))}")
        for profile, table in read_all(settings).items()
        if table.get("theme", "ink") not in names
    ]
    return (*(error for error in own if isinstance(error, SettingsError)), *located(settings, unknown))


def _theme_or_error(path: Path) -> Theme | SettingsError:
    try:
        text = path.read_text("utf-8-sig")
        table = tomllib.loads(text)
    except OSError as error:
        return SettingsError(path, None, (), f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return SettingsError(path, None, (), "is not UTF-8 text: save it as UTF-8")
    except tomllib.TOMLDecodeError as error:
        return read_toml_error(path, error)
    given = table.get("colors")
    colors = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    for name in COLORS:
        key = ("colors", name)
        if name not in colors:
            return SettingsError(path, None, key, 'is missing: add it, such as "#e6e3da"')
        if not _is_color(colors[name]):
            line = line_of_key(lines_of_keys(text), key)
            return SettingsError(path, line, key, 'must be "#rrggbb" or one of the terminal\'s sixteen')
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
