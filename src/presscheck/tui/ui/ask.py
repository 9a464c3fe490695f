"""Dialogs that screens open to choose items, to ask for a text, and to confirm an action.

In all functions, `screen` is the screen below the dialog, and titles, lines and labels are display text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import Unpack

from presscheck.text.styled_text import Line
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog, PromptOptions

if TYPE_CHECKING:
    from presscheck.store.drafts import DraftSlot
    from presscheck.tui.ui.screen import BaseScreen


async def choose(
    screen: BaseScreen,
    title: str,
    choices: Sequence[Choice],
    *,
    ranked: bool = False,
    current: str = "",
    empty_text: str = "No match",
) -> str | None:
    """Ask the user to choose an item, and return its key, or None if the dialog was closed.

    Args:
        ranked: whether the best match of the typed text comes first; otherwise the order of `choices` stays.
        current: the key of the item under the cursor when the dialog opens.
        empty_text: the message if nothing matches.
    """
    picker = Picker(title, choices, ranked=ranked, current=current, empty_text=lambda _: empty_text)
    chosen = await screen.ask(picker)
    return chosen[0] if chosen else None


async def choose_several(
    screen: BaseScreen, title: str, choices: Sequence[Choice], *, chosen: Iterable[str] = (), ranked: bool = True
) -> tuple[str, ...] | None:
    """Ask the user to mark items, and return their keys, or None if the dialog was closed.

    Args:
        chosen: the keys of the items that are marked when the dialog opens.
        ranked: whether the best match of the typed text comes first; otherwise the order of `choices` stays.
    """
    return await screen.ask(Picker(title, choices, multiple=True, chosen=chosen, ranked=ranked))


async def prompt(
    screen: BaseScreen, title: str, text: str | DraftSlot = "", **options: Unpack[PromptOptions]
) -> str | None:
    """Ask the user for a line of text, and return it, or None if the dialog was closed.

    Args:
        text: the initial text, or a draft that stores the typed text until the caller discards it.
        options: more arguments of `PromptDialog`.
    """
    return await screen.ask(PromptDialog(title, text, **options))


async def change_text(
    screen: BaseScreen,
    title: str,
    draft: DraftSlot,
    write: Callable[[str], Awaitable[object]],
    **options: Unpack[PromptOptions],
) -> None:
    """Ask the user for a text, and write it unless it is the initial text of the draft. Then discard the draft.

    The draft stays if the dialog was closed, and if the text was not written.

    Args:
        draft: stores the typed text.
        write: writes the text. If it raises an error or returns False, the text was not written.
        options: more arguments of `PromptDialog`.
    """
    text = await prompt(screen, title, draft, **options)
    if text is not None and (text == draft.initial or await write(text) is not False):
        draft.discard()


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
        lines: the consequences.
        type_to_confirm: a text that the user must type before confirming.
        details: more lines, such as a diff, that a key shows instead of `lines`.
    """
    dialog = ConfirmDialog(title, lines, label, type_to_confirm=type_to_confirm, details=details)
    return bool(await screen.ask(dialog))


class Checked(NamedTuple):
    """The result of a check before an action: the consequences, and a text that the user must type to confirm."""

    lines: Sequence[Line]
    type_to_confirm: str | None = None


async def confirm_checked(
    screen: BaseScreen, title: str, lines: Sequence[Line], label: str, check: Callable[[], Awaitable[Checked | None]]
) -> bool:
    """Ask the user to confirm an action that is checked while the dialog is open.

    The action cannot be confirmed before the check is finished.

    Args:
        lines: the text during the check.
        check: returns the result of the check, or None to close the dialog without confirming.
    """
    dialog = ConfirmDialog(title, lines, label, is_ready=False)

    async def show() -> None:
        checked = None
        try:
            checked = await check()
        finally:
            if checked is None:  # also if the check failed: the screen shows the error
                dialog.close()
            else:
                dialog.make_ready(checked.lines, type_to_confirm=checked.type_to_confirm)

    screen.run(show, group="check before confirming", exclusive=True)
    return bool(await screen.ask(dialog))
