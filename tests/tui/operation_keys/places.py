"""Steps to the places where rows start, from any screen without a dialog, and steps in dialogs."""

from __future__ import annotations

from typing import Any

from tests.tui.operation_keys.driver import Holds, Shows, Step, Steps, Text
from textual.screen import ModalScreen
from textual.widgets import Input

from presscheck.tui.screens.form_dialog import FormDialog

INBOX: Steps = ("g i", Shows("Needs me"))
SITES: Steps = ("g p", Shows("› Sites ›"))


def sent() -> Step:
    """Wait until the outbox is empty."""
    return Holds(lambda pilot: not pilot.app.engine.waiting())


def closed() -> Step:
    """Wait until no dialog is open."""
    return Holds(lambda pilot: not isinstance(pilot.app.screen, ModalScreen))


def form() -> Step:
    """Wait until a form is open and has the focus."""
    return Holds(lambda pilot: isinstance(pilot.app.screen, FormDialog) and pilot.app.focused is not None)


def yes(question: str) -> tuple[Step | str, ...]:
    """Confirm a question, once it accepts an answer."""
    return (Shows(question), Shows("y  n"), "y")


def typed_title(question: str, title: str) -> tuple[Step | str, ...]:
    """Confirm a question by typing a title."""
    is_asked = Holds(lambda pilot: isinstance(pilot.app.focused, Input))
    return (Shows(question), is_asked, Text(title), "enter")


def administration(family: str) -> Steps:
    """Open a family of administration by its title, with the focus on its table."""

    def is_loaded(pilot: Any) -> bool:
        table = getattr(pilot.app.screen, "table", None)
        return table is not None and table.family.title == family and table.loaded.value is not None

    return (":", Shows("Commands"), Text(f"{family} (a"), "enter", Holds(is_loaded), "h enter")


def space(title: str) -> Steps:
    """Open a space by its title."""
    return ("g o", Shows("Runbook"), ":", Shows("Commands"), Text(f"space {title}"), "enter", Shows(f"› {title}"))


def change_request(subject: str) -> Steps:
    """Open the review of a change request by its subject."""
    return (*INBOX, ":", Shows("Commands"), Text(f"cr {subject}"), "enter", Shows("Can merge? "))
