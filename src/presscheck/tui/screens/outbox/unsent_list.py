"""The tab of the outbox with the unsent changes, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.spaces import GetSpace
from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.engine.members import people_in
from presscheck.engine.writes.descriptions import describe, describe_name
from presscheck.engine.writes.page_merge import CONFLICT, page_edit
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.engine.writes.typed_texts import typed_text_in, with_text
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.comments.actions import NOT_DISCARDED
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.users import User
    from presscheck.store.outbox import Row
    from presscheck.tui.screens.outbox.draft_actions import DraftActions
    from presscheck.tui.ui.screen import BaseScreen

GLYPHS = {
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
WIDTH = 100
"""Maximum width of a difference, in cells."""
MOST_SHOWN = 12
"""Maximum number of drafts that a confirmation lists."""


class UnsentList(List[OutboxEntry]):
    """The unsent changes, and the drafts of agents.

    Args:
        screen: the outbox screen.
        drafts: the actions on drafts.
    """

    name, nouns = "Unsent", "changes"
    footer = ("open", "edit", "retry", "unsend", "next_pane", "close")
    AGENT_FOOTER: ClassVar[tuple[str, ...]] = ("open", "retry", "edit", "delete", "act_on_marked", "close")
    AGENT_TITLES: ClassVar[Mapping[str, str]] = {"retry": "send draft", "act_on_marked": "all drafts"}

    def __init__(self, screen: BaseScreen, drafts: DraftActions) -> None:
        self._screen, self._drafts = screen, drafts
        self._entries: tuple[OutboxEntry, ...] = ()
        self._held_up: dict[int, Row] = {}
        self._opened: set[int] = set()
        """The ids of page edits whose difference was shown. A draft that its agent edits again has a new id."""
        super().__init__((Column("change", _change), Column("age", _age, 6)), second_line=self._state)

    @override
    @property
    def loaded(self) -> Loaded[Sequence[OutboxEntry]]:
        return Loaded(self._entries)

    @override
    def empty(self) -> Message:
        return Message("Everything was sent.", "Changes made offline are listed here until they are sent.")

    def read(self) -> None:
        """Read the unsent changes from the store."""
        self._entries, self._held_up = self._screen.engine.waiting(), self._screen.engine.outbox.held_up()

    @property
    def agent(self) -> str:
        """The agent whose draft is under the cursor; empty if there is none."""
        current = self.current
        return current.agent if current and current.state == "collected" else ""

    def reason_unsend(self) -> str | None:
        """Return why the change cannot be undone or discarded: there is none, or it is being sent."""
        if self.current is None:
            return "the outbox is empty"
        return "it is being sent" if self.current.state == "sending" else None

    reason_delete = reason_unsend

    def reason_retry(self) -> str | None:
        """Return why the change cannot be sent again: it has not failed, and does not wait for a failed change.

        For the draft of an agent, return why it cannot be sent.
        """
        current = self.current
        if self.agent:
            return "this profile is read-only" if self._screen.engine.status.read_only else None
        if current and (current.state == "refused" or current.id in self._held_up):
            return None
        return "only failed changes, and those behind them, can be sent again"

    def reason_act_on_marked(self) -> str | None:
        """Return why no drafts can be sent together: none is under the cursor, or the profile is read-only."""
        return self.reason_retry() if self.agent else "only drafts of agents"

    def reason_edit(self) -> str | None:
        """Return why the change cannot be edited: there is none, it has no text, or it is being sent."""
        current = self.current
        if reason := self.reason_unsend():
            return reason
        has_text = current and ((current.has_base and not self.agent) or typed_text_in(current.call))
        return None if has_text else "it contains no text to edit"

    def command_open(self) -> Awaitable[None] | None:
        """Show the change in full."""
        return self._show_details(self.current) if self.current else None

    async def _show_details(self, entry: OutboxEntry) -> None:
        """Show the details of an unsent change; for an edit of a page, with the difference."""
        place = self._screen.engine.place_name(entry.call) if entry.call else ""
        lines, row = _details(entry, self._state_of(entry), place), self._screen.engine.outbox.row(entry.id)
        if row and row.is_edit:
            # seconds for a long page that was rewritten
            lines += [(), *await asyncio.to_thread(_difference, row, entry)]
            self._opened.add(entry.id)
        self._screen.app_context.push_screen(TextScreen(change_name(entry), lines))

    def command_retry(self) -> Awaitable[None] | None:
        """Send a failed change again, or the draft of an agent.

        A change that waits for a failed change is sent before the failed change.
        """
        current, engine = self.current, self._screen.engine
        if current and self.agent:
            return self._send_draft(current)
        if current and not engine.retry(current.id) and not engine.send_now(current.id):
            self._screen.notify("it needs the failed change: retry that, or discard both")
        return None

    async def _send_draft(self, current: OutboxEntry) -> None:
        """Send the draft of an agent; an edit of a page only after its difference was shown."""
        row = self._screen.engine.outbox.row(current.id)
        if row is None or row.state != "collected":
            self._screen.notify("this draft was just changed, sent or discarded")
        elif current.has_base and current.id not in self._opened:
            await self._show_details(current)
            self._screen.notify(
                f"not sent yet: read it, then {self._screen.app_context.keymap.label('retry')} sends it"
            )
        else:
            self._screen.engine.release((current.id,))
            self._screen.notify(f"sending the draft of {sanitize(current.agent)}")

    async def command_act_on_marked(self) -> None:
        """Send or discard all drafts of the agent that wrote the draft under the cursor, after a confirmation."""
        agent = self.agent
        drafts = [entry for entry in self._entries if entry.state == "collected" and entry.agent == agent]
        number = count(len(drafts), "draft")
        name = sanitize(agent)
        choices = (
            Choice("send", f"Send {number} of {name}", letter="s"),
            Choice("discard", f"Discard {number} of {name}", letter="d"),
        )
        chosen = await choose(self._screen, f"All drafts of {name}", choices)
        if chosen is None:
            return
        verb = "Send" if chosen == "send" else "Discard"
        lines: list[Line] = [(Span(f"{change_name(entry)}  "), Span(text_of(entry), "quiet")) for entry in drafts]
        if len(lines) > MOST_SHOWN:
            lines[MOST_SHOWN:] = [(Span(f"and {len(lines) - MOST_SHOWN} more", "quiet"),)]
        if not await confirm(self._screen, f"{verb} {number} of {name}?", lines, verb):
            return
        numbers = [entry.id for entry in drafts]
        if chosen == "send":
            self._screen.engine.release(numbers)
        else:
            for each in numbers:
                self._screen.engine.drop(each, only_held=True)
        self._screen.notify(f"{'sending' if chosen == 'send' else 'discarded'} {number} of {name}")

    def command_edit(self) -> Awaitable[None] | None:
        """Edit the text of a change. The change keeps its position; a failed change is retried."""
        current = self.current
        if current and current.has_base and not self.agent and isinstance(current.call, EditChangeRequestContent):
            return self._drafts.open_edit(current.call)
        if current is None or current.call is None or not (typed_text := typed_text_in(current.call)):
            return None
        call, (field, text) = current.call, typed_text
        draft = DraftSlot(self._screen.engine.outbox, f"outbox {current.id}", text)

        def submit(typed: str) -> None:
            changed, row = with_text(call, field, typed), self._screen.engine.outbox.row(current.id)
            is_changed = self._screen.engine.rewrite(current.id, changed)
            if not is_changed and current.has_base and row and row.state == "collected":
                is_changed = self._screen.engine.replace_edit(row, changed)
            if not is_changed:
                raise PresscheckError("already sent: your text is saved as a draft")
            draft.discard()

        space_id = getattr(call, "space_id", "") if field != "subject" else ""
        people = partial(self._people, space_id) if space_id else None
        self._screen.app_context.push_screen(Composer(change_name(current), draft, people=people, submit=submit))
        return None

    async def _people(self, space_id: str) -> list[User]:
        space = await self._screen.engine.read(GetSpace(space_id=space_id))
        people = await people_in(self._screen.engine, space.organization, ()) if space.organization else []
        return [person.user for person in people]

    def command_unsend(self) -> Awaitable[None]:
        """Discard the change, after a confirmation."""
        return self._discard("Undo this change?", "Undo")

    def command_delete(self) -> Awaitable[None]:
        """Discard the change, after a confirmation."""
        return self._discard("Discard this change?", "Discard")

    def command_copy_text(self) -> None:
        """Copy the text of the change or, without a text, its name."""
        if self.current:
            typed_text = typed_text_in(self.current.call)
            text = typed_text[1] if typed_text else change_name(self.current)
            self._screen.app_context.copy_to_clipboard(sanitize(text, lines=True))
            self._screen.notify("copied")

    command_copy = command_copy_text

    async def _discard(self, question: str, action: str) -> None:
        current = self.current
        if current is None:
            return
        facts: list[Line] = [
            (Span(change_name(current)),),
            (Span("It will not be sent; the history keeps its text.", "waiting"),),
        ]
        if await confirm(self._screen, question, facts, action):
            self._screen.notify("discarded" if self._screen.engine.drop(current.id) else NOT_DISCARDED)

    def _state(self, entry: OutboxEntry) -> Line:
        state = self._state_of(entry)
        text = f"{state}: {entry.error}" if entry.error else state
        if entry.has_base and (entry.error or "").startswith(CONFLICT):
            text += f"; {key_for('edit')} shows both versions"
        return (Span(f"  {sanitize(text)}", "removed" if entry.state == "refused" else "quiet"),)

    def _state_of(self, entry: OutboxEntry) -> str:
        """Return the state of a change in words, including the failed change that it waits for."""
        if entry.agent and entry.state == "collected":
            send, discard = map(self._screen.app_context.keymap.label, ("retry", "delete"))
            return f"draft of an agent: {send} sends it, {discard} discards it"
        state, failed = STATES.get(entry.state, entry.state), self._held_up.get(entry.id)
        name = next((change_name(other) for other in self._entries if failed and other.id == failed.id), None)
        return f"{state} behind “{name}”, which failed ({key_for('retry')} sends this first)" if name else state


def _change(entry: OutboxEntry) -> Line:
    glyph, style = GLYPHS.get(entry.state, ("·", "quiet"))
    agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
    return (Span(f"{glyph} ", style), *agent, Span(change_name(entry)), Span(f"  {text_of(entry)}", "quiet"))


def _age(entry: OutboxEntry) -> Line:
    return (Span(span(now().timestamp() - entry.created_at), "quiet"),)


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
    """Return a short description of a change: `add comment`, `delete page “Tokens”`."""
    return sanitize(describe(entry.call, entry.target) if entry.call else describe_name(entry.name))


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
