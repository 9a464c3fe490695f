"""The appearance of a site, read from its customization; missing or invalid values get defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from presscheck.service.sites.customization import LOOKS
from presscheck.service.web.cached_response import THEMES
from presscheck.service.web.fonts import FONTS, MONOSPACE, SANS, font_faces, font_stack
from presscheck.service.web.links import resolve_reference, resolve_url
from presscheck.service.web.navigation import emoji_of
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.social_accounts import SocialLink, social_links

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})").fullmatch
COLOURS = {
    "primary": "primaryColor",
    "info": "infoColor",
    "success": "successColor",
    "warning": "warningColor",
    "danger": "dangerColor",
}
"""Fields of the API by the CSS variables for their colors."""
GROUNDS = {"light": "#fffdfa", "dark": "#191714"}
"""The background of pages by theme, as in the style sheet."""
READABLE = 4.5
"""Minimum contrast of text according to WCAG AA."""
HEADERS = ("bold", "contrast", "custom", "none")
"""Header presets with a style of their own; all others look like `default`."""
CHOICES = {
    "look": ("theme", ("clean", "muted", "bold", "gradient")),
    "corners": ("corners", ("rounded", "straight", "circular")),
    "depth": ("depth", ("subtle", "flat")),
    "links": ("links", ("default", "accent")),
    "side": ("sidebar.background", ("default", "filled")),
    "list": ("sidebar.list", ("default", "pill", "line")),
    "search": ("search", ("subtle", "prominent")),
}
"""Attributes of the page for the style sheet, each with its API field and its values.

The first value is the default; the attribute is left out for it.
"""


class Picture(NamedTuple):
    """Image URLs for the light and the dark theme."""

    light: str
    dark: str


class Choice(NamedTuple):
    """A link of the header or the footer, with its nested links."""

    title: str
    url: str
    style: str = "link"
    links: tuple[Choice, ...] = ()


class Group(NamedTuple):
    """A group of footer links with a title."""

    title: str
    links: tuple[Choice, ...]


class Notice(NamedTuple):
    """The announcement on every page."""

    message: str
    style: str
    link: Choice | None


class Appearance:
    """The customization of a site in the form that templates need.

    Attributes:
        language: the language of the page, for texts that the customization has in several languages.
    """

    def __init__(self, site: PublishedSite, chosen_theme: str | None = None) -> None:
        self._site = site
        self._looks = site.looks
        self.theme = self._theme(chosen_theme)
        self.may_toggle = self._at("themes.toggeable") is True
        self.logo = self._picture(self._at("header.logo"))
        self.favicon = self._picture(self._at("favicon.icon"))
        self.copyright = self._text("footer.copyright")
        self.footer_logo = self._picture(self._at("footer.logo"))
        self.privacy = self._outside("privacyPolicy.url")
        self.preview = site.absolute(self._outside("socialPreview.url"))
        self.is_new_tab = self._at("externalLinks.target") == "blank"
        self.has_pagination = self._at("pagination.enabled") is not False
        self.language = self._text("internationalization.locale") or "en"

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of the page for the style sheet."""
        chosen = {name: self._text(f"styling.{key}") for name, (key, _) in CHOICES.items()}
        valid = {name: value for name, value in chosen.items() if value in CHOICES[name][1][1:]}
        header = self._text("header.preset")
        return valid | {"theme": self.theme} | ({"header": header} if header in HEADERS else {})

    @cached_property
    def style(self) -> str:
        """Colors and fonts as a CSS rule. All values are validated, so the rule needs no escaping in HTML."""
        declarations = [
            declaration
            for name, key in COLOURS.items()
            for shade in GROUNDS
            for declaration in self._colours(name, f"styling.{key}.{shade}", shade)
        ]
        for shade in ("light", "dark"):
            tint = self._at(f"styling.tint.color.{shade}")
            if isinstance(tint, str) and _COLOUR(tint):
                declarations.append(f"--tint-{shade}:{tint}")
        declarations += self._header_colours()
        declarations.append(f"--font:{font_stack(self._at('styling.font'), SANS)}")
        if heading_font := self._at("styling.headingFont"):
            declarations.append(f"--heading-font:{font_stack(heading_font, 'var(--font)')}")
        declarations.append(f"--monospace:{font_stack(self._at('styling.monospaceFont'), MONOSPACE)}")
        return f":root{{{';'.join(declarations)}}}"

    @property
    def font_sheet(self) -> str:
        """The URL of the style sheet with the site's own fonts, or an empty string if there are none."""
        return f"{self._site.base}{FONTS}" if font_faces(self._site) else ""

    @property
    def title(self) -> str:
        """The title of the site."""
        return self._localized(self._looks, "localizedTitle") or self._site.title

    @property
    def home(self) -> str:
        """The URL that the title and the logo lead to."""
        address = resolve_reference(self._site, self._at("header.primaryLink"))
        return address.url if address else self._site.home

    @property
    def header_accounts(self) -> list[SocialLink]:
        """The social accounts of the header."""
        return social_links(self._looks.get("socialAccounts"), "header")

    @property
    def footer_accounts(self) -> list[SocialLink]:
        """The social accounts of the footer."""
        return social_links(self._looks.get("socialAccounts"), "footer")

    @property
    def emoji_icon(self) -> str:
        """The emoji icon as a data URL, or an empty string if the site has no emoji icon."""
        emoji = emoji_of(self._text("favicon.emoji"))
        if not emoji:
            return ""
        text = f'<text y=".9em" font-size="90">{escape(emoji)}</text>'
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{text}</svg>'
        return f"data:image/svg+xml,{quote(drawing)}"

    @property
    def notice(self) -> Notice | None:
        """The announcement, or None if it is disabled."""
        message = self._localized(self._at("announcement"), "localizedMessage") or self._text("announcement.message")
        if self._at("announcement.enabled") is not True or not message:
            return None
        style = self._text("announcement.style")
        link = next(self._links([self._at("announcement.link")]), None)
        return Notice(message, style if style in COLOURS else "info", link)

    @property
    def header_links(self) -> tuple[Choice, ...]:
        """The links of the header."""
        return tuple(self._links(self._at("header.links"), may_be_empty=True))

    @property
    def footer_groups(self) -> tuple[Group, ...]:
        """The links of the footer, by group."""
        return tuple(
            Group(
                self._localized(group, "localizedTitle") or str(group.get("title") or ""),
                tuple(self._links(group.get("links"))),
            )
            for group in _objects(self._at("footer.groups"))
        )

    def _theme(self, chosen: str | None) -> str:
        """Return `light`, `dark`, or `auto`, which follows the system of the reader.

        Readers who may switch the theme get the chosen theme. Without a choice, they get `dark` if it is the default of
        the site, or else `auto`. Readers who may not switch get the default of the site.
        """
        usual = self._at("themes.default")
        if self._at("themes.toggeable") is True:
            if chosen in THEMES:
                return str(chosen)
            return "dark" if usual == "dark" else "auto"
        return usual if usual in ("light", "dark") else "auto"

    def _links(self, given: Any, *, may_be_empty: bool = False) -> Iterator[Choice]:
        for link in _objects(given):
            if not self._site.holds(link.get("condition") if isinstance(link.get("condition"), str) else None):
                continue
            inner = tuple(self._links(link.get("links")))
            address = resolve_reference(self._site, link.get("to"))
            title = self._localized(link, "localizedTitle") or link.get("title") or (address.title if address else "")
            style = str(link.get("style") or "link")
            if address or (may_be_empty and inner):
                yield Choice(str(title), address.url if address else "", style, inner)

    def _localized(self, given: Any, name: str) -> str:
        """Return a text of the customization in the language of the page, or an empty string."""
        texts = _value(given, name)
        if not isinstance(texts, dict):
            return ""
        by_language = {str(key).lower(): text for key, text in cast("dict[str, Any]", texts).items()}
        language = self.language.replace("_", "-").lower()
        text = by_language.get(language) or by_language.get(language.partition("-")[0])
        return text if isinstance(text, str) else ""

    def _at(self, path: str) -> Any:
        return _value(self._looks, path)

    def _text(self, path: str) -> str:
        value = self._at(path)
        return value if isinstance(value, str) else ""

    def _outside(self, path: str) -> str:
        url = resolve_url(self._site, self._text(path)) if self._text(path) else None
        return url.url if url else ""

    def _picture(self, value: Any) -> Picture | None:
        urls = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        light, dark = (resolve_url(self._site, str(urls.get(shade) or "")) for shade in ("light", "dark"))
        first, second = light or dark, dark or light
        return Picture(first.url, second.url) if first and second else None

    def _header_colours(self) -> Iterator[str]:
        """Yield the CSS declarations of a custom header.

        If the color of links is missing, it is black or white, whichever has more contrast.
        """
        for shade in ("light", "dark") if self._text("header.preset") == "custom" else ():
            ground, link = self._text(f"header.backgroundColor.{shade}"), self._text(f"header.linkColor.{shade}")
            if _COLOUR(ground):
                yield f"--header-{shade}:{ground}"
                link = link if _COLOUR(link) else _readable_on(ground)
            if _COLOUR(link):
                yield f"--header-link-{shade}:{link}"

    def _colours(self, name: str, path: str, shade: str) -> Iterator[str]:
        """Yield the CSS declarations of a color, or none if the color is invalid or the default.

        The color is changed until it has enough contrast for text. Only buttons and headers are filled with the primary
        color as chosen.
        """
        colour = self._at(path)
        if not isinstance(colour, str) or not _COLOUR(colour) or colour == _value(LOOKS, path):
            return
        readable = _readable_in(shade, colour)
        yield f"--{name}-{shade}:{readable}"
        if name == "primary" and readable != colour:
            yield f"--fill-{shade}:{colour};--on-fill-{shade}:{_readable_on(colour)}"


def _readable_on(colour: str) -> str:
    """Return black or white, whichever has more contrast with a color according to WCAG."""
    return "#ffffff" if contrast(colour, "#ffffff") >= contrast(colour, "#000000") else "#000000"


def _readable_in(shade: str, colour: str) -> str:
    """Darken or lighten a color until it has enough contrast for text on the page."""
    limit = 0 if shade == "light" else 255
    mixed = colour
    for part in range(1, 20):
        if contrast(mixed, GROUNDS[shade]) >= READABLE:
            break
        channels = (round(channel + (limit - channel) * part / 20) for channel in _channels(colour))
        mixed = "#" + "".join(f"{channel:02x}" for channel in channels)
    return mixed


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors according to WCAG, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [channel / 255 for channel in _channels(colour)]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> list[int]:
    """Return red, green and blue of a color, from 0 to 255."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]


def _value(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _objects(given: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", given) if isinstance(given, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
