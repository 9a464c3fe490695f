"""A changed page: its text difference, and comments on its lines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from typing_extensions import override

from presscheck.api.comments import PostComment
from presscheck.api.content_changes import SemanticChange
from presscheck.cli.linear.place import Linear, Place, Siblings, Verb
from presscheck.cli.linear.request_model import placed, read_model
from presscheck.cli.linear.review_texts import hold_or_send, review_draft
from presscheck.cli.linear.thread_places import ThreadPlace
from presscheck.cli.linear.words import drafts_of, excerpt, thread_row
from presscheck.documents.diff.page_diff import CONTEXT, compare
from presscheck.documents.diff.segments import table_cells
from presscheck.documents.diff.spoken_lines import SpokenLine, spoken_lines
from presscheck.documents.pages.comment_text import (
    quote,
    quote_cell,
    quote_deleted,
    quote_lines,
    split_quote,
    strip_markup,
)
from presscheck.engine.drafts import comment_name
from presscheck.engine.review.changes import ChangedItem, kinds_text
from presscheck.engine.review.merge_readiness import comment_reason
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.page_texts import page_texts
from presscheck.engine.review.pending_review import PendingReview, draft_key
from presscheck.engine.review.threads import Thread
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

_WHOLE = ("page_created", "page_deleted")
"""Types of changes that affect the whole page."""


class PagePlace(Place):
    """A changed item: for a page, the difference of its text."""

    def __init__(self, linear: Linear, model: ReviewModel, item: ChangedItem) -> None:
        super().__init__(linear)
        self._model, self._item = model, item
        self._pending = PendingReview(self.engine, model.path["change_request_id"])
        self._context: int | None = CONTEXT
        self._lines: tuple[SpokenLine, ...] = ()
        self._threads: list[Thread] = []

    @property
    @override
    def name(self) -> str:
        return "page" if self._item.noun == "page" else "change"

    @override
    async def load(self) -> Sequence[str]:
        path = self._model.path
        self._model, _ = await read_model(self.session, path["space_id"], path["change_request_id"])
        key = (self._item.noun, self._item.id)
        item = next((item for item in self._model.items if (item.noun, item.id) == key), None)
        if item is None:
            raise InvalidArgument("page", "the change request does not change it any more")
        self._item = item
        request, change = self._model.request, self._change()
        lines = [f"{item.title}: {kinds_text(item)}{', viewed' if self._model.is_viewed(item) else ''}"]
        lines += [sanitize(detail) for detail in item.details]
        if request is None or change is None or not item.has_text:
            return lines
        before, after = await page_texts(self.session, request, change)
        difference = compare(before or "", after or "")
        self._lines = spoken_lines(difference, context=None)
        lines.append(f"{count(difference.added, 'word')} added, {count(difference.removed, 'word')} removed.")
        shown = spoken_lines(difference, context=self._context)
        lines += [_numbered(line) for line in shown] or ["The text is the same."]
        threads = [thread for thread in self._model.discussion.threads() if thread.page == item.id]
        self._threads = placed(threads, before or "", after or "")
        lines += [self._thread_line(thread) for thread in self._threads]
        return [*lines, *self._draft_lines()]

    def _draft_lines(self) -> list[str]:
        """Return a line for each draft of a comment on this page, with the line of the page that continues it."""
        request = self._model.path["change_request_id"]
        own = drafts_of(self.engine, request)
        drafts = [draft for draft in own if draft.name == "page" and draft.target.split(" ")[0] == self._item.id]
        if not drafts:
            return []
        places = {draft_key(request, comment_name(self._item.id)): "the page"}
        for line in self._lines:
            with suppress(InvalidArgument):  # a line without words
                key = draft_key(request, comment_name(self._item.id, self._quote(str(line.number))))
                places.setdefault(key, f"line {line.number}")
        return [
            f"Your draft on {places.get(draft.stored.key, 'a text that is not in the page')}: {excerpt(draft.readable)}"
            for draft in drafts
        ]

    def _change(self) -> SemanticChange | None:
        """Return the creation or deletion of the page, or else its first change, or None."""
        changes = self._model.shown_changes
        own = (
            [change for change in changes.changes if change.page and change.page.id == self._item.id] if changes else []
        )
        return next((change for change in own if change.type in _WHOLE), own[0] if own else None)

    def _thread_line(self, thread: Thread) -> str:
        number = self._line_of(thread)
        return f"Comment on {f'line {number}' if number else 'the page'}: {thread_row(thread)}"

    def _line_of(self, thread: Thread) -> int:
        """Return the number of the line with a thread; 0 for a thread on the whole page."""
        for line in self._lines:
            if line.pair is None:
                continue
            side, at = (line.pair.after, thread.line)
            if at is None:
                side, at = line.pair.before, thread.deleted_line
            if side and at is not None and side.line <= at < side.line + side.size:
                return line.number
        return 0

    @override
    def verbs(self) -> tuple[Verb, ...]:
        is_page = self._item.noun == "page"
        may_comment = comment_reason(self._model.space) or self.engine.write_reason(PostComment, "a comment")
        may_comment = may_comment if is_page else "only pages have comments"
        viewed = "no longer viewed" if self._model.is_viewed(self._item) else "viewed"
        keys = [(item.noun, item.id) for item in self._model.items]
        other = "Print the whole text." if self._context is not None else "Print only the lines near changes."
        return (
            Verb("comment", "c", "Comment on a line, or on the page.", self._comment, "[LINE]", may_comment),
            Verb("viewed", "v", f"Mark as {viewed}.", self._mark_viewed),
            Verb("all", "", other, self._all),
            *Siblings("change", keys, (self._item.noun, self._item.id), self._sibling).verbs(),
        )

    @override
    async def open(self, number: int) -> Place:
        """Return the first thread on a line."""
        ids = [thread.id for thread in self._threads]
        thread = next((thread for thread in self._threads if self._line_of(thread) == number), None)
        if thread is None:
            raise InvalidArgument(str(number), f"no comment is on this line. comment {number} writes one")
        path = self._model.path
        return ThreadPlace(self.linear, path["space_id"], path["change_request_id"], thread.id, ids)

    async def _comment(self, typed: str) -> Place | None:
        quoted = self._quote(typed) if typed else ""
        name = comment_name(self._item.id, quoted)
        draft = review_draft(self.engine, self._model.path, name, page=self._item.title, quote=quoted)
        where = f"line {typed} of {self._item.title}: “{quoted}”" if typed else self._item.title
        text = await self.linear.compose(f"Comment on {where}", draft)
        if text is not None:
            call = self._model.discussion.post(f"{quote_lines(quoted)}{text}", self._item.id)
            await hold_or_send(self.linear, self._pending, call, draft)
            await self.load()
        return None

    def _quote(self, typed: str) -> str:
        """Return the words of a line that a comment on it quotes.

        Raises:
            InvalidArgument: there is no such line, or it has no words.
        """
        line = next((line for line in self._lines if str(line.number) == typed), None)
        if line is None or line.pair is None:
            lines = f"choose a line from 1 to {len(self._lines)}"
            raise InvalidArgument(typed, lines if self._lines else "this page has no lines: comment without a number")
        segment, of = (line.pair.after, quote) if line.pair.after else (line.pair.before, quote_deleted)
        text = sanitize(segment.text.strip(), lines=True) if segment else ""
        if segment and segment.kind == "row" and of is quote:
            quoted = quote_cell(table_cells(text), 0)
        else:
            quoted = of(strip_markup(text.split("\n")[0]))
        if not quoted:
            raise InvalidArgument(typed, "this line has no words to quote: choose a line near it")
        return split_quote(quoted)[0]

    async def _mark_viewed(self, _: str) -> Place | None:
        is_viewed = not self._model.is_viewed(self._item)
        self._model.mark_viewed(self._item, viewed=is_viewed)
        self.linear.terminal.print([f"{self._item.title}: {'viewed' if is_viewed else 'not viewed'}."])
        return None

    async def _all(self, _: str) -> Place | None:
        self._context = None if self._context is not None else CONTEXT
        return self

    def _sibling(self, index: int) -> Place:
        return PagePlace(self.linear, self._model, self._model.items[index])


def _numbered(line: SpokenLine) -> str:
    text = " ".join(line.text.split())
    return f"{line.number}. {text}" if line.number else f"({text})"
