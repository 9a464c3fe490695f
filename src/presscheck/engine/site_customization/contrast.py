"""The colors of a site's pages, and the WCAG contrast of text with each background.

Contrast ranges from 1 : 1 to 21 : 1. WCAG 2 requires 4.5 for text on level AA and 7 on level AAA. The background of a
published page is nearly white or nearly black, mixed with a small share of the tint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from presscheck.engine.site_config.document import Place
from presscheck.engine.site_customization.settings import Document, Setting, value_at, with_value

Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")
AA, AAA = 4.5, 7.0
"""Minimum contrast of text on the levels AA and AAA of WCAG 2."""
_GROUNDS: Mapping[Mode, str] = {"light": "#fffdfa", "dark": "#191714"}
_TEXTS: Mapping[Mode, str] = {"light": "#24211d", "dark": "#e6e1d8"}
_QUIETS: Mapping[Mode, str] = {"light": "#69635a", "dark": "#a49d91"}
_RAISED: Mapping[Mode, str] = {"light": "#f6f1e9", "dark": "#221f1b"}
TINT_SHARE = 0.06
"""Share of the tint in the background of a page."""
_is_color = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}").fullmatch


class Contrast(NamedTuple):
    """The contrast of a text with its background."""

    ratio: float

    @property
    def level(self) -> str:
        """The highest level of WCAG 2 that the contrast reaches: `AAA`, `AA`, or `fails`."""
        return "AAA" if self.ratio >= AAA else "AA" if self.ratio >= AA else "fails"

    @property
    def text(self) -> str:
        """The ratio with one decimal, rounded down so that a failing contrast never looks sufficient."""
        return f"{int(self.ratio * 10) / 10:.1f}"


class Palette(NamedTuple):
    """The colors of a page in one theme.

    Attributes:
        ground: the background of the page.
        raised: the background of parts that stand out from the page.
        text: text.
        quiet: less important text.
        primary: links and buttons.
        header: the background of the header.
        header_text: text in the header.
        header_link: links in the header.
        sidebar: the background of the list of pages.
        hints: the colors of hints, by style.
    """

    ground: str
    raised: str
    text: str
    quiet: str
    primary: str
    header: str
    header_text: str
    header_link: str
    sidebar: str
    hints: Mapping[str, str]


def normalized(color: Any) -> str | None:
    """Normalize a color to `#rrggbb`. Return None for an invalid color."""
    if not isinstance(color, str) or not _is_color(color):
        return None
    digits = color[1:].lower()
    return f"#{digits}" if len(digits) == 6 else "#" + "".join(digit * 2 for digit in digits)


def luminance(color: str) -> float:
    """Return the relative luminance of a color `#rrggbb`: 0 for black, 1 for white.

    Source: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    """
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> Contrast:
    """Return the contrast of two colors `#rrggbb`, as defined by WCAG 2."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return Contrast((lighter + 0.05) / (darker + 0.05))


def mixed(color: str, other: str, share: float) -> str:
    """Mix a share, from 0 to 1, of another color into a color; both `#rrggbb`."""
    pairs = [(int(color[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(first + (second - first) * share):02x}" for first, second in pairs)


def palette(document: Document, mode: Mode) -> Palette:
    """Return the colors of a site's pages; a missing or invalid color is replaced by the default for its role."""

    def at(*path: str) -> str | None:
        return normalized(value_at(document, (*path, mode)))

    tint = at("styling", "tint", "color")
    ground = mixed(_GROUNDS[mode], tint, TINT_SHARE) if tint else _GROUNDS[mode]
    text, raised = _TEXTS[mode], _RAISED[mode]
    primary = at("styling", "primaryColor") or text
    preset = value_at(document, ("header", "preset"))
    theme = value_at(document, ("styling", "theme"))
    header, header_text, header_link = ground, text, text
    if preset == "custom":
        header = at("header", "backgroundColor") or ground
        header_text = header_link = at("header", "linkColor") or readable_on(header)
    elif preset == "contrast":
        header, header_text, header_link = text, ground, ground
    elif preset == "bold" or theme == "bold":
        header, header_text, header_link = primary, ground, ground
    elif theme == "gradient":
        header = mixed(ground, primary, 0.14)
    is_filled = value_at(document, ("styling", "sidebar", "background")) == "filled" or theme == "muted"
    hints = {name: at("styling", f"{name}Color") or text for name in ("info", "success", "warning", "danger")}
    return Palette(
        ground,
        raised,
        text,
        _QUIETS[mode],
        primary,
        header,
        header_text,
        header_link,
        raised if is_filled else ground,
        hints,
    )


def readable_on(color: str) -> str:
    """Return black or white, whichever has more contrast with a color."""
    return max(("#ffffff", "#000000"), key=lambda text: contrast(text, color).ratio)


def contrast_of(document: Document, setting: Setting, mode: Mode) -> Contrast | None:
    """Return the contrast of a color setting, or None if the color is not set.

    Most colors are compared with the background of the page, which is behind the links and is the text color of the
    buttons. The tint changes the background, so the background is compared with the text. The background of the header
    and the links in the header are compared with each other.
    """
    path: Place = (*setting.path, "color") if setting.name == "styling.tint" else setting.path
    judged = _judged(document, (*path, mode), mode)
    return judged[0] if judged else None


def contrast_words(color: str, document: Document, place: Place) -> str:
    """Describe the contrast of a color at a place of a document, for example `contrast 5.2 : 1 with the header: AA`.

    Args:
        color: the color; if it is invalid, the result is empty.
        document: the customization.
        place: the place of the color, ending with the theme, light or dark.
    """
    mode: Mode = "dark" if place[-1] == "dark" else "light"
    judged = _judged(with_value(document, place, color), place, mode) if normalized(color) else None
    return f"contrast {judged[0].text} : 1 {judged[1]}: {judged[0].level}" if judged else ""


def _judged(document: Document, place: Place, mode: Mode) -> tuple[Contrast, str] | None:
    """Return the contrast of the color at a place, and its counterpart in words, such as `with the header`.

    Returns None if there is no color at the place.
    """
    color = normalized(value_at(document, place))
    if color is None:
        return None
    page = palette(document, mode)
    if place[:2] == ("styling", "tint"):
        return contrast(page.text, page.ground), f"of text with the {mode} page"
    if place[:2] == ("header", "backgroundColor"):
        link = normalized(value_at(document, ("header", "linkColor", mode)))
        return contrast(color, link or readable_on(color)), "with the links in it" if link else "with the text on it"
    if place[:2] == ("header", "linkColor"):
        ground = normalized(value_at(document, ("header", "backgroundColor", mode)))
        return contrast(color, ground or page.ground), "with the header" if ground else f"with the {mode} page"
    return contrast(color, page.ground), f"with the {mode} page"
