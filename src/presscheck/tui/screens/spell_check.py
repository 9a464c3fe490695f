"""Spell check: a list of the doubtful words of a page, with suggestions, navigation and learning of words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from typing_extensions import override

from presscheck.documents.markdown.prose_words import prose_words
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.spell_checker import NOT_INSTALLED, DoubtfulWord, SpellChecker, installed
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from presscheck.tui.ui.screen import BaseScreen

WORD_COLUMNS = 24
"""Maximum width of a word, in cells."""


class SpellingScreen(BaseScreen):
    """The doubtful words of a page.

    Args:
        title: the title of the page.
        words: the doubtful words.
        checker: the spell checker, which learns words.
        go_to: goes to a word, after this screen was closed.
    """

    DEFAULT_CSS = "SpellingScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "add", "down", "find_here", "close")

    def __init__(
        self, title: str, words: list[DoubtfulWord], checker: SpellChecker, go_to: Callable[[DoubtfulWord], None]
    ) -> None:
        super().__init__()
        self._heading, self.words, self._checker, self._go_to = title, words, checker, go_to

    @override
    def title_line(self) -> Line:
        number = count(len(self.words), "doubtful word")
        return (
            Span(f" Spelling of {sanitize(self._heading)}", "title"),
            Span(f"   {number} · a learns a word: your {self._checker.name} dictionary has it then", "quiet"),
        )

    @override
    def body(self) -> ComposeResult:
        yield RowList(self._row, key=lambda number: self.words[number].word)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(RowList)
        rows.show(len(self.words))
        rows.focus()

    def command_open(self) -> None:
        """Close the list, and go to the word."""
        word = self._current
        if word:
            self.app_context.pop_screen()
            self._go_to(word)

    def reason_add(self) -> str | None:
        """Return why no word can be learned: no doubtful word is left."""
        return None if self._current else "no word is left"

    async def command_add(self) -> None:
        """Add the word to the user's own dictionary."""
        word = self._current
        if word is None:
            return
        await self._checker.learn(word.word)
        self.words = [other for other in self.words if other.word.lower() != word.word.lower()]
        self.query_one(RowList).show(len(self.words))
        self.refresh_status_bars()
        self.notify(f"learned {sanitize(word.word)}")

    @on(RowList.RowSelected)
    def row_selected(self) -> None:
        """Go to the word of a row."""
        self.command_open()

    @property
    def _current(self) -> DoubtfulWord | None:
        at = self.query_one(RowList).cursor
        return self.words[at] if at < len(self.words) else None

    def _row(self, number: int, columns: int) -> Line:
        word = self.words[number]
        size = min(WORD_COLUMNS, columns // 3)
        where = f"line {word.places[0].line + 1}"
        more = f", {len(word.places)} times" if len(word.places) > 1 else ""
        suggestions = ", ".join(word.suggestions) or "no suggestion"
        note = (Span(f"{where}{more}", "quiet"),)
        line = (*pad(cut((Span(sanitize(word.word), "strong"),), size - 1), size), Span(suggestions), Span("  "), *note)
        return cut(line, columns)


class SpellingActions:
    """The command that checks the spelling of a page.

    Args:
        screen: the screen with the page.
        page: returns the title and the Markdown of the page, or None without a page.
        go_to: goes to a doubtful word.
    """

    def __init__(
        self,
        screen: BaseScreen,
        page: Callable[[], tuple[str, str] | None],
        go_to: Callable[[DoubtfulWord], None],
    ) -> None:
        self._screen, self._page, self._go_to = screen, page, go_to

    def reason_spelling(self) -> str | None:
        """Return why the spelling cannot be checked: there is no page, or no spell checker is installed."""
        if self._page() is None:
            return "no page here"
        return None if installed() else NOT_INSTALLED

    def command_spelling(self) -> Awaitable[None] | None:
        """List the doubtful words of the page."""
        page = self._page()
        return self._check(*page) if page else None

    async def _check(self, title: str, markdown: str) -> None:
        checker = SpellChecker()
        words = await asyncio.to_thread(prose_words, markdown)
        doubtful = await checker.doubtful(words) if words else []
        if doubtful:
            self._screen.app_context.push_screen(SpellingScreen(title, doubtful, checker, self._go_to))
        else:
            self._screen.notify(f"no doubtful words ({checker.name})")
