"""The review: what changes on the left, the change with its threads beside it, above both where the request stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now
from presscheck.documents.spans import Line, Span, cut
from presscheck.tui.screens.review_bodies import Bodies
from presscheck.tui.screens.review_dossier import Dossier
from presscheck.tui.screens.review_header import by_line, compared_line, merge_line, state_line
from presscheck.tui.screens.review_moves import WIDE
from presscheck.tui.screens.review_page import Laid, Manner, Page, lay_conversation, lay_page
from presscheck.tui.screens.review_pages import conversation_line, page_line
from presscheck.tui.screens.review_placing import Placing
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.review_changes import Changed


class Review(Placing):
    """A change request, to be read, discussed, judged and merged.

    Args:
        request: the change request, or the id of its space.
        number: its id or its number, where only the space is given.
    """

    CSS_PATH = "review.tcss"

    FOOTER = ("next_change", "next_page", "next_thread", "mark", "comment", "merge")

    def __init__(self, request: ChangeRequest | str, number: str = "") -> None:
        super().__init__()
        self._given = None if isinstance(request, str) else request
        self._place = (request, number) if isinstance(request, str) else (request.space, request.id)
        self.laid = Laid()
        self._shown = ""
        self.only_changed = False
        self.mode = "prose"
        self.unfolded: set[str] = set()
        self.opened: dict[str, set[int]] = {}

    def title_line(self) -> Line:
        """The space, the number, the subject."""
        request = self.known.request
        space = display_text(self.known.space.title) if self.known.space else ""
        subject = display_text(request.subject) or "(no subject)" if request else "…"
        number = str(request.number) if request else ""
        return (Span(f" {space} › " if space else " ", "quiet"), Span(f"{number} ", "quiet"), Span(subject, "strong"))

    def body(self) -> ComposeResult:
        """Where it stands; the list; the change."""
        yield StatusLine(self.style_for, id="state")
        yield StatusLine(self.style_for, id="merge")
        with Horizontal():
            yield RowList(self._page_row, self.style_for, id="pages")
            yield RowList(self._line, self.style_for, id="change")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        self.known = Dossier(self.desk, *self._place)
        self.bodies = Bodies(self)
        self.known.request = self._given
        question = self.known.first_question()
        seen = self.desk.known(question)
        if seen:
            self.known.request = seen.value
        for one in self.known.questions():
            stored = self.desk.known(one)
            self.known.take(one, stored.value if stored else None)
        self.known.read_marks()
        super().on_mount()
        self.query_one("#pages").focus()
        self.point_at_first()
        self.subscribe(self.desk.watch(question), self.take_request, group="request")
        self.ask_all()

    def on_resize(self) -> None:
        """Side by side, or one behind the other."""
        super().on_resize()
        self.set_class(self.size.width < WIDE, "narrow")
        self.redraw()

    def command_open(self) -> None:
        """From the list to the change; there, unfold what did not change, or fold or unfold a resolved thread."""
        folded = self.laid.folds.get(self.query_one("#change", RowList).cursor)
        if self.query_one("#pages").has_focus:
            self.command_next_pane()
        elif folded and self.thing:
            self.opened.setdefault(self.thing.id, set()).update(folded)
            self.show_change()
        elif one := self.thread_here():
            self.unfolded ^= {one.id}
            self.show_change()

    @property
    def thing(self) -> Changed | None:
        """What the cursor of the list stands on; None is the conversation."""
        at = self.query_one("#pages", RowList).cursor
        return self.known.things[at - 1] if 0 < at <= len(self.known.things) else None

    @property
    def page(self) -> Page:
        """The text of it."""
        return self.bodies.page(self.thing) if self.thing else Page()

    @on(RowList.RowPointed)
    def row_pointed(self, event: RowList.RowPointed) -> None:
        """Another thing is under the cursor."""
        if event.rows.id == "pages" and (self.thing.id if self.thing else "") != self._shown:
            self.show_change(afresh=True)
            self.fill()

    def redraw(self) -> None:
        """Draw all of it anew from what is known."""
        if not self.is_mounted or self.is_leaving:
            return
        request, columns = self.known.request, self.size.width
        if request:
            collected = len(self.collected) if self.collects else None
            known = self.known
            state = state_line(
                request, known.reviewers(), known.progress(), known.open_threads(), columns - 24, collected
            )
            trouble = (Span(self.trouble, "waiting"),) if self.trouble else ()
            self.query_one("#state", StatusLine).show(
                (Span(" "), *state), trouble or by_line(request, self.known.me, now())
            )
            standing = (Span(" "), *merge_line(self.known.standing(), columns - 2))
            self.query_one("#merge", StatusLine).show(standing, compared_line(self.known.since, now()))
        else:
            words = self.trouble or "Asking the service for this change request …"
            self.query_one("#state", StatusLine).show((Span(f" {words}", "waiting"),))
        self.query_one("#pages", RowList).show(len(self.known.things) + 1)
        self.show_why()
        self.show_list()
        self.refresh_status_bars()
        self.show_change()

    def show_change(self, *, afresh: bool = False) -> None:
        """Lay the change out anew; `afresh` goes to its top."""
        rows = self.query_one("#change", RowList)
        threads, thing = self.threads_shown_on(self.thing), self.thing
        # a narrow change is laid out before it is seen for the first time, and takes the whole width
        columns = self.size.width if self.has_class("narrow") else rows.size.width
        is_crowded = self.size.width < WIDE
        opened = self.opened.get(thing.id, ()) if thing else ()
        manner = Manner(max(20, columns - 2), now(), self.only_changed, self.mode, self.unfolded, opened, is_crowded)
        stood = self.laid.stands_for(rows.cursor)
        if thing:
            position = f"{self.known.things.index(thing) + 1} of {len(self.known.things)}"
            position += " since your review" if self.known.since else ""
            hidden = len(self.threads_on(thing)) - len(threads)
            position += f" · {hidden} thread{'s' if hidden != 1 else ''} not shown: g t" if hidden else ""
            self.laid = lay_page(thing, self.bodies.page(thing), threads, manner, position)
        else:
            self.laid = lay_conversation(self.known, threads, manner)
        self._shown = thing.id if thing else ""
        rows.show(len(self.laid.lines), cursor=0 if afresh else self.laid.found(*stood))
        for one in threads:
            if one.reply_count and not one.first.unsent:
                self.ask_for(self.known.replies_to(one.id))

    def _page_row(self, index: int, columns: int) -> Line:
        threads = [one for one in self.known.threads() if not one.resolved]
        if index == 0:
            pages = {one.id for one in self.known.things}
            return conversation_line(columns, sum(one.page not in pages for one in threads))
        thing = self.known.things[index - 1]
        return page_line(
            thing,
            columns,
            viewed=self.known.is_viewed(thing),
            words=self.bodies.words(thing),
            open_threads=sum(one.page == thing.id for one in threads),
        )

    def _line(self, index: int, columns: int) -> Line:
        return cut(self.laid.lines[index], columns) if index < len(self.laid.lines) else ()
