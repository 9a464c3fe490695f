"""A question with a list of answers: type a few letters, choose one or several."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.strip_renderer import raised

CUTOFF = 65
"""How alike, of 100, a label must be to what was typed where it does not hold it."""
SETTLED = 0.08
"""Seconds without another letter before more is looked for than names."""


class Choice(NamedTuple):
    """One answer: what it is, what is searched and shown, what stands on the right, and a line to show instead."""

    key: str
    label: str
    note: str = ""
    line: Line | None = None


class Picker(ModalScreen[tuple[str, ...] | None], inherit_bindings=False):
    """Answers the keys that were chosen; None where it was left.

    Args:
        title: the question, as display text.
        choices: the answers, as display text.
        look: the theme.
        many: whether several may be chosen.
        chosen: keys that are chosen at the beginning.
        ranked: whether the likest comes first; else the order stays.
        more: further answers to what was typed; they come first.
        later: further answers that have to be waited for, as many times as there are news; they come last.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Picker { align: center top; background: transparent; }
    Picker > Vertical { width: 88; max-width: 100%; height: auto; max-height: 100%; margin-top: 1; padding: 1 2; }
    Picker > Vertical { background: $ink-raised; }
    Picker RowList { height: 18; margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        look: StyleLookup,
        *,
        many: bool = False,
        chosen: Iterable[str] = (),
        ranked: bool = True,
        more: Callable[[str], Sequence[Choice]] | None = None,
        later: Callable[[str], AsyncIterator[Sequence[Choice]]] | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.choices, self.look = title, list(choices), raised(look)
        self.many, self.chosen, self.ranked, self.more, self.later = many, set(chosen), ranked, more, later
        self.found: list[Choice] = list(choices)
        self._named = 0

    def compose(self) -> ComposeResult:
        """The question, what is typed, the answers, the keys."""
        with Vertical():
            yield StatusLine(self.look, id="question")
            yield SearchInput(placeholder="type to search")
            yield RowList(self._row, self.look)
            yield StatusLine(self.look, id="keys")

    def on_mount(self) -> None:
        """Ready for typing."""
        rows = self.query_one(RowList)
        rows.styles.height = min(
            18, max(3, len(self.choices) if not self.more and not self.later else 18), max(3, self.size.height - 9)
        )
        rows.is_lively = True
        self.query_one(SearchInput).focus()
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Other letters, other answers."""
        self._find(event.value)

    def on_row_list_row_chosen(self) -> None:
        """A second click chooses."""
        self._answer()

    def on_key(self, event: events.Key) -> None:
        """Move among the answers, choose, or leave."""
        rows = self.query_one(RowList)
        moves = {"down": 1, "ctrl+n": 1, "up": -1, "ctrl+p": -1}
        pages = {"pagedown": 1, "pageup": -1}
        if event.key in moves:
            rows.move(moves[event.key])
        elif event.key in pages:
            rows.page(pages[event.key])
        elif event.key == "tab" and self.many:
            self._toggle()
        elif event.key == "enter":
            self._answer()
        elif event.key == "escape":
            self.dismiss(None)
        else:
            return
        event.stop()
        event.prevent_default()

    def _find(self, text: str) -> None:
        is_final = not self.later or not text.strip()
        named = matching(text, self.choices, ranked=self.ranked, alike=is_final)
        self.found = [*(self.more(text) if self.more else ()), *named]
        self.query_one(RowList).show(len(self.found), cursor=0)
        self._say(text)
        if self.later:
            later = None if is_final else self.later(text)
            self.run_worker(self._look_further(text, later), group="later", exclusive=True)

    async def _look_further(self, text: str, later: AsyncIterator[Sequence[Choice]] | None) -> None:
        """Add what comes in behind what is there, and names that are like the text behind that."""
        if later is None:
            return
        await asyncio.sleep(SETTLED)
        named = list(self.found)
        known = {choice.key for choice in named}
        alike = [choice for choice in matching(text, self.choices) if choice.key not in known]
        async for choices in later:
            rows = next(iter(self.query(RowList)), None)
            if rows is None:
                return  # it was left meanwhile
            under = self.found[rows.cursor : rows.cursor + 1]
            news = [choice for choice in choices if choice.key not in known]
            keys = {choice.key for choice in news}
            self.found = [*named, *news, *(choice for choice in alike if choice.key not in keys)]
            rows.show(len(self.found), cursor=next((self.found.index(one) for one in under if one in self.found), 0))
            self._say(text)

    def _say(self, text: str) -> None:
        count = f"{len(self.found)} of {len(self.choices)}" if text and not self.later else f"{len(self.found)}"
        self.query_one("#question", StatusLine).show((Span(self.heading, "title"),), (Span(count, "quiet"),))
        keys = (("enter", "choose"), ("tab", "mark"), ("esc", "cancel")) if self.many else (("enter", ""), ("esc", ""))
        line = tuple(span for key, does in keys for span in (Span(key, "accent"), Span(f" {does}  ", "quiet")))
        self.query_one("#keys", StatusLine).show(line if self.found else (Span("No match", "quiet"),))

    def _toggle(self) -> None:
        rows = self.query_one(RowList)
        if self.found:
            self.chosen ^= {self.found[rows.cursor].key}
            rows.redraw()
            rows.move(1)

    def _answer(self) -> None:
        rows = self.query_one(RowList)
        if self.many:
            self.dismiss(tuple(choice.key for choice in self.choices if choice.key in self.chosen))
        elif self.found:
            self.dismiss((self.found[rows.cursor].key,))

    def _row(self, number: int, columns: int) -> Line:
        choice = self.found[number]
        mark = (Span("✓ " if choice.key in self.chosen else "  ", "accent"),) if self.many else ()
        line = (*mark, *(choice.line or (Span(choice.label),)))
        note = cut((Span(choice.note, "quiet"),), columns // 2)
        room = max(0, columns - width(note) - 1)
        return (*pad(cut(line, room - 1), room), *note) if choice.note else line


def matching(text: str, choices: Sequence[Choice], *, ranked: bool = True, alike: bool = True) -> list[Choice]:
    """The choices that hold every word typed, then (where `ranked` and `alike`) those that are like it."""
    words = text.lower().split()
    if not words:
        return list(choices)
    labels = [f"{choice.label} {choice.note}".lower() for choice in choices]
    holding = [at for at, label in enumerate(labels) if all(word in label for word in words)]
    if not ranked:
        return [choices[at] for at in holding]
    holding.sort(key=lambda at: (labels[at].find(words[0]), len(labels[at])))
    if not alike:
        return [choices[at] for at in holding]
    from rapidfuzz import fuzz, process  # late: a first picture needs no search

    like = process.extract(" ".join(words), labels, scorer=fuzz.partial_ratio, score_cutoff=CUTOFF, limit=50)
    rest = [at for _, _, at in like if at not in set(holding)]
    return [choices[at] for at in (*holding, *rest)]
