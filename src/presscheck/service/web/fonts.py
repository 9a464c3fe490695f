"""Fonts of a site: a font stack for each font of the API, and the style sheet with the site's own font files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from starlette.responses import Response

from presscheck.service.web.cached_response import SitePage
from presscheck.service.web.links import resolve_url
from presscheck.service.web.published_site import PublishedSite

FONTS = "~fonts.css"
"""Path of the style sheet with font files; no section, space or page has this name."""
SANS, MONOSPACE = "system-ui, sans-serif", "ui-monospace, monospace"
_GROTESQUE = "'Helvetica Neue', 'Arial Nova', 'Nimbus Sans', Arial, sans-serif"
_HUMANIST = "Seravek, 'Gill Sans Nova', Ubuntu, Calibri, 'DejaVu Sans', sans-serif"
_GEOMETRIC = "Avenir, Montserrat, Corbel, 'URW Gothic', sans-serif"
_SLAB = "Rockwell, 'Rockwell Nova', 'DejaVu Serif', 'Sitka Small', serif"
_SERIF = "Charter, 'Bitstream Charter', 'Sitka Text', Cambria, Georgia, serif"
STACKS = {
    "ABCFavorit": _GEOMETRIC,
    "Roboto": _GROTESQUE,
    "RobotoSlab": _SLAB,
    "OpenSans": _HUMANIST,
    "SourceSansPro": _HUMANIST,
    "Lato": _HUMANIST,
    "Ubuntu": _HUMANIST,
    "Raleway": _GEOMETRIC,
    "Merriweather": _SERIF,
    "Overpass": _GROTESQUE,
    "NotoSans": _HUMANIST,
    "IBMPlexSerif": _SERIF,
    "Poppins": _GEOMETRIC,
    "FiraSans": _HUMANIST,
}
"""CSS font stacks by the name of a font in the API.

The service has none of these fonts. A stack names similar fonts that are installed on most systems.
"""
MOST_FACES, MOST_SOURCES = 36, 4
"""Maximum number of font files of one font, and of formats of a file."""
_FAMILY = re.compile(r"[\w -]{1,60}").fullmatch
_BIG_LETTER = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FORMATS = frozenset(("woff2", "woff", "truetype", "opentype"))


def font_stack(chosen: Any, default: str) -> str:
    """Return a value for `font-family`: the chosen font, followed by similar fonts.

    Args:
        chosen: a font as in the API: a name, or an object with its family.
        default: the stack to use if the choice is invalid, and after a font that is not in `STACKS`.
    """
    family = cast("dict[str, Any]", chosen).get("fontFamily") if isinstance(chosen, dict) else chosen
    if not isinstance(family, str) or not _FAMILY(family):
        return default
    names = dict.fromkeys((family, _BIG_LETTER.sub(" ", family)))
    return ", ".join((*(f"'{name}'" for name in names), STACKS.get(family, default)))


def font_faces(site: PublishedSite) -> str:
    """Return the `@font-face` rules of the fonts of a site and its spaces, or an empty string.

    Only font files of this service are used, so that no other server learns who reads the page.
    """
    every = (site.record.looks, *(site_space.looks or {} for site_space in site.site_spaces))
    styles = (cast("dict[str, Any]", looks["styling"]) for looks in every if isinstance(looks.get("styling"), dict))
    chosen = (style.get(name) for style in styles for name in ("font", "headingFont", "monospaceFont"))
    return "".join(dict.fromkeys(rule for font in chosen for rule in _rules(site, font)))


def font_sheet(site: PublishedSite, headers: dict[str, str]) -> Response | None:
    """Respond with the style sheet of the site's own fonts, or return None if the requested path is not `FONTS`."""
    return SitePage(font_faces(site), 200, headers, media_type="text/css") if site.path == FONTS else None


def _rules(site: PublishedSite, font: Any) -> Iterator[str]:
    values = cast("dict[str, Any]", font) if isinstance(font, dict) else {}
    family = values.get("fontFamily")
    if not isinstance(family, str) or not _FAMILY(family):
        return
    for face in _objects(values.get("fontFaces"))[:MOST_FACES]:
        weight = face.get("weight")
        sources = [*filter(None, (_source(site, source) for source in _objects(face.get("sources"))[:MOST_SOURCES]))]
        if isinstance(weight, int) and 1 <= weight <= 1000 and sources:
            files = ",".join(sources)
            yield f"@font-face{{font-family:'{family}';font-weight:{weight};font-display:swap;src:{files}}}\n"


def _source(site: PublishedSite, source: dict[str, Any]) -> str:
    url = source.get("url")
    link = resolve_url(site, url) if isinstance(url, str) else None
    address = link.url.removeprefix(site.context.origin) if link else ""
    if not address.startswith("/") or address.startswith("//") or re.search(r'["\\\n\r\f]', address):
        return ""
    kind = source.get("format")
    return f'url("{address}")' + (f' format("{kind}")' if kind in _FORMATS else "")


def _objects(given: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", given) if isinstance(given, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
