"""Players for embedded content, such as videos, found by the URL of the content.

A page contains only the URL of a player. The script of the site loads the player when the reader asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit


class Player(NamedTuple):
    """A player: its URL, and its origin, which the content security policy of the page allows."""

    origin: str
    url: str


class _Site(NamedTuple):
    """A site whose content has a player.

    Attributes:
        hosts: the host names of its pages, without `www.`.
        path: matches the paths of its content.
        origin: the origin of the player.
        player: returns the path and query of the player, given the match of `path` and the URL of the content. Returns
            None if the URL does not lead to content.
    """

    hosts: tuple[str, ...]
    path: re.Pattern[str]
    origin: str
    player: Callable[[re.Match[str], str], str | None]


def player_of(url: str) -> Player | None:
    """Return the player for a URL, or None if no known site has content there."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    for site in _SITES:
        match = site.path.match(parts.path) if host in site.hosts else None
        path = site.player(match, url) if match else None
        if path:
            return Player(site.origin, site.origin + path)
    return None


def _filled(template: str) -> Callable[[re.Match[str], str], str]:
    """Return a function for `_Site.player` that inserts the groups of the match into a template."""

    def player(match: re.Match[str], _url: str) -> str:
        return template.format(**match.groupdict())

    return player


def _youtube(match: re.Match[str], url: str) -> str | None:
    name = match["id"] or _parameter(url, "v")
    if not re.fullmatch(r"[\w-]{6,20}", name, re.ASCII):
        return None
    start = re.fullmatch(r"([0-9]{1,6})s?", _parameter(url, "t") or _parameter(url, "start"))
    return f"/embed/{name}{f'?start={start[1]}' if start else ''}"


def _vimeo(match: re.Match[str], url: str) -> str:
    key = match["key"] or _parameter(url, "h")
    is_key = re.fullmatch(r"[0-9a-f]{4,20}", key)
    return f"/video/{match['id']}?dnt=1{f'&h={key}' if is_key else ''}"


def _figma(_match: re.Match[str], url: str) -> str:
    return f"/embed?embed_host=share&url={quote(url, safe='', errors='replace')}"


def _parameter(url: str, name: str) -> str:
    return parse_qs(urlsplit(url).query).get(name, [""])[0]


_SITES = (
    _Site(
        ("youtube.com", "m.youtube.com", "youtube-nocookie.com"),
        re.compile(r"/(?:watch|(?:embed|shorts|live)/(?P<id>[\w-]{6,20}))(?:/|\Z)", re.ASCII),
        "https://www.youtube-nocookie.com",
        _youtube,
    ),
    _Site(
        ("youtu.be",),
        re.compile(r"/(?P<id>[\w-]{6,20})(?:/|\Z)", re.ASCII),
        "https://www.youtube-nocookie.com",
        _youtube,
    ),
    _Site(
        ("vimeo.com", "player.vimeo.com"),
        re.compile(r"/(?:video/)?(?P<id>\d{5,12})(?:/(?P<key>[0-9a-f]{4,20}))?(?:/|\Z)", re.ASCII),
        "https://player.vimeo.com",
        _vimeo,
    ),
    _Site(
        ("loom.com",),
        re.compile(r"/(?:share|embed)/(?P<id>[0-9a-f]{16,40})(?:/|\Z)", re.ASCII),
        "https://www.loom.com",
        _filled("/embed/{id}"),
    ),
    _Site(
        ("codepen.io",),
        re.compile(r"/(?P<user>[\w-]{1,60})/(?:pen|embed|full|details)/(?P<id>[\w-]{4,40})(?:/|\Z)", re.ASCII),
        "https://codepen.io",
        _filled("/{user}/embed/{id}?default-tab=result"),
    ),
    _Site(
        ("codesandbox.io",),
        re.compile(r"/(?:s|embed)/(?P<id>[\w-]{4,80})(?:/|\Z)", re.ASCII),
        "https://codesandbox.io",
        _filled("/embed/{id}"),
    ),
    _Site(
        ("figma.com",),
        re.compile(r"/(?:file|design|board|proto|slides)/[\w-]{4,60}(?:/|\Z)", re.ASCII),
        "https://www.figma.com",
        _figma,
    ),
    _Site(
        ("open.spotify.com",),
        re.compile(r"/(?:embed/)?(?P<kind>track|album|playlist|episode|show)/(?P<id>\w{10,40})(?:/|\Z)", re.ASCII),
        "https://open.spotify.com",
        _filled("/embed/{kind}/{id}"),
    ),
)
