"""The sheet that submits a review: its text, and the held comments, which can be opened, edited and dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.comments import PostComment
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.pages.comment_text import comment_words, deleted_words, find_quoted_line, split_quote
from presscheck.documents.terminal.inline_line import inline_line
from presscheck.engine.drafts import text_of
from presscheck.engine.review.comment_state import NEW
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain
from presscheck.tui.commands import key_for
from presscheck.tui.comments.actions import NOT_DISCARDED, ThreadActions
from presscheck.tui.comments.rows import first_words
from presscheck.tui.places import Place
from presscheck.tui.widgets.prompt_dialog import EXPAND, PromptDialog
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import SearchInput

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.writes.pending_writes import OutboxEntry
    from presscheck.store.drafts import DraftSlot
    from presscheck.tui.screens.review.drafts import ReviewDrafts

OTHER_LINES = 11
"""Lines of the dialog and its margins, without the list."""


@dataclass(frozen=True)
class Submission:
    """The texts and options of a sheet that submits a review.

    Attributes:
        title: returns the title for a number of held comments.
        confirm_label: the label of the key that submits.
        needs_text: whether a text is required if no comment is held.
        notes: returns the lines above the comments for a width in cells.
        expand: opens the composer with the same draft.
    """

    title: Callable[[int], str]
    confirm_label: str
    needs_text: bool
    notes: Callable[[int], Sequence[Line]]
    expand: Callable[[], None]


class SubmitSheet(PromptDialog):
    """A prompt for the text of a review, below the comments that are submitted with it.

    Args:
        drafts: the pending review and the writes of its screen.
        draft: the text of the review.
        submission: the texts and options of the sheet.

    Attributes:
        opened: the id of the comment to go to, after the user chose to open a held comment; empty otherwise.
    """

    DEFAULT_CSS = "SubmitSheet RowList { margin: 1 0 0 0; }"
    GAP = 2

    def __init__(self, drafts: ReviewDrafts, draft: DraftSlot, submission: Submission) -> None:
        super().__init__(
            "",
            draft,
            min_length=0,
            max_length=None,
            hint="message (optional)",
            confirm_label=submission.confirm_label,
            notes=submission.notes,
            expand=submission.expand,
        )
        self._drafts, self._submission, self.opened = drafts, submission, ""
        self._numbers = [entry.id for entry in drafts.review.entries()]
        self._listed = self._entries()
        """The comments at the last drawing; another process may have sent or dropped some since."""
        self._dropped: list[OutboxEntry] = []
        self._pages: dict[str, str] = {}
        """The texts of the commented pages, by id."""
        self._message = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The outbox rows of the listed comments, without comments that other programs add while the sheet is open."""
        return tuple(entry.id for entry in self._entries())

    def _entries(self) -> list[OutboxEntry]:
        return [entry for entry in self._drafts.review.entries() if entry.id in self._numbers]

    @override
    def body(self) -> ComposeResult:
        notes, *others = super().body()
        yield notes
        yield RowList(self._row, second_line=self._second_row)
        yield from others

    @override
    def on_mount(self) -> None:  # without `super`: Textual calls the handler of each class
        self.run_worker(self._load_pages())

    @override
    def on_resize(self) -> None:
        self._draw()

    def on_screen_resume(self) -> None:
        """Draw the comments again, because the composer may have edited a comment."""
        self._draw()

    def on_descendant_focus(self) -> None:
        """Show the keys of the focused part."""
        self._show()

    def on_row_list_row_selected(self) -> None:
        """Close the sheet, and go to the comment that was double-clicked."""
        self._open()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        rows, keys = self.query_one(RowList), super().keys()
        if rows.has_focus:
            keys |= {"enter": self._open, "e": self._edit, "-": self._drop, "z": self._restore}
            keys |= {"j": partial(rows.move, 1), "k": partial(rows.move, -1)}
            keys |= {"down": partial(rows.move, 1), "up": partial(rows.move, -1)}
        return keys

    @override
    def _disabled_reason(self) -> str | None:
        is_empty = not self.query_one(SearchInput).value.strip()
        if is_empty and self._submission.needs_text and not self._entries():
            return "required: no comment is held"
        return super()._disabled_reason()

    @override
    def _show(self) -> None:
        self.heading = self._submission.title(len(self._entries()))
        super()._show()
        if self._message:
            self.show_title((Span(self._message, "quiet"),))
        if self.query_one(RowList).has_focus:
            hints = {"enter": "open", "e": "edit", "-": "drop"} if self._entries() else {}
            hints |= {"z": "restore"} if self._dropped else {}
            disabled = ("ctrl+s",) if self._disabled_reason() else ()
            self.show_keys(hints | {"tab": "message", "ctrl+s": self.confirm_label}, disabled=disabled)
        else:
            reason = self._disabled_reason()
            hints = {"enter": self.confirm_label, "tab": "comments", EXPAND: "longer text", "escape": "cancel"}
            self.show_keys(hints, disabled=("enter",) if reason else ())

    def _draw(self) -> None:
        """Show the comments, and the keys that apply to them."""
        if self.is_leaving or not self.query(RowList):
            return
        self._listed = self._entries()
        rows, number = self.query_one(RowList), len(self._listed)
        room = self.size.height - OTHER_LINES - len(self._submission.notes(self.columns))
        rows.styles.height = max(2, min(2 * number, room // 2 * 2))
        rows.show(number)
        self._show()

    @property
    def _entry(self) -> OutboxEntry | None:
        """The comment under the cursor."""
        cursor = self.query_one(RowList).cursor
        return self._listed[cursor] if cursor < len(self._listed) else None

    def _open(self) -> None:
        """Close the sheet, and go to the comment under the cursor."""
        if entry := self._entry:
            call: Any = entry.call
            self.opened = f"{NEW}{entry.id}" if isinstance(call, PostComment) else call.comment_id
            self.dismiss(None)

    def _edit(self) -> None:
        if entry := self._entry:
            ThreadActions(self._drafts).edit_pending(entry.id, text_of(entry.call))

    def _drop(self) -> None:
        entry = self._entry
        if entry is None:
            return
        if self._drafts.screen.engine.drop(entry.id):
            self._dropped.append(entry)
            self._message = f"dropped “{plain(_words(entry))[:20]}”: {key_for('unsend')} restores it"
        else:
            self._message = NOT_DISCARDED
        self._draw()

    def _restore(self) -> None:
        """Hold the last dropped comment again."""
        if self._dropped:
            entry = self._dropped.pop()
            if entry.call:
                self._numbers.append(self._drafts.review.hold(entry.call, entry.agent or None).id)
            self._message = ""
            self._draw()
            self.query_one(RowList).move_to(len(self._listed) - 1)

    async def _load_pages(self) -> None:
        """Read the texts of the commented pages, to show the line number of each comment."""
        path, engine = self._drafts.path, self._drafts.screen.engine
        for page_id in {page for entry in self._entries() if (page := getattr(entry.call, "page", None))}:
            try:
                page = await engine.read(GetChangeRequestPage(**path, page_id=page_id, format="markdown"))
            except PresscheckError:
                continue  # for example offline: the row shows the quote without a line number
            self._pages[page_id] = page.markdown or ""
            self._draw()

    def _row(self, index: int, columns: int) -> Line:
        entry = self._listed[index]
        agent = (Span(f"{sanitize(entry.agent)} · ", "accent strong"),) if entry.agent else ()
        return cut((Span("✎ ", "accent"), *agent, Span(self._place_of(entry.call), "quiet")), columns)

    def _second_row(self, index: int, columns: int) -> Line:
        return cut((Span("  "), *_words(self._listed[index])), columns)

    def _place_of(self, call: Any) -> str:
        """Return the place of a comment as display text: page, line and quote, or the comment that it replies to."""
        if not isinstance(call, PostComment):
            thread = self._drafts.discussion.thread(call.comment_id)
            return f"reply to {thread.first.author}: {first_words(thread.first)}" if thread else "reply"
        if not call.page:
            return "the change request"
        quote = split_quote(text_of(call))[0]
        deleted = deleted_words(quote)
        markdown = self._pages.get(call.page, "")
        line = find_quoted_line(quote, enumerate(markdown.split("\n"))) if quote and not deleted else None
        number = "deleted text" if deleted else f"line {line + 1}" if line is not None else ""
        quoted = sanitize(deleted or quote)
        title = self._drafts.page_title(call.page) or "a page"
        return " · ".join(filter(None, (title, number, f"“{quoted}”" if quoted else "")))


async def submit_held(
    drafts: ReviewDrafts,
    name: str,
    call: Callable[[str], Operation[Any] | None],
    submission: Submission,
    initial: str = "",
) -> None:
    """Open the sheet with the held comments, and submit them with the text that the user enters.

    A draft with several lines opens in the composer instead.

    Args:
        drafts: the pending review and the writes of its screen.
        name: the name of the draft.
        call: creates the write from the text; returns None if there is nothing to send.
        submission: the texts and options of the sheet.
        initial: the initial text.
    """
    draft, screen = drafts.slot(name, initial), drafts.screen
    if "\n" in draft.text:
        submission.expand()
        return
    sheet = SubmitSheet(drafts, draft, submission)
    text = await screen.ask(sheet)
    screen.redraw()  # comments may have been dropped
    if sheet.opened:
        place = Place.review(drafts.path["space_id"], drafts.path["change_request_id"], sheet.opened)
        if screen.SCOPE == "review":
            screen.go_to(place)
        else:
            await screen.app_context.go(place)
    elif text is not None and drafts.submit(call(text), sheet.numbers):
        draft.discard()


def _words(entry: OutboxEntry) -> Line:
    """Render the text of a comment in one line."""
    return inline_line(comment_words(text_of(entry.call)))


def with_comments(title: str) -> Callable[[int], str]:
    """Return a function that adds the number of held comments to a title."""
    return lambda number: f"{title}, with {count(number, 'comment')}" if number else title
