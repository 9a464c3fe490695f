"""The question before a draft is discarded: it shows what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.tui.screens.screen_context import ScreenContext
    from presscheck.tui.screens.text_draft import TextDraft


async def confirm_discard(screen: ScreenContext, draft: TextDraft) -> bool:
    """Ask whether to discard a draft; the question shows what is lost."""
    title = f"Discard your draft of {sanitize(draft.title) or f'this {draft.noun}'}?"
    dialog = ConfirmDialog(title, draft.summary(), "Discard", screen.style_for, details=draft.difference())
    return bool(await screen.ask(dialog))
