"""The screen with the hits of a text or file in a space. The chosen hits are replaced in a change request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.documents.pages.replacement import PageText, apply_hits
from presscheck.engine.replacement.application import Applied, IncompleteApplication, PageEdit, apply_edits, edits_of
from presscheck.engine.replacement.file_search import FileQuery
from presscheck.engine.replacement.space_search import Place as SearchedPlace
from presscheck.engine.replacement.space_search import search_again, search_space
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.new_request import SUBJECT
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.replace.hit_list import HitList, Row, draw_row
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import confirm, prompt
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.spaces import Space
    from presscheck.tui.screens.replace.task import ReplaceTask


class ReplaceScreen(BaseScreen):
    """The hits of a text or file in all pages of a space, on main or in a change request.

    Args:
        space: the space.
        request: the change request; None for main.
        task: the query, and its dialogs and messages.
        show_request: shows the space in the change request that was created or edited.
    """

    DEFAULT_CSS = "ReplaceScreen #query { margin: 1 0; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("send", "mark", "open", "find_replace", "find_here", "close")
    SCOPE = "browse"

    def __init__(
        self,
        space: Space,
        request: ChangeRequest | None,
        task: ReplaceTask,
        show_request: Callable[[ChangeRequest], None],
    ) -> None:
        super().__init__()
        self._space, self._request, self._replacing, self._show_request = space, request, task, show_request
        self.list = HitList()
        self._progress = "Reading the pages …"
        self._error: PresscheckError | None = None
        self._is_sending = False
        self._range_start: int | None = None

    @override
    def title_line(self) -> Line:
        head: Line = ()
        if self._request:
            subject = sanitize(self._request.subject) or "(no subject)"
            head = (Span(f" #{self._request.number} {subject} ", "accent strong"), Span("›", "quiet"))
        title = (Span(f" {sanitize(self._space.title)}", "title"), Span(f" › {self._replacing.title}", "quiet"))
        return (*head, *title)

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="query")
        with Vertical():
            yield EmptyState()
            yield RowList(self._row, key=self._key, has_mark_column=False)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._start()

    @property
    def rows(self) -> RowList:
        """The list of pages, hits and places that are not changed."""
        return self.query_one(RowList)

    @property
    def _place(self) -> SearchedPlace:
        return SearchedPlace(self._space.id, self._request.id if self._request else None)

    def _start(self) -> None:
        self._range_start = None
        self.run(self._search, group="search", exclusive=True)

    async def _search(self) -> None:
        """Search all pages. If the query is invalid, show its error and ask for another query."""
        self._progress, self._error = "Reading the pages …", None
        self._draw()
        try:
            hits = await search_space(self.engine, self._place, self._replacing.query, self._report)
        except PresscheckError as error:
            self._error = error
            self.list.clear()
        else:
            self.list.show(hits)
        finally:
            self._progress = ""
        self._draw()
        if isinstance(self._error, InvalidArgument):
            await self._change(self._error)

    def _report(self, progress: str) -> None:
        self._progress = progress
        self._draw()

    def command_find_replace(self) -> Awaitable[None]:
        """Change the query."""
        return self._change(None)

    def reason_find_replace(self) -> str | None:
        """Return why the query cannot be changed: the change request is being written."""
        return "the change request is being written" if self._is_sending else None

    async def _change(self, error: InvalidArgument | None) -> None:
        if await self._replacing.change(self, error):
            self._start()

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        if not self._is_sending:
            self._start()

    def _draw(self) -> None:
        if not self.is_mounted or self.is_leaving:
            return
        rows, empty, hits = self.rows, self.query_one(EmptyState), self.list.hits
        rows.show(len(self.list.rows))
        rows.display = bool(self.list.rows) and not self._progress
        if rows.display:
            empty.hide()
            if not rows.has_focus and not self.find.is_open:
                rows.focus()
        elif self._progress:
            empty.show_message(Message(self._progress, "", "loading"))
        elif isinstance(self._error, InvalidArgument):
            empty.show_message(Message("Could not search", self._error.message, "failed"))
        elif hits:
            empty.show_empty(*self._replacing.empty(hits.searched))
        else:
            loaded = Loaded[object](None, self._error)
            empty.show_message(message_for(loaded, "pages", " of this space", online=self.engine.status.online))
        self.query_one("#query", StatusLine).show(self._replacing.line(), self._summary())
        self.refresh_status_bars()

    def _summary(self) -> Line:
        """Render the number of chosen hits, and the numbers of places not changed and pages not searched."""
        hits, chosen = self.list.hits, self.list.chosen()
        if hits is None or self._progress:
            return ()
        number = sum(map(len, chosen.values()))
        shown = count(number, "hit") if number == hits.count else f"{number:,} of {count(hits.count, 'hit')}"
        spans = [Span(f"{shown} on {count(len(chosen), 'page')} chosen", "quiet")] if hits.count else []
        if hits.is_offline:
            spans.append(Span("offline: searched the cache", "waiting"))
        if hits.kept:
            spans.append(Span(f"{count(len(hits.kept), 'place')} not changed", "waiting"))
        if hits.unread:
            spans.append(Span(f"{count(len(hits.unread), 'page')} not searched", "waiting"))
        return tuple(span for part in spans for span in (Span(" · ", "quiet"), part))[1:]

    def _row(self, number: int, columns: int) -> Line:
        return draw_row(self.list, self.list.rows[number], columns)

    def _key(self, number: int) -> object:
        return self.list.rows[number].key if number < len(self.list.rows) else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None while searching."""
        number = self.rows.cursor
        return self.list.rows[number] if number < len(self.list.rows) and not self._progress else None

    def _no_hit(self) -> str | None:
        return None if self.row and self.row.page else "no hit here"

    reason_open = reason_mark = reason_mark_range = reason_mark_visible = _no_hit

    def command_mark(self) -> None:
        """Toggle the hit and go to the next row; on the row of a page, toggle all its hits."""
        row, number = self.row, self.rows.cursor
        self.list.toggle((number,))
        if row and row.hit:
            self.rows.move(1)
        self._draw()

    def command_mark_range(self) -> None:
        """Start a range or, if a range was started, toggle all hits from its start to the cursor."""
        if self._range_start is None:
            self._range_start = self.rows.cursor
            self.notify(f"a range starts here: {key_for('mark_range')} ends it")
            return
        first, last = sorted((self._range_start, self.rows.cursor))
        self._range_start = None
        hits = (number for number in range(first, min(last + 1, len(self.list.rows))) if self.list.rows[number].hit)
        self.list.toggle(hits)
        self._draw()

    def command_mark_visible(self) -> None:
        """Toggle all hits, including hits outside of the visible rows."""
        self.list.toggle(number for number, row in enumerate(self.list.rows) if row.hit)
        self._draw()

    @on(LineView.LinkChosen)
    def checkbox_clicked(self) -> None:
        """Toggle the clicked hit or page."""
        self.list.toggle((self.rows.cursor,))
        self._draw()

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Update the keys in the footer for the current row."""
        self.refresh_status_bars()

    async def command_open(self) -> None:
        """Show the changes of the page by its chosen hits or, if none is chosen, by all of its hits."""
        page = self.row.page if self.row else None
        if page is None:
            return
        hits = self.list.chosen_of(page) or page.hits
        columns = max(20, self.size.width - 2)
        lines = await asyncio.to_thread(_difference, page.text, apply_hits(page.text, hits), columns)
        heading = f"{sanitize(page.page.title)}: {count(len(hits), 'hit')} replaced"
        self.app_context.push_screen(TextScreen(heading, lines))

    def reason_send(self) -> str | None:
        """Return why nothing can be replaced: for example, no hit is chosen, or the user is offline."""
        status, permissions = self.engine.status, self._space.permissions
        request = self._request
        is_forbidden = (
            "edit" in permissions.model_fields_set and not permissions.edit and self._space.edit_mode != "locked"
        )
        reasons = (
            (self._progress, "still searching"),
            (self._is_sending, "the change request is being written"),
            (not self.list.chosen(), f"no hit is chosen: {key_for('mark')} chooses one"),
            (status.read_only, "this profile is read-only"),
            (not status.online, "you are offline, and edits cannot be queued"),
            (is_forbidden, "you need the level edit in this space"),
            (
                request and request.status in ("merged", "archived"),
                f"the change request is {sanitize(request.status) if request else ''}",
            ),
        )
        missing = self.engine.missing_reason(EditChangeRequestContent)
        return missing or next((reason for is_so, reason in reasons if is_so), None)

    reason_act_on_marked = reason_send

    def reason_close(self) -> str | None:
        """Return why the screen cannot be closed: the change request is being written."""
        return "the change request is being written" if self._is_sending else None

    reason_back = reason_close

    async def command_send(self) -> None:
        """Replace the chosen hits, in the current or in a new change request."""
        hits, chosen = self.list.hits, self.list.chosen()
        if hits is None:
            return
        edits = edits_of(hits.pages, chosen)
        number = f"{count(sum(map(len, chosen.values())), 'hit')} on {count(len(edits), 'page')}"
        if await stays_locked(self, self._space.id):
            return
        subject = await self._confirm(number)
        if subject is None or self.list.hits is not hits:
            return
        self._is_sending = True
        self._draw()
        try:
            applied = await self._apply(edits, subject)
        finally:
            self._is_sending = False
            self._draw()
        if applied.edited:
            await self._show_edited(applied)
        elif applied.request:
            await self._finish(applied.request, number)

    command_act_on_marked = command_send

    async def _confirm(self, number: str) -> str | None:
        """Ask for the subject of a new change request or, in a change request, for a confirmation.

        Returns:
            The subject, an empty text after a confirmation, or None if canceled.
        """
        request = self._request
        if request is None:
            proposal, notes = self._replacing.subject(), self._replacing.notes()
            return await prompt(
                self,
                f"Replace {number} in a new change request: subject",
                DraftSlot(self.engine.outbox, self._subject_key, proposal),
                max_length=SUBJECT,
                confirm_label="replace",
                notes=lambda columns: [line for note in notes for line in wrap(note, columns)],
            )
        subject = sanitize(request.subject) or "(no subject)"
        lines: list[Line] = [(Span(f"In #{request.number} {subject}."),), *self._replacing.notes()]
        title = f"Replace {number}?"
        return "" if await confirm(self, title, lines, "Replace") else None

    async def _apply(self, edits: list[PageEdit], subject: str) -> Applied:
        try:
            query = self._replacing.query
            file = query if isinstance(query, FileQuery) else None
            return await apply_edits(self.engine, self._place, self._request, edits, subject, file=file)
        except IncompleteApplication as error:  # the remaining pages can be tried again in the same change request
            self._use(error.request)
            self._start()
            raise

    async def _show_edited(self, applied: Applied) -> None:
        """Show the current hits of pages that other users have edited. Hits that were left out stay left out."""
        if applied.request and self._request is None:
            self._use(applied.request)
        hits = self.list.hits
        if hits is None:
            return
        self.list.show(await search_again(self.engine, self._place, hits, applied.edited))
        pages = count(len(applied.edited), "page was", "pages were")
        self.notify(f"{pages} edited in the meantime: nothing was replaced. Check the hits, and replace again")
        self._draw()

    def _use(self, request: ChangeRequest) -> None:
        """Switch to a change request that was created here."""
        self._request = request
        self._show_request(request)

    async def _finish(self, request: ChangeRequest, number: str) -> None:
        """Remove the drafts, close the screen, and open the review of the change request."""
        app, outbox = self.app_context, self.engine.outbox
        for key in (self._subject_key, self._replacing.draft):
            outbox.save_draft(key, "")
        self._show_request(request)
        app.pop_screen()
        opening = app.go(Place.review(request.space, request.id))
        app.notify(f"replaced {number} in #{request.number}")
        await opening

    @property
    def _subject_key(self) -> str:
        return f"replace subject {self._space.id}"


def _difference(before: PageText, after: PageText, columns: int) -> list[Line]:
    """Render the changes to a page."""
    lines: list[Line] = []
    for name in ("title", "description"):
        old, new = (sanitize(getattr(page, name)) for page in (before, after))
        if old != new:
            lines += [(Span(f"{name}: ", "quiet"), Span(old, "removed strike"), Span(f" {new}", "added underline")), ()]
    difference = compare(before.markdown or "", after.markdown or "")
    return [*lines, *difference_lines(difference, columns, mode="source").lines]
