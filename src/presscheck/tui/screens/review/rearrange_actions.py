"""Commands that drop, copy or move changes: of the marked pages, the selected page, or a single hunk."""

from __future__ import annotations

from functools import partialmethod
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.content import GetRevision
from presscheck.api.operation import ALL
from presscheck.documents.merge.hunks import hunk_of, split_hunks
from presscheck.engine.review.rearrange import (
    Kind,
    Rearrangement,
    Selection,
    carry_out,
    describe,
    plan_rearrangement,
)
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.new_request import SUBJECT, subject_draft
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.review.program_actions import ProgramActions
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.review.session import ReviewSession

NEW = "new"
"""The key of the choice that creates a change request."""
VERBS: dict[Kind, str] = {"drop": "Drop", "copy": "Copy", "move": "Move"}
DONE: dict[Kind, str] = {"drop": "dropped", "copy": "copied", "move": "moved"}


class RearrangeActions:
    """The commands that mark pages, and that drop, copy or move changes.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen, self._view = session, session.model, session.screen, session.view
        self._suggestions = SuggestionActions(session)
        self._programs = ProgramActions(session)

    def command_mark_range(self) -> None:
        """Start or end a range of marked pages. In the text of a page, start or end a range of lines to comment on."""
        if self._view.is_in_change:
            had_range = self._view.text_range is not None
            if self._view.mark_range():
                self._screen.notify(
                    f"a range starts here: {key_for('comment')} comments on it, {key_for('back')} ends it"
                )
            else:
                self._screen.notify(
                    "the range is ended" if had_range else "a range starts on a line of the page's text"
                )
            return
        is_first = self._view.items.marks.toggle_range()
        self._screen.notify(f"a range starts here: {key_for('mark_range')} ends it" if is_first else self._marks())

    def command_mark_visible(self) -> None:
        """Mark all visible pages, or remove their marks if all are marked."""
        self._view.items.marks.toggle_visible()
        self._screen.notify(self._marks())

    def command_back(self) -> None:
        """End the range of lines, or remove all marks, or cancel the program that reviews, or close the review."""
        if not (self._view.clear_range() or self._view.items.marks.clear() or self._programs.cancel()):
            self._screen.app_context.close_screen()

    def reason_act_on_marked(self) -> str | None:
        """Return why the marked pages cannot be changed; without marks, why no suggestion can be applied."""
        return self._reason() if self._marked() else self._suggestions.reason_act_on_marked()

    async def command_act_on_marked(self) -> None:
        """Ask for an action on the marked pages. Without marks, apply all suggestions."""
        pages = self._marked()
        if not pages:
            await self._suggestions.command_act_on_marked()
            return
        choices = [
            Choice("drop", "Drop their changes", "back to the text of main"),
            Choice("copy", "Copy their changes", "into another change request"),
            Choice("move", "Move their changes", "into another change request"),
        ]
        title = f"With {count(len(pages), 'page')}"
        chosen = await choose(self._screen, title, choices)
        for kind in VERBS:
            if chosen == kind:
                await self._rearrange(kind)

    def reason_drop_change(self) -> str | None:
        """Return why no change can be dropped, copied or moved: for example, there is none under the cursor."""
        if self._marked():
            return self._reason()
        item, block = self._view.item, self._view.block
        if item is None or item.noun != "page":
            return f"no page here: go to a page, or mark pages with {key_for('mark_range')}"
        if self._is_on_text:
            if self._model.since:
                return f"only the changes since your review are shown: {key_for('since_review')} shows all"
            if block is None or block.kind == "same":
                return f"no change under the cursor: {key_for('next_change')} goes to the next change"
        return self._reason()

    reason_copy_change = reason_drop_change
    reason_move_change = reason_drop_change

    async def _rearrange(self, kind: Kind) -> None:
        """Choose the target, show the effect on each page, and rearrange the changes after a confirmation."""
        source, selection, context = self._model.request, self._selection(), self._screen
        if source is None:
            return
        if selection is None:
            context.notify(f"no change under the cursor: {key_for('next_change')} goes to the next change")
            return
        if await stays_locked(context, source.space):
            return
        target, subject = None, ""
        draft = subject_draft(context.engine, source.space)
        if kind != "drop":
            requests = await self._others(source)
            key = await self._choose(kind, requests)
            if key is None:
                return
            target = next((request for request in requests if request.id == key), None)
            if target is None:
                question = "New change request: subject"
                subject = await prompt(self._screen, question, draft, max_length=SUBJECT) or ""
                if not subject:
                    return
        context.notify("comparing with main …")
        plan = await plan_rearrangement(context.engine, kind, source, selection, target)
        title = f"{VERBS[kind]} {_what(selection)}{_where(plan, subject)}?"
        lines: list[Line] = [(Span(sanitize(line)),) for line in describe(plan)]
        if not await confirm(context, title, lines, VERBS[kind]):
            return
        done = await carry_out(context.engine, plan, subject)
        if subject:
            draft.discard()
        self._view.items.marks.clear()
        context.notify(f"{DONE[kind]} {_what(selection)}" + (f" to #{done.number}" if done else ""))
        context.redraw()

    command_drop_change = partialmethod(_rearrange, "drop")
    command_copy_change = partialmethod(_rearrange, "copy")
    command_move_change = partialmethod(_rearrange, "move")

    @property
    def _is_on_text(self) -> bool:
        """Whether the cursor is in the text of an edited page, so that a command acts on one hunk."""
        item = self._view.item
        if item is None or not self._view.is_in_change or not item.has_text:
            return False
        return "edited" in item.kinds and {"added", "deleted"}.isdisjoint(item.kinds)

    def _selection(self) -> Selection | None:
        """Return the marked pages, or else the hunk or page under the cursor; None if there is no change there."""
        if pages := self._marked():
            return Selection(pages)
        item = self._view.item
        if item is None or item.noun != "page":
            return None
        if not self._is_on_text:
            return Selection((item.id,))
        block, difference = self._view.block, self._view.page.difference
        if block is None or difference is None:
            return None
        hunk = hunk_of(split_hunks(difference.before, difference.after), block)
        return Selection((item.id,), hunk) if hunk else None

    def _marked(self) -> tuple[str, ...]:
        """Return the ids of the marked pages that are still changed, in list order."""
        marked = self._view.items.marks.keys
        return tuple(item.id for item in self._model.items if item.noun == "page" and item.id in marked)

    def _marks(self) -> str:
        pages = self._marked()
        return (
            f"{count(len(pages), 'page')} marked: {key_for('act_on_marked')} acts on them"
            if pages
            else "no page is marked"
        )

    def _reason(self) -> str | None:
        return self._screen.engine.missing_reason(GetRevision) or self._session.edit_any_reason()

    async def _others(self, source: ChangeRequest) -> list[ChangeRequest]:
        """Return the other open and draft change requests of the space, newest first."""
        requests: list[ChangeRequest] = []
        for status in ("open", "draft"):
            call = ListChangeRequests(space_id=source.space, status=status, limit=ALL)
            requests += (await self._screen.engine.read(call)).items
        others = [request for request in requests if request.id != source.id]
        return sorted(others, key=lambda request: -request.number)

    async def _choose(self, kind: Kind, requests: list[ChangeRequest]) -> str | None:
        """Ask for the target. Return the id of a change request, `new`, or None if canceled."""
        choices = [Choice(NEW, "new change request …", "from main")]
        choices += [
            Choice(request.id, f"#{request.number} {sanitize(request.subject) or '(no subject)'}", request.status)
            for request in requests
        ]
        return await choose(self._screen, f"{VERBS[kind]} to", choices)


def _what(selection: Selection) -> str:
    return "this change" if selection.hunk else f"the changes to {count(len(selection.pages), 'page')}"


def _where(plan: Rearrangement, subject: str) -> str:
    """Return the end of a dialog title that names the source or the target."""
    if plan.kind == "drop":
        return f" from #{plan.source.number}"
    if plan.target:
        return f" to #{plan.target.number} {sanitize(plan.target.subject)}".rstrip()
    return f" to a new change request, {sanitize(subject)}"
