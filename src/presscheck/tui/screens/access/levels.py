"""Levels and roles: choices, descriptions, and sentences about the effects of a change."""

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
"""Levels, highest first, with the permissions that each adds to the next lower level."""
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
"""Default levels with their meaning."""
GUEST = "guest"
"""The key of the choice for no role."""
TEAM_ROLES = {"member": "has the levels of the team", "owner": "also adds and removes members"}
"""Roles in a team with their meaning."""
NO_ACCESS = "no access"
MOST_NAMES = 6
"""Maximum number of names in a sentence."""


async def choose_level(screen: BaseScreen, title: str, present: str = "", *, with_guest: bool = False) -> str | None:
    """Ask for a level.

    Args:
        screen: the screen that asks.
        title: the title of the picker.
        present: the current level.
        with_guest: whether to offer a choice for no role.

    Returns:
        The level, `GUEST` for no role, or None if the user canceled.
    """
    choices = [Choice(level, level, words) for level, words in WORDS.items()]
    choices += [Choice(GUEST, GUEST, "only what teams allow")] if with_guest else []
    return await choose(screen, title, choices, current=present)


async def choose_team_role(screen: BaseScreen, title: str, present: str = "member") -> str | None:
    """Ask for a role in a team. Returns None if the user canceled."""
    choices = [Choice(role, role, words) for role, words in TEAM_ROLES.items()]
    return await choose(screen, title, choices, current=present)


def kind_of(place: Container) -> str:
    """Return the kind of a place: collection, space or site."""
    return "collection" if isinstance(place, Collection) else "space" if isinstance(place, Space) else "site"


def named(names: Sequence[str]) -> str:
    """Join names as display text: the first `MOST_NAMES`, then the number of further names."""
    shown = [sanitize(name) or "(no name)" for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def changes_in_words(
    before: Access, after: Access, people: Sequence[OrganizationMember], places: Sequence[Container]
) -> list[str]:
    """Return a sentence for each change from one level to another, with the people or places that it affects.

    Args:
        before: the permissions now.
        after: the permissions after the change.
        people: the affected people. The sentences name them.
        places: the affected places. For a single person and several places, the sentences name the places instead.
    """
    names_places = len(people) == 1 < len(places)
    names_by_change: dict[tuple[str, str], list[str]] = {}
    for member in people:
        for place in places:
            now, then = before.level(member, place), after.level(member, place)
            levels = (now.level if now else "", then.level if then else "")
            if levels[0] != levels[1]:
                name = place.title if names_places else member.user.display_name
                names_by_change.setdefault(levels, []).append(name or member.id)
    sentences: list[str] = []
    for (old, new), names in names_by_change.items():
        unique = list(dict.fromkeys(names))
        what = count(len(unique), "place") if names_places else count(len(unique), "person", "people")
        sentences.append(f"{old or NO_ACCESS} → {new or NO_ACCESS}: {what} ({named(unique)}).")
    return sentences
