"""One entry of a review as lines: what changed in a page with its threads in place, or what is said of the whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from presscheck.desk.review.changes import Changed, changed_things, counted, described
from presscheck.desk.review.threads import Thread, text_of
from presscheck.desk.standing import listed
from presscheck.documents.differences import DifferenceLines, Mode, PageDifference, difference_lines
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import since
from presscheck.documents.nodes.targets import document_text
from presscheck.documents.rendering.comments import comment_lines
from presscheck.documents.spans import Line, Span, cut, width
from presscheck.documents.suggestions import block_at, written
from presscheck.tui.screens.review.thread_renderer import thread_lines

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.change_requests import Review
    from presscheck.desk.review.model import Dossier
    from presscheck.desk.standing import Reviewer

NO_ROOM = "no room for two sides"
CONTEXT = 2
"""Lines around a change that stay where the unchanged are folded."""
_SAID = {"approved": ("✓", "added"), "changes-requested": ("✗", "removed"), "asked": ("◷", "waiting")}


@dataclass
class Laid:
    """Lines, and what stands on which: the first lines of changes, the thread of a line, its lines in the new text."""

    lines: list[Line] = field(default_factory=list[Line])
    changes: list[int] = field(default_factory=list[int])
    thread_of: dict[int, str] = field(default_factory=dict[int, str])
    anchors: dict[int, int] = field(default_factory=dict[int, int])
    folds: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])

    def add(self, *lines: Line) -> None:
        """Append lines."""
        self.lines += lines

    def anchor_at(self, line: int) -> int | None:
        """The line of the new text that a line stands for, or the nearest one above it that stands for any."""
        return next((self.anchors[near] for near in range(line, -1, -1) if near in self.anchors), None)

    def line_of(self, anchor: int | None) -> int:
        """The first line that stands for a line of the new text, or for what is behind it; else the first of all."""
        behind = [line for line, one in self.anchors.items() if anchor is not None and one >= anchor]
        return min(behind, default=0)

    def stands_for(self, line: int) -> tuple[str | int | None, int]:
        """What a line stands for, a thread or a line of the new text, and how far it is below the first that does."""
        first = next((at for at in range(line, -1, -1) if at in self.thread_of or at in self.anchors), None)
        if first is None:
            return None, line
        what = self.thread_of.get(first, self.anchors.get(first))
        while first and what in (self.thread_of.get(first - 1), self.anchors.get(first - 1)):
            first -= 1
        return what, line - first

    def found(self, what: str | int | None, below: int) -> int | None:
        """The line so far below the first that stands for this; None where none does."""
        lines = self.thread_of if isinstance(what, str) else self.anchors
        return next((line + below for line, one in lines.items() if one == what), None)

    @property
    def threads(self) -> list[int]:
        """The first line of each thread."""
        return [line for line, one in self.thread_of.items() if self.thread_of.get(line - 1) != one]


@dataclass(frozen=True)
class Page:
    """What is shown of a thing that changes: its difference, or why there is none yet."""

    difference: PageDifference | None = None
    after: str = ""
    trouble: str | None = None
    _lines: dict[object, DifferenceLines] = field(
        default_factory=dict[object, DifferenceLines], compare=False, repr=False
    )

    def lines(self, difference: PageDifference, manner: Manner, keep: Collection[int]) -> DifferenceLines:
        """The difference in lines; what was laid out last is kept, for every answer of the service draws anew."""
        context = CONTEXT if manner.only_changed else None
        mode, columns = manner.shown_mode, manner.columns
        key = mode, columns, context, frozenset(keep if manner.only_changed else ())
        if key not in self._lines:
            self._lines.clear()
            self._lines[key] = difference_lines(difference, columns, mode=mode, context=context, keep=keep)
        return self._lines[key]


@dataclass(frozen=True)
class Manner:
    """How it is shown."""

    columns: int
    now: datetime
    only_changed: bool = False
    mode: Mode = "prose"
    unfolded: Collection[str] = ()
    opened: Collection[int] = ()
    """Lines of the new text that are shown though they did not change."""
    is_crowded: bool = False
    """Whether two sides have no room beside each other."""

    @property
    def shown_mode(self) -> Mode:
        """The mode, or prose where the wanted one has no room."""
        return "prose" if self.mode == "split" and self.is_crowded else self.mode


def lay_page(thing: Changed, page: Page, threads: Sequence[Thread], manner: Manner, position: str) -> Laid:
    """A thing that changes, with the threads on it in place."""
    laid = Laid()
    what = f"{described(thing)} · {position}" + (f" · {NO_ROOM}" if manner.shown_mode != manner.mode else "")
    title = cut((Span(thing.title, "title"), Span(f"   {what}", "quiet")), manner.columns)
    laid.add(title, *(cut((Span(one, "quiet"),), manner.columns) for one in thing.details), ())
    placed: dict[int, list[Thread]] = {}
    for one in threads:
        if one.line is None:
            _add_thread(laid, one, manner)
            laid.add(())
        else:
            placed.setdefault(one.line, []).append(one)
    if page.trouble:
        laid.add((Span(page.trouble, "waiting"),))
    elif page.difference is None:
        words = "Asking the service for the text …" if thing.has_text else "There is no text to compare."
        laid.add((Span(words, "quiet"),))
    else:
        _add_difference(laid, page.lines(page.difference, manner, {*placed, *manner.opened}), placed, manner)
    return laid


def _add_difference(laid: Laid, shown: DifferenceLines, placed: dict[int, list[Thread]], manner: Manner) -> None:
    below: dict[int | None, list[Thread]] = {}
    for at, threads in placed.items():
        below.setdefault(shown.below(at), []).extend(threads)
    starts = set(shown.changes)
    for number, line in enumerate(shown.lines):
        if number in starts:
            laid.changes.append(len(laid.lines))
        anchor = shown.anchors[number]
        if anchor is not None:
            laid.anchors[len(laid.lines)] = anchor
        if number in shown.folds:
            laid.folds[len(laid.lines)] = shown.folds[number]
        laid.add(line)
        for one in below.get(number, ()):
            _add_thread(laid, one, manner, beside=shown.beside or (Span("  "),))
    for one in below.get(None, ()):
        _add_thread(laid, replace(one, line=None), manner)


def lay_conversation(known: Dossier, threads: Sequence[Thread], manner: Manner) -> Laid:
    """What is said of the whole request: what it is for, who reviews it, what they said."""
    laid, request = Laid(), known.request
    if request is None:
        return laid
    laid.add(cut((Span(display_text(request.subject) or "(no subject)", "title"),), manner.columns))
    laid.add((Span(counted(known.things) or _nothing(known), "quiet"),), ())
    if request.description:
        laid.add(*comment_lines(document_text(request.description), manner.columns), ())
    people = known.reviewers()
    if people:
        laid.add((Span("Reviewers", "heading"),), *(_reviewer(one, known, manner.columns) for one in people), ())
    said = {one.id for one in known.threads()}
    for review in known.reviews or ():
        if review.comment and review.comment.id not in said:  # else it is one of the threads
            laid.add(*_review(review, manner))
    for one in threads:
        _add_thread(laid, one, manner)
        laid.add(())
    if not threads:
        nobody = "Nobody said anything of the whole yet: C comments on it."
        laid.add((Span(nobody if known.comments else "Asking the service what was said …", "quiet"),))
    return laid


def _nothing(known: Dossier) -> str:
    """What is said where no change is known."""
    if known.shown is None:
        return "Asking the service what it changes …"
    return "nothing changed since your review" if known.since else "nothing changed yet: e edits a page in it"


def _add_thread(laid: Laid, one: Thread, manner: Manner, beside: Line = ()) -> None:
    unfolded = one.id in manner.unfolded
    for line in thread_lines(one, manner.columns - width(beside), manner.now, comment_lines, unfolded=unfolded):
        laid.thread_of[len(laid.lines)] = one.id
        laid.add((*beside, *line))


def _reviewer(one: Reviewer, known: Dossier, columns: int) -> Line:
    glyph, style = _SAID[one.said]
    words = {"approved": "approved", "changes-requested": "asked for changes", "asked": "was asked"}[one.said]
    if not one.stale:
        return (Span(f"{glyph} ", style), Span(one.name), Span(f"  {words}", "quiet"))
    words = f"{words} in" if one.said == "changes-requested" else words
    changed = known.changes_since(one.revision)
    titles = [thing.title for thing in changed_things(changed.changes)] if changed else []
    since_then = f" · changed since: {listed(titles)}" if titles else ""
    line = (Span(f"{glyph} ", style), Span(one.name), Span(f"  {words} an older revision", "waiting"))
    return cut((*line, Span(since_then, "quiet")), columns)


def _review(review: Review, manner: Manner) -> list[Line]:
    text = text_of(review.comment.body) if review.comment else ""
    if not text.strip():
        return []
    glyph, style = _SAID.get(review.status, ("·", "quiet"))
    who = display_text(review.reviewer.display_name).partition(" ")[0]
    head = (Span(f"{glyph} ", style), Span(who, "strong"), Span(f" {since(review.created_at, manner.now)}", "quiet"))
    return [head, *((Span("  "), *line) for line in comment_lines(text, manner.columns - 2)), ()]


def suggestion_at(laid: Laid, page: Page, line: int) -> str:
    """The beginning of a suggestion for the block under a line; nothing where there is none."""
    near = next((at for at in range(line, -1, -1) if at in laid.anchors), None)
    block = block_at(page.after, laid.anchors[near]) if near is not None else None
    return written(block) if block else ""


def line_at(laid: Laid, page: Page, line: int) -> int | None:
    """The line of the new text under a line, or the nearest above it that has words."""
    lines = page.after.split("\n")
    for near in range(line, -1, -1):
        number = laid.anchors.get(near)
        if number is not None and number < len(lines) and lines[number].strip():
            return number
    return None
