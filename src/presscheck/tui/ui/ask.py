"""Dialogs that screens open to choose an item and to confirm an action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen


async def choose(
    screen: BaseScreen, title: str, choices: Sequence[Choice], *, ranked: bool = False, current: str = ""
) -> str | None:
    """Ask the user to choose an item, and return its key, or None if the dialog was closed.

    Args:
        screen: the screen below the dialog.
        title: the question, as display text.
        choices: the items.
        ranked: whether the best match of the typed text comes first; otherwise the order of `choices` stays.
        current: the key of the item under the cursor when the dialog opens.
    """
    chosen = await screen.ask(Picker(title, choices, ranked=ranked, current=current))
    return chosen[0] if chosen else None


async def confirm(
    screen: BaseScreen,
    title: str,
    lines: Sequence[Line],
    label: str,
    *,
    type_to_confirm: str | None = None,
    details: Sequence[Line] = (),
) -> bool:
    """Ask the user to confirm an action, and return True only if the user confirmed it.

    Args:
        screen: the screen below the dialog.
        title: the action, as display text.
        lines: the consequences, as display text.
        label: the label of the button that confirms.
        type_to_confirm: a text that the user must type before confirming.
        details: more lines, such as a diff, that a key shows instead of `lines`.
    """
    dialog = ConfirmDialog(title, lines, label, type_to_confirm=type_to_confirm, details=details)
    return bool(await screen.ask(dialog))
