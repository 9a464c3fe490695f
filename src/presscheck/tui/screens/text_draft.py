"""The draft of a text as the editor uses it, that of a page or of another document; and the question to discard it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.store.open_texts import DraftSlot
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen_context import ScreenContext


class Saved(NamedTuple):
    """What became of a text that was to be saved."""

    message: str
    """What to tell the user; empty if it was saved."""
    text: str
    """The draft: the text, merged with edits of others."""
    is_sent: bool = False


class TextDraft(Protocol):
    """A text that is edited, and kept until it is saved."""

    path: dict[str, Any]
    """`space_id` and `change_request_id` of a page; empty for another document."""
    page_id: str
    """The page; empty for another document."""
    is_kept: bool
    """Whether there is a draft."""
    age: str
    """How old the draft was when it was opened, such as `, saved 2 h ago`; empty if that is not known."""
    noun: str
    """What is edited, such as `page`."""
    saved_message: str
    """What is shown once it is saved."""

    @property
    def title(self) -> str:
        """The title of what is edited."""
        ...

    @property
    def slot(self) -> DraftSlot:
        """Where the draft is stored."""
        ...

    @property
    def text(self) -> str:
        """The draft as it is stored; empty without one."""
        ...

    def keep(self, text: str) -> None:
        """Store the draft; the text that it was edited from is no draft."""
        ...

    def discard(self) -> str:
        """Remove the draft; returns the text as it is at the service."""
        ...

    def difference(self) -> list[Line]:
        """What the draft changes."""
        ...

    def summary(self) -> list[Line]:
        """How much is lost if the draft is discarded."""
        ...

    async def save(self, screen: ScreenContext, text: str) -> Saved:
        """Ask, and send the text; what is kept from then on was edited from what was sent.

        Raises:
            PresscheckError: it cannot be read or written; the text is a draft.
        """
        ...


async def confirm_discard(screen: ScreenContext, draft: TextDraft) -> bool:
    """Ask whether to discard a draft; the question shows what is lost."""
    title = f"Discard your draft of {sanitize(draft.title) or f'this {draft.noun}'}?"
    dialog = ConfirmDialog(title, draft.summary(), "Discard", details=draft.difference())
    return bool(await screen.ask(dialog))
