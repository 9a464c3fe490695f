"""How to get by keys to where rows start, from any screen without a dialog."""

from __future__ import annotations

from typing import Any

from tests.tui.operation_keys.driver import Holds, Shows, Steps, Text

INBOX: Steps = ("g i", Shows("Needs me"))


def administration(family: str) -> Steps:
    """Administration at a family, by its title, with the focus on its table."""

    def is_loaded(pilot: Any) -> bool:
        table = getattr(pilot.app.screen, "table", None)
        return table is not None and table.family.title == family and table._is_loaded

    return (":", Shows("Commands"), Text(f"{family} (administration)"), "enter", Holds(is_loaded), "h enter")


def space(title: str) -> Steps:
    """A space in the tree, by its title."""
    return (":", Shows("Commands"), Text(f"space {title}"), "enter", Shows(f"› {title}"))


def change_request(number: int) -> Steps:
    """The review of a change request, by its number."""
    return (*INBOX, ":", Shows("Commands"), Text(f"cr {number}"), "enter", Shows("Can merge? "))
