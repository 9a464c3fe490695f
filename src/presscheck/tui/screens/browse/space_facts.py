"""The facts of a space: signs for lock, visibility and Git sync in its row, and the same facts in words.

Rows of collections, spaces and sites start with a sign of their kind; a space with an emoji starts with the emoji. The
row of a site ends with its state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.emoji import emoji_character
from presscheck.tui.ui.signs import legend

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.api.spaces import Space


class Sign(NamedTuple):
    """A sign that is one cell wide, and its meaning."""

    sign: str
    words: str


SPACE = Sign("▢", "a space")
ICON = Sign("▣", "has an icon of its own")
LOCKED = Sign("■", "locked")
VISIBILITIES = {
    "public": Sign("●", "public"),
    "unlisted": Sign("○", "unlisted"),
    "share-link": Sign("◌", "share link"),
    "visitor-auth": Sign("◍", "visitors sign in"),
    "in-collection": Sign("◦", "published in a collection"),
}
READERS = {"unlisted": "unlisted", "share-link": "share link", "visitor-auth": "sign in"}
"""Short descriptions of who can read a live site that is not public."""
OTHER_VISIBILITY = Sign("◇", "another visibility")
GIT_SYNC = Sign("⇄", "Git sync")
COLLECTION = Sign("▤", "a collection")
SITE = Sign("⌂", "a site")
LEGEND = (*legend("▤▢▣■●○◌◍◦◇⇄⌂★•"), ("12", "open change requests of a space"))
"""The signs and their meanings, for the list of keys."""


def signs(space: Space) -> Line:
    """Return the signs of a space and a trailing blank; empty if there are none."""
    text = "".join(fact.sign for fact in _facts(space))
    return (Span(f"{text} ", "quiet"),) if text else ()


def words(space: Space) -> str:
    """Return the facts of a space in words: `locked · public · 3 open change requests`."""
    facts = [fact.words for fact in _facts(space)]
    if space.visibility not in ("private", *VISIBILITIES):
        facts = [sanitize(space.visibility) if fact == OTHER_VISIBILITY.words else fact for fact in facts]
    if space.change_requests_open:
        facts.append(count(space.change_requests_open, "open change request"))
    return " · ".join(facts)


def site_state(site: Site) -> Line:
    """Return the state of a site and a trailing blank: draft, live, or who can read a live site that is not public."""
    if not site.published:
        return (Span("○ draft ", "quiet"),)
    return (Span(f"● {READERS.get(site.visibility, 'live')} ", "added"),)


def site_words(site: Site) -> str:
    """Return the facts of a site in words: `live · public`."""
    visibility = VISIBILITIES.get(site.visibility)
    words = visibility.words if visibility else sanitize(site.visibility)
    return " · ".join(("live" if site.published else "draft", words))


def emblem(space: Space) -> Line:
    """Return the emoji of a space and a blank. A space without an emoji has a sign, since terminals show no icons."""
    character = emoji_character(space.emoji)
    if character:
        return (Span(f"{character} "),)
    kind = ICON if space.urls.icon else SPACE
    return (Span(f"{kind.sign} ", "quiet"),)


def _facts(space: Space) -> Iterator[Sign]:
    if space.edit_mode == "locked":
        yield LOCKED
    if space.visibility != "private":
        yield VISIBILITIES.get(space.visibility, OTHER_VISIBILITY)
    if space.git_sync is not None:
        yield GIT_SYNC
