"""Spell check: a list of the doubtful words of a page, with suggestions, navigation and learning of words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.documents.markdown.prose_words import prose_words
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.spell_checker import NOT_INSTALLED, DoubtfulWord, SpellChecker, installed
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen

WORD_COLUMNS = 24
"""Width of the column of words, in cells."""


class WordList(List[DoubtfulWord]):
    """The doubtful words of a page.

    Args:
        screen: the screen of the list.
        words: the doubtful words.
        checker: the spell checker, which learns words.
        go_to: goes to a word, after the screen was closed.
    """

    nouns = "doubtful words"
    footer = ("open", "add", "down", "find_here", "close")

    def __init__(
        self,
        screen: SpellingScreen,
        words: Sequence[DoubtfulWord],
        checker: SpellChecker,
        go_to: Callable[[DoubtfulWord], None],
    ) -> None:
        self._screen, self._words, self._checker, self._go_to = screen, words, checker, go_to
        super().__init__(
            (
                Column("word", lambda word: (Span(sanitize(word.word), "strong"),), WORD_COLUMNS),
                Column("suggestions, and where", _suggestions),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[DoubtfulWord]]:
        return Loaded(self._words)

    @override
    def key_of(self, item: DoubtfulWord) -> str:
        return item.word

    @override
    def empty(self) -> Message:
        return Message("No word is left.")

    def command_open(self) -> None:
        """Close the list, and go to the word."""
        word = self.current
        if word:
            self._screen.app_context.pop_screen()
            self._go_to(word)

    def reason_add(self) -> str | None:
        """Return why no word can be learned: no doubtful word is left."""
        return None if self.current else "no word is left"

    async def command_add(self) -> None:
        """Add the word to the user's own dictionary."""
        word = self.current
        if word:
            await self._checker.learn(word.word)
            self._words = [other for other in self._words if other.word.lower() != word.word.lower()]
            self._screen.redraw()
            self._screen.notify(f"learned {sanitize(word.word)}")


class SpellingScreen(TabScreen):
    """The doubtful words of a page.

    Args:
        title: the title of the page.
        words: the doubtful words.
        checker: the spell checker, which learns words.
        go_to: goes to a word, after this screen was closed.
    """

    def __init__(
        self, title: str, words: Sequence[DoubtfulWord], checker: SpellChecker, go_to: Callable[[DoubtfulWord], None]
    ) -> None:
        super().__init__()
        self._heading, self._dictionary = title, checker.name
        self.list = WordList(self, words, checker, go_to)
        self.lists = Tabs(self, [self.list])

    @override
    def title_line(self) -> Line:
        number = count(self.list.total or 0, "doubtful word")
        return (
            Span(f" Spelling of {sanitize(self._heading)}", "title"),
            Span(f"   {number} · a learns a word: your {self._dictionary} dictionary has it then", "quiet"),
        )

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.redraw()


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


def _suggestions(word: DoubtfulWord) -> Line:
    more = f", {len(word.places)} times" if len(word.places) > 1 else ""
    where = f"  line {word.places[0].line + 1}{more}"
    return (Span(", ".join(word.suggestions) or "no suggestion"), Span(where, "quiet"))
