"""The outbox: unsent changes, the history of sent changes, and drafts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.spaces import GetSpace
from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.engine.members import people_in
from presscheck.engine.writes.descriptions import describe, describe_name
from presscheck.engine.writes.page_merge import CONFLICT, page_edit
from presscheck.engine.writes.typed_texts import typed_text_in, with_text
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.commands import key_for
from presscheck.tui.comments.actions import NOT_DISCARDED
from presscheck.tui.places import Place
from presscheck.tui.screens.outbox.draft_actions import DraftActions
from presscheck.tui.screens.outbox.draft_list import DraftList
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.undo import undo_sent
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import legend
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import ClickableLines, StatusLine

if TYPE_CHECKING:
    from presscheck.api.users import User
    from presscheck.engine.drafts import Draft
    from presscheck.engine.writes.history import HistoryEntry
    from presscheck.engine.writes.pending_writes import OutboxEntry
    from presscheck.store.outbox import Row

_GLYPHS = {
    "waiting": ("◷", "waiting"),
    "sending": ("→", "link"),
    "collected": ("✎", "accent"),
    "refused": ("✗", "removed"),
    "parked": ("⚠", "waiting"),
}
STATES = {
    "waiting": "pending",
    "collected": "in your pending review: submitting it sends this",
    "refused": "failed",
    "parked": "unreadable",
}
"""Descriptions of the states of unsent changes."""
_ENDED_GLYPHS = {
    "sent": ("✓", "added"),
    "undone": ("←", "link"),
    "refused": ("✗", "removed"),
    "unsent": ("·", "quiet"),
}
ENDED_STATES = {"sent": "sent", "undone": "undone", "refused": "failed", "unsent": "undone before it was sent"}
"""Descriptions of the states of changes in the history."""
View = Literal["unsent", "history", "drafts"]
VIEWS: tuple[View, ...] = ("unsent", "history", "drafts")
"""The views in tab order. Their names are also the click targets of the tabs."""
TITLES = ("Unsent", "History", "Drafts")
LISTS: dict[View, str] = {"unsent": "#waiting", "history": "#history", "drafts": "#drafts"}
WIDTH = 100
"""Maximum width of a difference, in cells."""
MOST_SHOWN = 12
"""Maximum number of drafts that a confirmation lists."""
ELSEWHERE = "only unsent changes: 1 shows them"
NO_DRAFT = "there are no drafts"


class OutboxScreen(BaseScreen):
    """A screen with three views: unsent changes, oldest first; the history of changes and drafts, newest first."""

    SCOPE = "outbox"
    LEGEND = legend("◷✎✓✗⚠")
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "edit", "retry", "unsend", "next_pane", "close")
    AGENT_FOOTER: ClassVar[tuple[str, ...]] = ("open", "retry", "edit", "delete", "act_on_marked", "close")
    HISTORY_FOOTER: ClassVar[tuple[str, ...]] = ("open", "unsend", "copy_text", "find_here", "next_pane", "close")

    DRAFTS_FOOTER: ClassVar[tuple[str, ...]] = ("open", "delete", "copy_text", "find_here", "next_pane", "close")

    def __init__(self) -> None:
        super().__init__()
        self.waiting: tuple[OutboxEntry, ...] = ()
        self.history: tuple[HistoryEntry, ...] = ()
        self._held_up: dict[int, Row] = {}
        self._opened: set[int] = set()
        """The edits of pages whose difference was shown. An agent that edits its draft again makes another one."""
        self.view: View = "unsent"
        self.draft_list = DraftList(self, lambda: self.when_shown("drafts", self._update))
        self._draft_actions = DraftActions(self, self.draft_list, self._edit_change)
        self._stop_listening: Any = None

    @property
    def shows_history(self) -> bool:
        """Whether the history is shown."""
        return self.view == "history"

    @override
    def title_line(self) -> Line:
        return (Span(" Outbox", "strong"), Span(f"  {len(self.waiting)}" if self.waiting else "", "quiet"))

    @override
    def place(self) -> Place:
        return Place("outbox", "Outbox")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="tabs")
        yield EmptyState()
        waiting, history = self.waiting_at, self.history_at
        yield RowList(self._row, second_line=self._state_row, key=lambda at: waiting(at).id, id="waiting")
        yield RowList(self._history_row, second_line=self._outcome, key=lambda at: history(at).id, id="history")
        drafts = self.draft_list
        yield RowList(drafts.row, second_line=drafts.second_row, key=drafts.key, id="drafts")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._stop_listening = self.engine.on_status(lambda _: self.when_shown("status", self._update))
        self._show_view("unsent")

    @override
    def on_screen_resume(self) -> None:
        """Reload the drafts, which may have changed on other screens."""
        super().on_screen_resume()
        if self.is_mounted:
            self._update()

    @override
    def on_unmount(self) -> None:
        super().on_unmount()
        if self._stop_listening:
            self._stop_listening()

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return {"retry": "send draft", "act_on_marked": "all drafts"} if self._agent else {}

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        if self._agent:
            return self.AGENT_FOOTER
        return {"unsent": self.FOOTER, "history": self.HISTORY_FOOTER, "drafts": self.DRAFTS_FOOTER}[self.view]

    def waiting_at(self, at: int) -> OutboxEntry:
        """Return the unsent change in a row."""
        return self.waiting[at]

    def history_at(self, at: int) -> HistoryEntry:
        """Return the change in a row of the history."""
        return self.history[at]

    def reason_unsend(self) -> str | None:
        """Return why the change cannot be undone: for example, the list is empty, or the cursor is on a draft."""
        if self.view == "drafts":
            return f"a draft was not sent: {key_for('delete')} discards it"
        if self.shows_history:
            past = self._past
            return "the history is empty" if past is None else past.reason and sanitize(past.reason)
        return self._unsent_reason()

    def _unsent_reason(self) -> str | None:
        current = self._current
        if current is None:
            return "the outbox is empty" if self.view == "unsent" else ELSEWHERE
        return "it is being sent" if current.state == "sending" else None

    def reason_retry(self) -> str | None:
        """Return why the change cannot be sent again: it has not failed, and does not wait for a failed change.

        For the draft of an agent, return why it cannot be sent.
        """
        current = self._current
        if self._agent:
            return "this profile is read-only" if self.engine.status.read_only else None
        if current and (current.state == "refused" or current.id in self._held_up):
            return None
        return "only failed changes, and those behind them, can be sent again"

    def reason_act_on_marked(self) -> str | None:
        """Return why the drafts of an agent cannot be sent together: the change is another one, or the profile is
        read-only.
        """
        return self.reason_retry() if self._agent else "only drafts of agents"

    def reason_delete(self) -> str | None:
        """Return why the change or draft cannot be discarded: there is none, it is being sent, or it was sent."""
        return self._draft_reason() if self.view == "drafts" else self._unsent_reason()

    def _draft_reason(self) -> str | None:
        return None if self._draft else NO_DRAFT

    def reason_edit(self) -> str | None:
        """Return why the change or draft cannot be edited: there is none, it has no text, or it is being sent."""
        if self.view == "drafts":
            return self._draft_reason()
        current = self._current
        if current and current.has_base and not self._agent:
            return self._unsent_reason()
        return self._unsent_reason() or (
            None if current and typed_text_in(current.call) else "it contains no text to edit"
        )

    def command_left(self) -> None:
        """Show the view on the left."""
        self._show_view(VIEWS[max(0, VIEWS.index(self.view) - 1)])

    def command_right(self) -> None:
        """Show the view on the right."""
        self._show_view(VIEWS[min(VIEWS.index(self.view) + 1, len(VIEWS) - 1)])

    def command_tab(self) -> None:
        """Show the view with the number that was pressed."""
        if self.last_key in ("1", "2", "3"):
            self._show_view(VIEWS[int(self.last_key) - 1])

    def command_next_pane(self) -> None:
        """Show the next view. After the last view, start again with the first."""
        self._show_view(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    def command_previous_pane(self) -> None:
        """Show the previous view. Before the first view, continue with the last."""
        self._show_view(VIEWS[VIEWS.index(self.view) - 1])

    def command_open(self) -> Awaitable[None] | None:
        """Show an unsent change in full, go to the place of a change in the history, or continue a draft."""
        if self._draft:
            return self._draft_actions.open(self._draft)
        if self._current:
            return self._show_details(self._current)
        return self._go_to(self._past) if self._past else None

    async def _show_details(self, entry: OutboxEntry) -> None:
        """Show the details of an unsent change; for an edit of a page, with the difference."""
        place = self.engine.place_name(entry.call) if entry.call else ""
        lines, row = _details(entry, self._state_of(entry), place), self.engine.outbox.row(entry.id)
        if row and row.is_edit:
            # seconds for a long page that was rewritten
            lines += [(), *await asyncio.to_thread(_difference, row, entry)]
            self._opened.add(entry.id)
        self.app_context.push_screen(TextScreen(change_name(entry), lines))

    def _edit_change(self, number: int) -> bool:
        """Edit the text of an unsent change by its number. Returns False if it is no longer unsent."""
        at = next((at for at, entry in enumerate(self.waiting) if entry.id == number), None)
        if at is None:
            return False
        self._show_view("unsent")
        self.query_one("#waiting", RowList).move_to(at)
        self.command_edit()
        return True

    def command_retry(self) -> Awaitable[None] | None:
        """Send a failed change again, or the draft of an agent.

        A change that waits for a failed change is sent before the failed change.
        """
        current = self._current
        if current and self._agent:
            return self._send_draft(current)
        if current and not self.engine.retry(current.id) and not self.engine.send_now(current.id):
            self.notify("it needs the failed change: retry that, or discard both")
        return None

    async def _send_draft(self, current: OutboxEntry) -> None:
        """Send the draft of an agent; an edit of a page only after its difference was shown."""
        row = self.engine.outbox.row(current.id)
        if row is None or row.state != "collected":
            self.notify("this draft was just changed, sent or discarded")
        elif current.has_base and current.id not in self._opened:
            await self._show_details(current)
            self.notify(f"not sent yet: read it, then {self.app_context.keymap.label('retry')} sends it")
        else:
            self.engine.release((current.id,))
            self.notify(f"sending the draft of {sanitize(current.agent)}")

    async def command_act_on_marked(self) -> None:
        """Send or discard all drafts of the agent that wrote the draft under the cursor, after a confirmation."""
        agent = self._agent
        drafts = [entry for entry in self.waiting if entry.state == "collected" and entry.agent == agent]
        number = count(len(drafts), "draft")
        name = sanitize(agent)
        choices = (
            Choice("send", f"Send {number} of {name}", letter="s"),
            Choice("discard", f"Discard {number} of {name}", letter="d"),
        )
        chosen = await choose(self, f"All drafts of {name}", choices)
        if chosen is None:
            return
        verb = "Send" if chosen == "send" else "Discard"
        lines: list[Line] = [(Span(f"{change_name(entry)}  "), Span(text_of(entry), "quiet")) for entry in drafts]
        if len(lines) > MOST_SHOWN:
            lines[MOST_SHOWN:] = [(Span(f"and {len(lines) - MOST_SHOWN} more", "quiet"),)]
        if not await confirm(self, f"{verb} {number} of {name}?", lines, verb):
            return
        numbers = [entry.id for entry in drafts]
        if chosen == "send":
            self.engine.release(numbers)
        else:
            for each in numbers:
                self.engine.drop(each, only_held=True)
        self.notify(f"{'sending' if chosen == 'send' else 'discarded'} {number} of {name}")

    def command_edit(self) -> Awaitable[None] | None:
        """Edit the text of a change, or continue a draft. The change keeps its position; a failed change is retried."""
        current = self._current
        if self._draft:
            return self._draft_actions.open(self._draft)
        if current and current.has_base and not self._agent and isinstance(current.call, EditChangeRequestContent):
            return self._draft_actions.open_edit(current.call)
        if current is None or current.call is None or not (typed_text := typed_text_in(current.call)):
            return None
        call, (field, text) = current.call, typed_text
        draft = DraftSlot(self.engine.outbox, f"outbox {current.id}", text)

        def submit(typed: str) -> None:
            changed, row = with_text(call, field, typed), self.engine.outbox.row(current.id)
            is_changed = self.engine.rewrite(current.id, changed)
            if not is_changed and current.has_base and row and row.state == "collected":
                is_changed = self.engine.replace_edit(row, changed)
            if not is_changed:
                raise PresscheckError("already sent: your text is saved as a draft")
            draft.discard()

        space_id = getattr(call, "space_id", "") if field != "subject" else ""
        people = partial(self._people, space_id) if space_id else None
        self.app_context.push_screen(Composer(change_name(current), draft, people=people, submit=submit))
        return None

    async def _people(self, space_id: str) -> list[User]:
        space = await self.engine.read(GetSpace(space_id=space_id))
        people = await people_in(self.engine, space.organization, ()) if space.organization else []
        return [person.user for person in people]

    async def command_unsend(self) -> None:
        """Undo the change: discard an unsent change, or send the inverse of a sent change."""
        if self._past:
            await undo_sent(self, self._past, shows_place=True)
        else:
            await self._discard("Undo this change?", "Undo")

    async def command_delete(self) -> None:
        """Discard the change or the draft."""
        if self._draft:
            await self._draft_actions.discard(self._draft)
            self._update()
        else:
            await self._discard("Discard this change?", "Discard")

    def command_copy_text(self) -> None:
        """Copy the text of the draft or change. For a change without text, copy its name."""
        if self._draft:
            self._draft_actions.copy(self._draft)
            return
        call, name = (
            (self._past.call, self._past.description)
            if self._past
            else (self._current.call, change_name(self._current))
            if self._current
            else (None, "")
        )
        typed_text = typed_text_in(call)
        if name:
            self.app_context.copy_to_clipboard(sanitize(typed_text[1] if typed_text else name, lines=True))
            self.notify("copied")

    command_copy = command_copy_text

    @on(ClickableLines.TargetClicked)
    def tab_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Show the view of the clicked tab."""
        for view in VIEWS:
            if view == event.target:
                self._show_view(view)

    async def _discard(self, question: str, action: str) -> None:
        current = self._current
        if current is None:
            return
        facts: list[Line] = [
            (Span(change_name(current)),),
            (Span("It will not be sent; the history keeps its text.", "waiting"),),
        ]
        if await confirm(self, question, facts, action):
            self.notify("discarded" if self.engine.drop(current.id) else NOT_DISCARDED)

    async def _go_to(self, entry: HistoryEntry) -> None:
        """Go to the place of a change: its thread, page, change request, site or space."""
        place = entry.place
        if place.site and not place.space:
            await self.app_context.go(Place.site(place.site))
        elif place.space:
            page = place.page if place.request or place.comment else None
            await self.app_context.go(Place.content(place.space, page, place.request, place.comment or ""))
        else:
            self.notify("this change has no place to go to")

    @property
    def _current(self) -> OutboxEntry | None:
        at = self.query_one("#waiting", RowList).cursor
        return self.waiting[at] if at < len(self.waiting) and self.view == "unsent" else None

    @property
    def _agent(self) -> str:
        """The agent whose draft is under the cursor; empty if there is none."""
        current = self._current
        return current.agent if current and current.state == "collected" else ""

    @property
    def _past(self) -> HistoryEntry | None:
        at = self.query_one("#history", RowList).cursor
        return self.history[at] if at < len(self.history) and self.shows_history else None

    @property
    def _draft(self) -> Draft | None:
        rows = self.draft_list.drafts
        at = self.query_one("#drafts", RowList).cursor
        return rows[at] if at < len(rows) and self.view == "drafts" else None

    def _show_view(self, view: View) -> None:
        self.view = view
        for name, rows in LISTS.items():
            self.query_one(rows).display = name == view
        self._update()
        if view == "drafts":
            self.draft_list.watch()
        self.query_one(LISTS[view]).focus()

    def _update(self) -> None:
        self.waiting, self.history = self.engine.waiting(), self.engine.history()
        self._held_up = self.engine.outbox.held_up()
        self.draft_list.read()
        self.query_one("#waiting", RowList).show(len(self.waiting))
        self.query_one("#history", RowList).show(len(self.history))
        self.query_one("#drafts", RowList).show(len(self.draft_list.drafts))
        self._show_tabs()
        empty_state = self.query_one(EmptyState)
        if {"unsent": self.waiting, "history": self.history, "drafts": self.draft_list.drafts}[self.view]:
            empty_state.hide()
        elif self.view == "drafts":
            empty_state.show_empty("No drafts.", "What you type and do not send is listed here until it is sent.")
        elif self.shows_history:
            empty_state.show_empty(
                "No changes yet.", f"What you send is listed here for 30 days; {key_for('unsend')} undoes it."
            )
        else:
            empty_state.show_empty("Everything was sent.", "Changes made offline are listed here until they are sent.")
        self.refresh_status_bars()

    def _show_tabs(self) -> None:
        numbers = (len(self.waiting), len(self.history), len(self.draft_list.drafts))
        tabs = zip(TITLES, numbers, VIEWS, strict=True)
        line = [Span(" ")]
        for title, number, target in tabs:
            style = "accent strong" if target == self.view else "quiet"
            line += [Span(f"{title} {number}" if number else title, style, target), Span("   ")]
        self.query_one("#tabs", StatusLine).show(tuple(line))

    def _row(self, at: int, columns: int) -> Line:
        entry = self.waiting[at]
        glyph, style = _GLYPHS.get(entry.state, ("·", "quiet"))
        age = span(now().timestamp() - entry.created_at)
        agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
        head = (Span(f"{glyph} ", style), *agent, Span(change_name(entry)), Span(f"  {text_of(entry)}", "quiet"))
        return (*pad(cut(head, columns - 8), columns - 8), Span(f"{age:>7}", "quiet"))

    def _state_row(self, at: int, columns: int) -> Line:
        entry = self.waiting[at]
        state = self._state_of(entry)
        text = f"{state}: {entry.error}" if entry.error else state
        if entry.has_base and (entry.error or "").startswith(CONFLICT):
            text += f"; {key_for('edit')} shows both versions"
        return (Span(f"  {sanitize(text)}", "removed" if entry.state == "refused" else "quiet"),)

    def _state_of(self, entry: OutboxEntry) -> str:
        """Return the state of a change in words, including the failed change that it waits for."""
        if entry.agent and entry.state == "collected":
            send, discard = map(self.app_context.keymap.label, ("retry", "delete"))
            return f"draft of an agent: {send} sends it, {discard} discards it"
        state, failed = STATES.get(entry.state, entry.state), self._held_up.get(entry.id)
        name = next((change_name(other) for other in self.waiting if failed and other.id == failed.id), None)
        return f"{state} behind “{name}”, which failed ({key_for('retry')} sends this first)" if name else state

    def _history_row(self, at: int, columns: int) -> Line:
        """Render the description, place and age of a change in the history."""
        entry = self.history[at]
        glyph, style = _GLYPHS["waiting"] if entry.is_being_undone else _ENDED_GLYPHS[entry.state]
        age = span(now().timestamp() - entry.ended_at)
        agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
        head = (
            Span(f"{glyph} ", style),
            *agent,
            Span(sanitize(entry.description)),
            Span(f"  {sanitize(entry.place_name)}", "quiet"),
        )
        return (*pad(cut(head, columns - 8), columns - 8), Span(f"{age:>7}", "quiet"))

    def _outcome(self, at: int, columns: int) -> Line:
        """Render the state of a change in the history, and whether it can be undone."""
        entry = self.history[at]
        undone = next((other for other in self.history if other.id == entry.undoes), None) if entry.undoes else None
        parts = [ENDED_STATES[entry.state]]
        if undone:
            parts.append(f"undo of “{undone.description}”")
        if entry.error:
            parts.append(entry.error)
        elif entry.state == "sent":
            parts.append(f"z: {entry.inverse[:1].lower()}{entry.inverse[1:]}" if entry.inverse else entry.reason or "")
        text = sanitize(" · ".join(filter(None, parts)))
        return cut((Span(f"  {text}", "removed" if entry.state == "refused" else "quiet"),), columns)


def _difference(row: Row, entry: OutboxEntry) -> list[Line]:
    """Render the difference that an edit of a page makes."""
    edit = page_edit(entry.call)
    before, after = (
        (row.base or {}).get("markdown", ""),
        (edit.document.markdown if edit and edit.document else "") or "",
    )
    lines = difference_lines(compare(before, after), WIDTH, mode="source").lines
    return [(Span(" "), *line) for line in lines]


def change_name(entry: OutboxEntry) -> str:
    """Return a short description of a change: `add comment`, `resolve thread`."""
    return sanitize(describe(entry.call) if entry.call else describe_name(entry.name))


def text_of(entry: OutboxEntry) -> str:
    """Return the text of a change in a single line; for an edit of a page, its title and the first changed line.

    Returns an empty string for a change without text.
    """
    if entry.base:
        return sanitize(f"{entry.base.get('title', '')}: {entry.changed_line}")
    typed_text = typed_text_in(entry.call)
    return sanitize(typed_text[1]) if typed_text else ""


def _details(entry: OutboxEntry, state: str, place: str) -> list[Line]:
    when = datetime.fromtimestamp(entry.created_at, UTC).astimezone()
    request = f"{entry.call.method()} {entry.call.wire_path()}" if entry.call else "this version cannot read it"
    title = (entry.base or {}).get("title", "")
    facts = (
        ("what", change_name(entry)),
        ("where", place),
        ("page", title if not place.endswith(f"› {title}") else ""),
        ("agent", sanitize(entry.agent)),
        ("state", state),
        ("why", entry.error or ""),
        ("since", f"{when:%H:%M:%S %d %b}"),
        ("request", request),
    )
    lines: list[Line] = [()]
    lines += [(Span(f" {key:<9}", "quiet"), Span(sanitize(value))) for key, value in facts if value]
    if not entry.has_base and (typed_text := typed_text_in(entry.call)):
        lines += [(), *((Span(f" {line}"),) for line in sanitize(typed_text[1], lines=True).split("\n"))]
    return lines
