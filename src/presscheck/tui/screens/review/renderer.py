"""Rendering of a review: its header, the rows of its list, and the change of a page or the conversation.

Threads are shown in the change at their text, with author, time, text and replies. Resolved threads are folded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from presscheck.documents.diff.page_diff import CONTEXT, DifferenceLines, Mode, PageDifference, difference_lines
from presscheck.documents.diff.suggestion_lines import comment_with_suggestion
from presscheck.documents.nodes.comment_targets import document_text
from presscheck.documents.pages.comment_text import block_at, format_suggestion
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.engine.review.changes import (
    NOT_COMPARED,
    ChangedItem,
    WordCount,
    change_sizes,
    changed_items,
    kinds_text,
    summarize_changes,
)
from presscheck.engine.review.merge_readiness import join_names, person
from presscheck.engine.review.threads import Thread, markdown_of_body
from presscheck.text.phrases import count, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain, width, wrap
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.comments.rows import thread_lines
from presscheck.tui.screens.review.event_lines import VERDICT_SIGNS, event_line

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.change_requests import ChangeRequest, Review
    from presscheck.api.sites import Site
    from presscheck.documents.diff.block_pairs import SegmentPair
    from presscheck.documents.git_format.findings import Finding
    from presscheck.engine.review.merge_readiness import MergeCheck, MergeReadiness, Reviewer
    from presscheck.engine.review.model import Progress, ReviewModel
    from presscheck.engine.review.timeline import Event

_GAP = Span("   ")
_STATUS = {"open": "strong added", "draft": "strong waiting", "merged": "strong accent", "archived": "strong quiet"}
_CERTAINTIES = {
    "yes": ("✓ yes", "added"),
    "no": ("✗ no", "removed"),
    "blocked": ("✗ no", "removed"),
    "care": ("⚠ with warnings", "waiting"),
    "unknown": ("the service decides", "quiet"),
}
_FIX_KEYS = {"main": " ({pull})", "conflicts": ": {take_ours} or {take_theirs} takes a side"}
"""The keys that meet a merge requirement, by its subject."""
_THREAD_COLUMNS = 4
_NARROW_LIST = 22
"""Below this number of columns, rows show only the title."""
_KIND_STYLES = {
    "added": "added",
    "deleted": "removed",
    "edited": "",
    "moved": "link",
    "renamed": "link",
    "details": "quiet",
    NOT_COMPARED: "quiet",
}
_FINDING_STYLES = {"error": "removed", "warning": "waiting", "info": "quiet"}
_NOUNS = {"file": "file ", "content": "reusable ", "tag": "tag ", "variables": ""}
TOO_NARROW = "too narrow for split view"


def state_line(
    request: ChangeRequest,
    reviewers: Sequence[Reviewer] | None,
    progress: Progress | None,
    open_threads: int,
    columns: int,
    collected: int | None = None,
    new_threads: int = 0,
    notifications: str = "",
    prose: str = "",
    running: str = "",
) -> Line:
    """Render the state of a change request, without the last parts if they do not fit.

    Example: `open ✓1 ✗1 ◷1   37 changes · 29 viewed   4 open comments · 1 new   ↓ main has new changes`.
    """
    status = Span(sanitize(request.status), _STATUS.get(request.status, "strong"))
    parts: list[Line] = [(status, *verdicts(reviewers or ()))]
    if running:  # early, so that a narrow terminal shows it
        parts.append((Span(running, "waiting"),))
    if collected is not None:
        parts.append((Span(f"✎ {collected} in your review", "accent"),))
    parts.append(_progress(request, progress))
    if prose:
        parts.append((Span(prose, "waiting"),))
    news = (Span(f"{new_threads:,} new", "accent strong"),) if new_threads else ()
    if open_threads:
        gap = (Span(" · ", "quiet"),) if news else ()
        parts.append((Span(count(open_threads, "open comment"), "waiting"), *gap, *news))
    elif news:
        parts.append(news)
    if request.outdated:
        parts.append((Span("↓ main has new changes", "waiting"),))
    if notifications:
        parts.append((Span(notifications, "quiet"),))
    return _join_fitting([part for part in parts if part], columns)


def by_line(request: ChangeRequest, me: str, now: datetime) -> Line:
    """Render who created or merged the change request: `by mia · created 2 h ago`, `merged by jon 1 d ago`."""
    if request.status == "merged":
        author = f" by {person(request.merged_by, me)}" if request.merged_by else ""
        when = f" {since(request.merged_at, now)}" if request.merged_at else ""
        return (Span(f"merged{author}{when}", "quiet"),)
    author = person(request.created_by, me)
    return (Span(f"by {author} · created {since(request.created_at, now)}", "quiet"),)


def compared_line(review: Review | None, now: datetime, note: str = "") -> Line:
    """Render `since your review 2 h ago`, or a note on the comparison; empty if all changes are shown."""
    if review is None:
        return (Span(sanitize(note), "waiting"),) if note else ()
    return (Span(f"since your review {since(review.created_at, now)}", "accent"),)


def verdicts(reviewers: Sequence[Reviewer]) -> Line:
    """Render approvals, requested changes, pending reviewers and stale approvals: ` ✓1 ✗1 ◷1 ✓1 stale`.

    An approval by the author does not count, and is shown as ` ✓ by the author`.
    """
    spans: list[Span] = []
    own = [reviewer for reviewer in reviewers if reviewer.status == "approved" and reviewer.is_author]
    others = [reviewer for reviewer in reviewers if reviewer not in own]
    stale = [reviewer for reviewer in others if reviewer.status == "approved" and reviewer.stale]
    for verdict, (glyph, style) in VERDICT_SIGNS.items():
        number = sum(reviewer.status == verdict and reviewer not in stale for reviewer in others)
        if number:
            spans.append(Span(f" {glyph}{number}", style))
    if stale:
        spans.append(Span(f" ✓{len(stale)} stale", "waiting"))
    if own:
        spans.append(Span(" ✓ by the author", "quiet"))
    return tuple(spans)


def merge_line(readiness: MergeReadiness) -> Line:
    """Render `Can merge? no: ada requested changes, 4 open comments`."""
    reasons = ", ".join(readiness.reasons)
    word, style = _CERTAINTIES[readiness.certainty]
    spans = [Span("Can merge? ", "quiet"), Span(word, style)]
    if reasons:
        spans += [Span(": ", "quiet"), Span(reasons)]
    return tuple(spans)


def summary_lines(model: ReviewModel) -> list[Line]:
    """Render the subject, changes, reviews and merge readiness for a dialog."""
    request, progress = model.request, model.progress()
    reviews = plain(verdicts(model.reviewers() or ())).strip() or "none yet"
    missing = f"; ⚠ {progress.missing}" if progress and progress.missing else ""
    return [
        (Span(sanitize(request.subject) if request else "", "strong"),),
        (Span(summarize_changes(model.items) or "no changes"), Span(missing, "waiting")),
        (Span(f"Reviews  {reviews}", "quiet"),),
        merge_line(model.readiness()),
    ]


def live_lines(sites: Sequence[Site]) -> list[Line]:
    """Render the sites on which a merge goes live; empty without a published site."""
    names = [sanitize(site.title) or "(no title)" for site in sites]
    return [(Span(f"Goes live at once on {join_names(names)}.", "waiting"),)] if names else []


def undo_line(*, can_revert: bool) -> Line:
    """Render how a merge can be undone. Reverting needs a service that can edit pages."""
    words = f"To undo a merge: {key_for('revert')} in the merged change request reverts it in a new one."
    return (Span(words, "quiet") if can_revert else Span("This cannot be undone.", "waiting"),)


def check_line(check: MergeCheck) -> Line:
    """Render a merge requirement: sign, name and message."""
    word, style = _CERTAINTIES[check.certainty]
    sign = word[0] if check.certainty != "unknown" else "?"
    return (Span(f" {sign} ", style), *pad((Span(check.subject, "quiet"),), 13), Span(check.message))


def fix_line(check: MergeCheck) -> Line:
    """Render who can meet a merge requirement, and with which keys."""
    keys = with_keys(_FIX_KEYS.get(check.subject, ""))
    return (Span(" " * 16), Span(f"can be fixed by {check.fixed_by}{keys}", "quiet"))


def _is_closed(request: ChangeRequest) -> bool:
    return request.status in ("merged", "archived")


def _progress(request: ChangeRequest, progress: Progress | None) -> Line:
    if progress is None:
        return (Span("changes not known yet", "quiet"),)
    if progress.total == 0:
        return (Span("no changes" if _is_closed(request) else "no changes yet", "quiet"),)
    spans = [Span(count(progress.total, "change"))]
    if progress.known < progress.total:
        spans = [Span(f"changes: {progress.known:,} of {progress.total:,} loaded", "waiting")]
    if progress.viewed:
        spans.append(Span(f" · {progress.viewed:,} viewed", "quiet"))
    return tuple(spans)


def _join_fitting(parts: Sequence[Line], columns: int) -> Line:
    """Join as many parts as fit, with gaps. The first part is always shown, cut if necessary."""
    for number in range(len(parts), 0, -1):
        line: list[Span] = []
        for part in parts[:number]:
            line += [_GAP, *part] if line else part
        if width(tuple(line)) <= columns:
            return tuple(line)
    return cut(parts[0], columns)


def item_line(
    item: ChangedItem,
    columns: int,
    *,
    viewed: bool,
    words: WordCount | None = None,
    open_threads: int = 0,
    has_conflict: bool = False,
    has_new: bool = False,
    marked: bool = False,
) -> Line:
    """Render a row of the list: `☑ Overview   +12 −3 words  ┃2`. The size is shortened before the title is cut."""
    mark = Span("• ", "accent") if marked else Span("☑ ", "added") if viewed else Span("  ")
    style = "quiet" if viewed else "removed strike" if item.kinds[0] == "deleted" else ""
    title = (mark, Span(_NOUNS.get(item.noun, ""), "quiet"), Span(item.title, style))
    room = columns - _THREAD_COLUMNS - 1 - width(title)
    size = (Span("conflict", "removed"),) if has_conflict else _size(item, words, room, viewed=viewed)
    return _row(title, size, open_threads, columns, has_new=has_new)


def conversation_line(columns: int, open_threads: int, *, has_new: bool = False) -> Line:
    """Render the first row of the list, the conversation about the whole change request."""
    return _row((Span("  "), Span("Conversation", "strong")), (), open_threads, columns, has_new=has_new)


def _row(title: Line, size: Line, open_threads: int, columns: int, *, has_new: bool) -> Line:
    if columns < _NARROW_LIST:
        return pad(cut(title, columns), columns)
    sign, style = ("◆", "accent strong") if has_new else ("┃", "waiting")
    threads = (Span(f"{sign}{min(open_threads, 99)}", style),) if open_threads or has_new else ()
    right = (*size, *pad((Span(" "), *threads), _THREAD_COLUMNS))
    room = columns - width(right) - 1
    return (*pad(cut(title, room), room), Span(" "), *right)


def _size(item: ChangedItem, words: WordCount | None, room: int, *, viewed: bool) -> Line:
    """Render the size of a change in the longest form that fits in `room` columns, or else in the shortest form."""
    style = "quiet" if viewed else _KIND_STYLES[item.kinds[0]]
    sizes = change_sizes(item, words)
    return (Span(next((size for size in sizes if len(size) <= room), sizes[-1]), style),)


@dataclass
class RenderedChange:
    """Rendered lines, with the positions of changes, threads and text in them.

    Attributes:
        lines: the lines.
        changes: the first line of each change, in order.
        thread_of: thread ids by line.
        message_of: message ids by line.
        findings: findings of prose checks by line.
        anchors: line numbers in the new text, by line.
        folds: the folded lines of the new text, by the line that represents them.
        blocks: blocks of the difference, by line.
        reviewers: lines by reviewer id.
        events: the events of the conversation by line, without threads that are shown in full.
    """

    lines: list[Line] = field(default_factory=list[Line])
    changes: list[int] = field(default_factory=list[int])
    thread_of: dict[int, str] = field(default_factory=dict[int, str])
    message_of: dict[int, str] = field(default_factory=dict[int, str])
    findings: dict[int, Finding] = field(default_factory=dict[int, "Finding"])
    anchors: dict[int, int] = field(default_factory=dict[int, int])
    folds: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    blocks: dict[int, SegmentPair] = field(default_factory=dict[int, "SegmentPair"])
    reviewers: dict[str, int] = field(default_factory=dict[str, int])
    events: dict[int, Event] = field(default_factory=dict[int, "Event"])

    def add(self, *lines: Line) -> None:
        """Append lines at the end."""
        self.lines += lines

    def anchor_at(self, line: int) -> int | None:
        """Return the line number in the new text for a rendered line or, if it has none, for the nearest line above.

        Return None if no line above has one.
        """
        return next((self.anchors[near] for near in range(line, -1, -1) if near in self.anchors), None)

    def block_at(self, line: int) -> SegmentPair | None:
        """Return the block of the difference at a line or, if it has none, at the nearest line above.

        Return None if no line above has one.
        """
        return next((self.blocks[near] for near in range(line, -1, -1) if near in self.blocks), None)

    def deleted_at(self, line: int) -> SegmentPair | None:
        """Return the block whose old text is shown at a line; None at a line of the new text."""
        for near in range(line, -1, -1):
            if near in self.anchors:
                return None
            if near in self.blocks:
                return self.blocks[near] if self.blocks[near].before else None
        return None

    def line_of(self, anchor: int | None) -> int:
        """Return the first rendered line that shows line `anchor` of the new text, or a later line; 0 if none does."""
        lines = [line for line, text_line in self.anchors.items() if anchor is not None and text_line >= anchor]
        return min(lines, default=0)

    def position_of(self, line: int) -> tuple[str | int | None, int]:
        """Return the position of a line relative to the thread, event or text line that it shows or follows.

        Returns:
            The owner and a distance. The owner is a thread id, the key of an event, a line number of the new text, or
            None at the top. The distance is counted from the owner's first line; below the owner, it is the negative
            distance from its last line.
        """
        owners = self._owners()
        near = next((at for at in range(line, -1, -1) if at in owners), None)
        if near is None:
            return None, line
        owner = owners[near]
        if near < line:
            return owner, near - line
        first = near
        while first and owners.get(first - 1) == owner:
            first -= 1
        return owner, line - first

    def _owners(self) -> dict[int, str | int]:
        """Return the thread, event or text line that each line shows."""
        findings = {line: f"finding {finding.place}" for line, finding in self.findings.items()}
        events = {line: event.key for line, event in self.events.items()}
        return self.anchors | self.thread_of | findings | events

    def line_at_position(self, owner: str | int | None, distance: int) -> int | None:
        """Return the line at a position from `position_of`.

        A non-negative distance stops at the last line of the owner. Return None if the owner is not shown.
        """
        lines = [line for line, other in self._owners().items() if other == owner]
        if not lines:
            return None
        return max(lines) - distance if distance < 0 else min(min(lines) + distance, max(lines))

    def first_line_of_thread(self, thread_id: str) -> int:
        """Return the first line of a thread, or the top line if the thread is not shown."""
        return min((line for line, other in self.thread_of.items() if other == thread_id), default=0)

    @property
    def threads(self) -> list[int]:
        """The first line of each thread, and of each finding of a prose check."""
        shown = self.thread_of | self.findings
        return sorted(line for line, remark in shown.items() if shown.get(line - 1) != remark)


@dataclass(frozen=True)
class PageText:
    """The compared texts of a changed page: the difference, or why the texts could not be loaded."""

    difference: PageDifference | None = None
    after: str = ""
    error: str | None = None
    note: str = ""
    """A note on an edit of the page that is not sent."""
    _lines: dict[object, DifferenceLines] = field(
        default_factory=dict[object, DifferenceLines], compare=False, repr=False
    )

    @property
    def before(self) -> str:
        """The old text; empty while it is not loaded."""
        return self.difference.before if self.difference else ""

    def lines(self, difference: PageDifference, options: RenderOptions, keep: Collection[int]) -> DifferenceLines:
        """Render the difference. The last result is cached, because every response of the service causes a redraw."""
        context = CONTEXT if options.only_changed else None
        mode, columns = options.shown_mode, options.columns
        key = mode, columns, context, frozenset(keep if options.only_changed else ())
        if key not in self._lines:
            self._lines.clear()
            self._lines[key] = difference_lines(difference, columns, mode=mode, context=context, keep=keep)
        return self._lines[key]


@dataclass(frozen=True)
class RenderOptions:
    """Options for rendering a change."""

    columns: int
    now: datetime
    only_changed: bool = False
    mode: Mode = "prose"
    unfolded: Collection[str] = ()
    opened: Collection[int] = ()
    """Lines of the new text that are shown although they are unchanged."""
    is_narrow: bool = False
    """Whether the pane is too narrow for split view."""

    @property
    def shown_mode(self) -> Mode:
        """The displayed mode: prose instead of split if the pane is too narrow."""
        return "prose" if self.mode == "split" and self.is_narrow else self.mode


def render_item(
    item: ChangedItem,
    page: PageText,
    threads: Sequence[Thread],
    options: RenderOptions,
    position: str,
    findings: Sequence[Finding] = (),
) -> RenderedChange:
    """Render the changes of an item, with threads and findings of prose checks at their text."""
    change = RenderedChange()
    if NOT_COMPARED in item.kinds:  # it is unknown which lines are unchanged
        options = replace(options, only_changed=False)
    words = WordCount(page.difference.added, page.difference.removed).phrase if page.difference else ""
    kinds = f"{kinds_text(item)} {words}".rstrip()
    summary = f"{kinds} · {position}" + (f" · {TOO_NARROW}" if options.shown_mode != options.mode else "")
    note = Span(f"   {page.note}" if page.note else "", "waiting")
    title = cut((Span(item.title, "title"), note, Span(f"   {summary}", "quiet")), options.columns)
    change.add(title, *(cut((Span(detail, "quiet"),), options.columns) for detail in item.details), ())
    placed: dict[int, list[Thread]] = {}
    deleted = [thread for thread in threads if thread.deleted_line is not None]
    for thread in threads:
        if thread in deleted and page.difference:
            continue
        if thread.line is None:
            _add_thread(change, thread, options)
            change.add(())
        else:
            placed.setdefault(thread.line, []).append(thread)
    if page.error:
        change.add((Span(page.error, "waiting"),))
    elif page.difference is None:
        text = "Loading the text …" if item.has_text else "There is no text to compare."
        change.add((Span(text, "quiet"),))
    else:
        difference = page.difference
        pairs = difference.source if options.shown_mode == "source" else difference.blocks
        checked = {finding.line - 1 for finding in findings}
        lines = page.lines(difference, options, {*placed, *checked, *options.opened})
        below: dict[int | None, list[Thread]] = {}
        for text_line, placed_threads in placed.items():
            below.setdefault(lines.below(text_line), []).extend(placed_threads)
        for thread in deleted:
            below.setdefault(_below_deleted(lines, pairs, thread.deleted_line or 0), []).append(thread)
        findings_below: dict[int | None, list[Finding]] = {}
        for finding in findings:
            findings_below.setdefault(lines.below(finding.line - 1), []).append(finding)
        _add_difference(change, lines, pairs, below, findings_below, options)
    return change


def _add_difference(
    change: RenderedChange,
    difference: DifferenceLines,
    pairs: Sequence[SegmentPair],
    below: dict[int | None, list[Thread]],
    findings: dict[int | None, list[Finding]],
    options: RenderOptions,
) -> None:
    starts = set(difference.changes)
    for number, line in enumerate(difference.lines):
        if number in starts:
            change.changes.append(len(change.lines))
        anchor = difference.anchors[number]
        if anchor is not None:
            change.anchors[len(change.lines)] = anchor
        block = difference.blocks[number]
        if block is not None:
            change.blocks[len(change.lines)] = pairs[block]
        if number in difference.folds:
            change.folds[len(change.lines)] = difference.folds[number]
        change.add(line)
        prefix = difference.beside or (Span("  "),)
        for finding in findings.get(number, ()):
            for text in _finding_lines(finding, options.columns - width(prefix)):
                change.findings[len(change.lines)] = finding
                change.add((*prefix, *text))
        for thread in below.get(number, ()):
            _add_thread(change, thread, options, prefix=prefix)
    for thread in below.get(None, ()):
        _add_thread(change, replace(thread, line=None, deleted_line=None), options)


def _finding_lines(finding: Finding, columns: int) -> list[Line]:
    """Render a finding: `§ “teh” should be “the” (typos/typo) · c suggests the change`."""
    style = _FINDING_STYLES[finding.severity]
    hint = f" · {key_for('comment')} suggests the change" if finding.fix else f" · {key_for('comment')} comments on it"
    words = (Span(f"{finding.message} ", style), Span(f"({finding.rule}){hint}", "quiet"))
    first, *others = wrap(words, max(20, columns - 2))
    return [(Span("§ ", style), *first), *((Span("  "), *line) for line in others)]


def _below_deleted(lines: DifferenceLines, pairs: Sequence[SegmentPair], deleted_line: int) -> int | None:
    """Return the last rendered line of the block that contains a line of the old text; None if no line shows the block.

    If some lines show only old text, return the last of them.
    """
    shown: list[int] = []
    for number, block in enumerate(lines.blocks):
        before = pairs[block].before if block is not None else None
        if before and before.line <= deleted_line < before.line + before.size:
            shown.append(number)
    removed = [number for number in shown if lines.anchors[number] is None]
    return max(removed or shown, default=None)


def render_conversation(
    model: ReviewModel, threads: Sequence[Thread], events: Sequence[Event], options: RenderOptions, note: str = ""
) -> RenderedChange:
    """Render the conversation about the whole change request: description, reviewers, and the events by time.

    Args:
        model: the change request.
        threads: the threads to show in full; threads on changed pages take one line each.
        events: the events to show.
        options: the options.
        note: which events are shown; empty for all.
    """
    change, request = RenderedChange(), model.request
    if request is None:
        return change
    change.add(cut((Span(sanitize(request.subject) or "(no subject)", "title"),), options.columns))
    change.add((Span(summarize_changes(model.items) or _no_changes(model), "quiet"),), ())
    if request.description:
        change.add(*comment_lines(document_text(request.description), options.columns), ())
    people = model.reviewers()
    if people:
        change.add((Span("Reviewers", "heading"),))
        for reviewer in people:
            change.reviewers[reviewer.id] = len(change.lines)
            change.add(_reviewer(reviewer, model, options.columns))
        change.add(())
    change.add(cut((Span("Timeline", "heading"), Span(f"   {note}" if note else "", "quiet")), options.columns))
    if model.steps_note:
        change.add(cut((Span(model.steps_note, "waiting"),), options.columns))
    _add_events(change, events, {thread.id for thread in threads}, model, options)
    if not threads:
        empty = f"No comments on the whole change request yet: {key_for('comment_on_all')} adds one."
        change.add((Span(empty if model.discussion.is_known else "Loading the comments …", "quiet"),))
    return change


def _add_events(
    change: RenderedChange, events: Sequence[Event], whole: Collection[str], model: ReviewModel, options: RenderOptions
) -> None:
    """Add the events in order, each as one line.

    Threads whose ids are in `whole`, and reviews with a text, are shown in full, with a blank line before and after.
    """
    titles = {item.id: item.title for item in model.all_items}
    threads = {thread.id for thread in model.discussion.threads()}
    for event in events:
        text: list[Line] = []
        if event.review and event.review.comment and event.review.comment.id not in threads:
            text = _review(event.review, options)
        if text or (event.thread and event.thread.id in whole):
            if change.lines[-1]:
                change.add(())
            change.add(*text)
            if event.thread:
                _add_thread(change, event.thread, options)
                change.add(())
        else:
            change.events[len(change.lines)] = event
            change.add(cut(event_line(event, options.now, titles), options.columns))
    if change.lines[-1]:
        change.add(())


def _no_changes(model: ReviewModel) -> str:
    if model.shown_changes is None:
        return "Loading the changes …"
    if model.since:
        return "no changes since your review"
    return (
        "no changes"
        if model.request and _is_closed(model.request)
        else f"no changes yet: {key_for('edit')} edits a page in it"
    )


def _add_thread(change: RenderedChange, thread: Thread, options: RenderOptions, prefix: Line = ()) -> None:
    columns, unfolded = options.columns - width(prefix), thread.id in options.unfolded
    for message, line in thread_lines(thread, columns, options.now, comment_with_suggestion, unfolded=unfolded):
        change.thread_of[len(change.lines)] = thread.id
        change.message_of[len(change.lines)] = message
        change.add((*prefix, *line))


def _reviewer(reviewer: Reviewer, model: ReviewModel, columns: int) -> Line:
    glyph, style = VERDICT_SIGNS[reviewer.status]
    verdict = {"approved": "approved", "changes-requested": "requested changes", "asked": "review requested"}[
        reviewer.status
    ]
    if reviewer.status == "approved" and reviewer.is_author:
        note = "  approved as the author: does not count"
        return (Span(f"{glyph} ", "quiet"), Span(reviewer.name), Span(note, "quiet"))
    if not reviewer.stale:
        return (Span(f"{glyph} ", style), Span(reviewer.name), Span(f"  {verdict}", "quiet"))
    verdict = f"{verdict} in" if reviewer.status == "changes-requested" else verdict
    changes = model.changes_since(reviewer.revision)
    titles = [item.title for item in changed_items(changes.changes)] if changes else []
    changed = f" · changed since: {join_names(titles)}" if titles else ""
    line = (Span(f"{glyph} ", style), Span(reviewer.name), Span(f"  {verdict} an older revision", "waiting"))
    return cut((*line, Span(changed, "quiet")), columns)


def _review(review: Review, options: RenderOptions) -> list[Line]:
    text = markdown_of_body(review.comment.body) if review.comment else ""
    if not text.strip():
        return []
    glyph, style = VERDICT_SIGNS.get(review.status, ("·", "quiet"))
    author = sanitize(review.reviewer.display_name).partition(" ")[0]
    when = f" {since(review.created_at, options.now)}"
    head = (Span(f"{glyph} ", style), Span(author, "strong"), Span(when, "quiet"))
    return [head, *((Span("  "), *line) for line in comment_lines(text, options.columns - 2)), ()]


def suggestion_at(change: RenderedChange, page: PageText, line: int) -> str:
    """Return a suggestion template for the text block at a rendered line; empty if there is no block."""
    anchor = change.anchor_at(line)
    block = block_at(page.after, anchor) if anchor is not None else None
    return format_suggestion(block.text) if block else ""


def text_line_at(change: RenderedChange, page: PageText, line: int) -> int | None:
    """Return the line number in the new text for a rendered line or, if it has none, for the nearest line above.

    Blank lines of the new text are skipped. Return None if there is no such line.
    """
    lines = page.after.split("\n")
    for near in range(line, -1, -1):
        number = change.anchors.get(near)
        if number is not None and number < len(lines) and lines[number].strip():
            return number
    return None
