"""A dialog to choose items from a list, which is filtered while typing, or an item of a menu by its letter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple, cast

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input
from typing_extensions import override

from presscheck.documents.markdown.search_terms import fold
from presscheck.text.styled_text import Line, Span, cut, pad, plain, width
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine

MAX_DIGITS = 9
"""Maximum number of rows that are chosen by digits."""
MIN_SIMILARITY = 0.75
"""Minimum similarity of a misspelled word, as a ratio of `difflib`."""
MAX_SIMILAR = 50
MAX_COMPARED = 500
"""Maximum number of labels that are compared with misspelled words. Comparing them takes 15 ms."""
MOST_LABEL = 40
"""Maximum width, in cells, of the item's label in the hint for the key enter."""
MARK = "mark"
"""The click target of the mark before an item."""
DEBOUNCE = 0.08
"""Seconds without typing before the asynchronous search starts."""


class Choice(NamedTuple):
    """An item of a picker: a key, a searchable label, a note on the right, and a styled line to show instead.

    In a menu, `letter` chooses the item. It must not be `j`, `k` or `q`, which move and close.
    """

    key: str
    label: str
    note: str = ""
    line: Line | None = None
    letter: str = ""


class _Filter(SearchInput):
    """The input of a picker; the digit of a row chooses the row."""

    @override
    async def _on_key(self, event: events.Key) -> None:
        picker = cast("Picker", self.screen)
        if not self.value and event.key in picker.shown_digits:
            event.stop()
            event.prevent_default()
            picker.choose_row(picker.shown_digits.index(event.key))


class Picker(Dialog[tuple[str, ...]]):
    """A dialog whose result is the keys of the chosen items, or None if it was closed.

    The typed text filters the items. In a short list, a digit chooses a row before any text is typed, unless a label
    contains a digit. If items have letters, the picker is a menu: a letter chooses an item, and nothing is filtered.

    Args:
        title: the question, as display text.
        choices: the items, as display text.
        multiple: whether several items can be marked. Enter also chooses the item under the cursor, as long as the user
            has not toggled a mark, if no item was marked at first or a text is typed.
        chosen: the keys of the items that are marked at first.
        ranked: whether the best match comes first; otherwise the order of `choices` stays.
        extra_choices: returns items that replace the matches of a typed text, or None to search the list.
        search: yields lists of results for the typed text. Each list replaces the previous list, below the matches by
            name.
        empty_text: returns the message if nothing matches a text.
        fuzzy: whether items that are only similar to the typed text are included.
        current: the key of the item under the cursor at first; by default the first item.
    """

    DEFAULT_CSS = """
    Picker { align: center top; }
    Picker > Vertical { width: 88; max-height: 100%; margin-top: 1; }
    Picker RowList { height: 18; margin: 1 0; }
    """
    GAP = 2

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        multiple: bool = False,
        chosen: Iterable[str] = (),
        ranked: bool = True,
        extra_choices: Callable[[str], Sequence[Choice] | None] | None = None,
        search: Callable[[str], AsyncIterator[Sequence[Choice]]] | None = None,
        empty_text: Callable[[str], str] = lambda _: "No match",
        fuzzy: bool = True,
        current: str = "",
    ) -> None:
        super().__init__(title)
        self.choices = list(choices)
        self.multiple, self.chosen, self.ranked = multiple, set(chosen), ranked
        self.extra_choices, self.search = extra_choices, search
        self.empty_text, self.fuzzy = empty_text, fuzzy
        self._current = current
        self._can_find_more = extra_choices is not None or search is not None
        is_short = len(choices) <= MAX_DIGITS and not multiple and not self._can_find_more
        self.is_menu = any(choice.letter for choice in choices)
        self._digits = [str(at + 1) for at in range(len(choices))] if is_short else []
        self._has_digits = is_short and not any(letter.isdigit() for choice in choices for letter in choice.label)
        self.matches: list[Choice] = list(choices)
        self._text = ""
        """The typed text of `matches`."""
        self._has_toggled = False

    @override
    def body(self) -> ComposeResult:
        if not self.is_menu:
            yield _Filter(placeholder="type to search")
        yield RowList(self._row)

    def on_mount(self) -> None:
        """Focus the input or the menu, and show all items."""
        rows = self.query_one(RowList)
        rows.styles.height = min(
            18,
            max(1 if self.is_menu else 3, 18 if self._can_find_more else len(self.choices)),
            max(3, self.size.height - 9),
        )
        rows.looks_focused = True
        rows.can_focus = self.is_menu  # else a click would take the focus from the input
        (rows if self.is_menu else self.query_one(SearchInput)).focus()
        self._update_matches("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the items that match the typed text."""
        self._update_matches(event.value)

    def on_line_view_link_chosen(self, event: RowList.LinkChosen) -> None:
        """Toggle the mark of the clicked item."""
        if event.target == MARK:
            self._toggle(moves=False)

    def on_row_list_row_selected(self) -> None:
        """Choose the item that was double-clicked."""
        self.submit()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        keys = super().keys()
        if self.multiple:
            keys["tab"] = self._toggle
        if self.is_menu:
            keys |= {"j": partial(self.move, 1), "k": partial(self.move, -1), "q": self.cancel}
            keys |= {digit: partial(self.choose_row, at) for at, digit in enumerate(self._digits)}
            keys |= {choice.letter: partial(self.choose_row, at) for at, choice in enumerate(self.choices)}
        return keys

    @override
    def move(self, by: int) -> None:
        self.query_one(RowList).move(by)

    @override
    def page(self, by: int) -> None:
        self.query_one(RowList).move_half_pages(by)

    @override
    def submit(self) -> None:
        rows = self.query_one(RowList)
        if self.multiple:
            self.chosen |= {choice.key for choice in self._taken}
            self.dismiss(tuple(choice.key for choice in self.choices if choice.key in self.chosen))
        elif self.matches:
            self.dismiss((self.matches[rows.cursor].key,))

    @property
    def shown_digits(self) -> list[str]:
        """The digits that choose rows. Empty once a text is typed."""
        return self._digits if self._has_digits and not self._text else []

    @property
    def _taken(self) -> list[Choice]:
        """A list with the item under the cursor if enter chooses it besides the marked items, or an empty list."""
        if not self.multiple or self._has_toggled or (self.chosen and not self._text):
            return []
        cursor = self.query_one(RowList).cursor
        return [choice for choice in self.matches[cursor : cursor + 1] if choice.key not in self.chosen]

    def on_row_list_row_highlighted(self) -> None:
        """Update the status line, which shows what enter chooses."""
        if self.multiple:
            self._show_status(self._text)

    def choose_row(self, row: int) -> None:
        """Choose the item of a row."""
        self.query_one(RowList).move_to(row)
        self.submit()

    def _update_matches(self, text: str) -> None:
        self._text = text
        is_final = not self.search or not text.strip()
        extra = self.extra_choices(text) if self.extra_choices else None
        by_name = matching(text, self.choices, ranked=self.ranked, fuzzy=is_final and self.fuzzy)
        self.matches = by_name if extra is None else list(extra)
        keys = [] if text else [choice.key for choice in self.matches]
        cursor = keys.index(self._current) if self._current in keys else 0
        self.query_one(RowList).show(len(self.matches), cursor=cursor)
        self._show_status(text)
        if self.search:
            results = None if is_final else self.search(text)
            self.run_worker(self._add_results(text, results), group="search", exclusive=True)

    async def _add_results(self, text: str, results: AsyncIterator[Sequence[Choice]] | None) -> None:
        """Add search results below the matches by name, and fuzzy matches below both."""
        if results is None:
            return
        await asyncio.sleep(DEBOUNCE)
        by_name = list(self.matches)
        known = {choice.key for choice in by_name}
        fuzzy = [choice for choice in matching(text, self.choices) if choice.key not in known]
        async for choices in results:
            rows = next(iter(self.query(RowList)), None)
            if rows is None:
                return  # the dialog was closed during the search
            current = self.matches[rows.cursor : rows.cursor + 1]
            new = [choice for choice in choices if choice.key not in known]
            new_keys = {choice.key for choice in new}
            self.matches = [*by_name, *new, *(choice for choice in fuzzy if choice.key not in new_keys)]
            cursor = next((self.matches.index(choice) for choice in current if choice in self.matches), 0)
            rows.show(len(self.matches), cursor=cursor)
            self._show_status(text)

    def _show_status(self, text: str) -> None:
        number = f"{len(self.matches)} of {len(self.choices)}" if text and not self.search else f"{len(self.matches)}"
        self.show_title(() if self.is_menu else (Span(number, "quiet"),))
        if self.matches:
            taken = [choice.label for choice in self._taken] or [f"{len(self.chosen)} marked"]
            choose = f"choose {plain(cut((Span(taken[0]),), MOST_LABEL))}" if self.multiple else "choose"
            self.show_keys({"enter": choose, **({"tab": "mark"} if self.multiple else {}), "escape": "cancel"})
        else:
            self.query_one("#keys", StatusLine).show((Span(self.empty_text(text), "quiet"),))

    def _toggle(self, *, moves: bool = True) -> None:
        rows = self.query_one(RowList)
        if self.matches:
            self._has_toggled = True
            self.chosen ^= {self.matches[rows.cursor].key}
            rows.redraw()
            self._show_status(self._text)
            if moves:
                rows.move(1)

    def _row(self, number: int, columns: int) -> Line:
        choice = self.matches[number]
        mark: Line = ()
        if self.multiple:
            mark = (Span("• " if choice.key in self.chosen else "  ", "accent", MARK),)
        elif self.is_menu:
            mark = (Span(f"{choice.letter or number + 1}  ", "accent"),)
        elif self._has_digits:
            mark = (Span(f"{number + 1}  " if self.shown_digits else "   ", "accent"),)
        line = (*mark, *(choice.line or (Span(choice.label),)))
        note = cut((Span(choice.note, "quiet"),), columns // 2)
        room = max(0, columns - width(note) - 1)
        return (*pad(cut(line, room - 1), room), *note) if choice.note else line


def matching(text: str, choices: Sequence[Choice], *, ranked: bool = True, fuzzy: bool = True) -> list[Choice]:
    """Return the choices that contain all typed words, followed by similar ones if `ranked` and `fuzzy`."""
    words = fold(text).split()
    if not words:
        return list(choices)
    labels = [fold(f"{choice.label} {choice.note}") for choice in choices]
    containing = [at for at, label in enumerate(labels) if all(word in label for word in words)]
    if not ranked:
        return [choices[at] for at in containing]
    containing.sort(key=lambda at: (labels[at].find(words[0]), len(labels[at])))
    if not fuzzy:
        return [choices[at] for at in containing]
    rest = _similar("".join(words), labels, set(containing))
    if not containing and not rest:
        rest = _misspelled(words, labels)
    return [choices[at] for at in (*containing, *rest)]


def _similar(letters: str, labels: Sequence[str], known: Collection[int]) -> list[int]:
    """Return the indexes of labels that contain the letters in this order, the shortest spans first.

    Indexes in `known` are left out.
    """
    spans: list[tuple[int, int]] = []
    for number, label in enumerate(labels):
        start = at = label.find(letters[0]) if number not in known else -1
        for letter in letters[1:]:
            at = label.find(letter, at + 1) if at >= 0 else -1
        if at >= 0:
            spans.append((at - start, number))
    return [number for _, number in sorted(spans)[:MAX_SIMILAR]]


def _misspelled(words: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the indexes of labels that contain, for each typed word, a similar word."""
    return [
        number
        for number, label in enumerate(labels[:MAX_COMPARED])
        if all(get_close_matches(word, label.split(), 1, MIN_SIMILARITY) for word in words)
    ]
