"""Levels and roles as choices, and what they allow in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.collections import Collection
from presscheck.api.spaces import Space
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.api.organizations import OrganizationMember
    from presscheck.engine.access import Access, Container
    from presscheck.tui.ui.screen import BaseScreen

WORDS = {
    "admin": "everything, also permissions",
    "create": "also create, move and delete spaces",
    "edit": "also edit pages and merge",
    "review": "also review change requests",
    "comment": "also comment",
    "read": "read only",
}
"""The levels, highest first, and what each allows beyond the next."""
DEFAULT_LEVELS = {
    "inherit": "as in the collection, or by role",
    "admin": "everybody is an admin",
    "create": "everybody can create content",
    "edit": "everybody can edit and merge",
    "review": "everybody can review",
    "comment": "everybody can comment",
    "read": "everybody can read",
    "none": "no access: only admins, and teams with a level",
}
"""The default levels, and what each means."""
GUEST = "guest"
"""The key of no role."""
TEAM_ROLES = {"member": "has the levels of the team", "owner": "also adds and removes members"}
"""The roles in a team, and what each allows."""
NO_ACCESS = "no access"
MOST_NAMES = 6
"""How many people or places a sentence names."""


async def choose_level(screen: BaseScreen, title: str, present: str = "", *, with_guest: bool = False) -> str | None:
    """Ask for a level; `GUEST` for none, if it can be chosen; None if nothing was chosen."""
    choices = [Choice(level, level, words) for level, words in WORDS.items()]
    choices += [Choice(GUEST, GUEST, "only what teams allow")] if with_guest else []
    return await choose(screen, title, choices, current=present)


async def choose_team_role(screen: BaseScreen, title: str, present: str = "member") -> str | None:
    """Ask for a role in a team; None if nothing was chosen."""
    choices = [Choice(role, role, words) for role, words in TEAM_ROLES.items()]
    return await choose(screen, title, choices, current=present)


def kind_of(place: Container) -> str:
    """What a place is: a collection, a space or a site."""
    return "collection" if isinstance(place, Collection) else "space" if isinstance(place, Space) else "site"


def named(names: Sequence[str]) -> str:
    """Some names as display text; of many the first ones and how many more there are."""
    shown = [sanitize(name) or "(no name)" for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def changes_in_words(
    before: Access, after: Access, people: Sequence[OrganizationMember], places: Sequence[Container]
) -> list[str]:
    """What people lose or get in places, a sentence for each kind of change.

    Args:
        before: what their levels follow from now.
        after: what they will follow from.
        people: the people; they are named, unless it is one person in several places.
        places: the places; they are named for one person in several of them.
    """
    names_places = len(people) == 1 < len(places)
    found: dict[tuple[str, str], list[str]] = {}
    for member in people:
        for place in places:
            one, other = before.level(member, place), after.level(member, place)
            levels = (one.level if one else "", other.level if other else "")
            if levels[0] != levels[1]:
                name = place.title if names_places else member.user.display_name
                found.setdefault(levels, []).append(name or member.id)
    sentences: list[str] = []
    for (old, new), names in found.items():
        unique = list(dict.fromkeys(names))
        what = count(len(unique), "place") if names_places else count(len(unique), "person", "people")
        sentences.append(f"{old or NO_ACCESS} → {new or NO_ACCESS}: {what} ({named(unique)}).")
    return sentences
