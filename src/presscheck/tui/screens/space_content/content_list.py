"""The base of the three lists of a space's content, which can copy and open addresses and texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from typing_extensions import override

from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.list import NO_MATCH, Column, List
from presscheck.tui.ui.loaded import message_for
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.screens.space_content.session import SpaceContent

T = TypeVar("T")


class ContentList(List[T]):
    """A list of links, files or reusable content in a space.

    Args:
        session: the content of the space.
        columns: the columns.

    Attributes:
        no_address: the message for an item that cannot be opened in the browser.
    """

    place = " of this space"
    no_address: ClassVar[str] = ""

    def __init__(self, session: SpaceContent, columns: Sequence[Column[T]]) -> None:
        self.session = session
        super().__init__(columns)

    def address(self, item: T) -> str:
        """Return the web address of an item; empty if it has none."""
        return ""

    @abstractmethod
    def text(self, item: T) -> str:
        """Return the text that `command_copy_text` copies; empty if the item has none."""

    @override
    def explanation(self, *, online: bool) -> Message:
        loaded, session = self.loaded, self.session
        if loaded.value is not None:
            return NO_MATCH if loaded.value else self.empty()
        is_main = session.change_request_id is None
        hint = f"{key_for('new_request')} chooses a change request, where they can be listed." if is_main else ""
        return message_for(loaded, self.nouns, self.place, online=online, progress=session.progress, hint=hint)

    def reason_open(self) -> str | None:
        """Return why nothing can be opened or copied: the list is empty."""
        return None if self.count else f"no {self.nouns} here"

    reason_copy = reason_web = reason_copy_text = reason_open

    def command_web(self) -> None:
        """Open the address of the item in the browser."""
        screen = self.session.screen
        if self.current and (address := self.address(self.current)):
            open_address(screen.app_context, address)
        else:
            screen.notify(with_keys(self.no_address))

    def command_copy(self) -> None:
        """Copy the address of the item."""
        address = self.address(self.current) if self.current else ""
        self._copy(address, "copied the address", f"it has no web address: {key_for('copy_text')} copies its text")

    def command_copy_text(self) -> None:
        """Copy the target of the link, the Markdown that shows the file, or the tag that includes the content."""
        self._copy(self.text(self.current) if self.current else "", "copied", "nothing to copy")

    def _copy(self, text: str, done: str, nothing: str) -> None:
        screen = self.session.screen
        if text:
            screen.app_context.copy_to_clipboard(sanitize(text))
        screen.notify(done if text else nothing)
