"""Links to the accounts of a site on social networks."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

_NETWORKS = {
    "twitter": ("X", "https://x.com/{}"),
    "instagram": ("Instagram", "https://www.instagram.com/{}"),
    "facebook": ("Facebook", "https://www.facebook.com/{}"),
    "linkedin": ("LinkedIn", "https://www.linkedin.com/{}"),
    "github": ("GitHub", "https://github.com/{}"),
    "discord": ("Discord", "https://discord.gg/{}"),
    "slack": ("Slack", "https://{}.slack.com/"),
    "youtube": ("YouTube", "https://www.youtube.com/@{}"),
    "tiktok": ("TikTok", "https://www.tiktok.com/@{}"),
    "reddit": ("Reddit", "https://www.reddit.com/{}"),
    "bluesky": ("Bluesky", "https://bsky.app/profile/{}"),
    "mastodon": ("Mastodon", "https://{}"),
    "threads": ("Threads", "https://www.threads.net/@{}"),
    "medium": ("Medium", "https://medium.com/@{}"),
}
"""The title and the URL of each network of the API, with `{}` in place of the account."""
_PREFIXES = {"linkedin": "company/", "reddit": "r/"}
"""Prefixes for account names without a slash."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")


class SocialLink(NamedTuple):
    """A link to an account."""

    title: str
    url: str


def social_links(accounts: Any, place: str) -> list[SocialLink]:
    """Return links to the accounts that are shown at a place.

    Accounts of unknown networks, or with unusual characters in their names, are left out.

    Args:
        accounts: the accounts as in the API.
        place: `header` or `footer`.
    """
    links: list[SocialLink] = []
    for account in cast("list[Any]", accounts) if isinstance(accounts, list) else []:
        values = cast("dict[str, Any]", account) if isinstance(account, dict) else {}
        display, handle = values.get("display"), values.get("handle")
        is_shown = isinstance(display, dict) and cast("dict[str, Any]", display).get(place) is True
        network = str(values.get("platform"))
        url = _address(network, handle) if isinstance(handle, str) and network in _NETWORKS else ""
        if is_shown and url:
            links.append(SocialLink(_NETWORKS[network][0], url))
    return links


def _address(network: str, handle: str) -> str:
    """Return the URL of an account, or an empty string if its name has unusual characters."""
    name = handle.strip().removeprefix("@").strip("/")
    if network == "mastodon":  # user@example.social
        user, _, host = name.partition("@")
        name = f"{host}/@{user}" if host else ""
        return f"https://{name}" if name and {*user, *host} <= _SAFE - {"/"} else ""
    if not name or not {*name} <= _SAFE:
        return ""
    name = name if "/" in name else _PREFIXES.get(network, "") + name
    return _NETWORKS[network][1].format(name)
