"""What a review does to the change request itself: reviewers, edits, update, merge; what is final asks first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import (
    MergeChangeRequest,
    PullChangeRequest,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.organizations import ListMembers
from presscheck.api.spaces import GetSpace
from presscheck.desk.standing import checks
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span, plain
from presscheck.tui.screens.page_editor import edit_page
from presscheck.tui.screens.review_changes import counted
from presscheck.tui.screens.review_details import Details
from presscheck.tui.screens.review_header import check_lines, merge_line, verdicts
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.documents.spans import Line


class Acts(Details):
    """Ask reviewers, edit, update, merge, archive, unsend."""

    _why: TextScreen | None = None

    def reason_merge(self) -> str | None:
        """Why it cannot be merged."""
        if not self.desk.status.online:
            return "offline: a merge cannot wait"
        standing = self.known.standing()
        return standing.reasons[0] if standing.certainty == "no" else self.reason_comment()

    async def command_merge(self) -> None:
        """Say what a merge will do, and merge; not where somebody else moved something while that was read."""
        request, found, sides = self.known.request, self.known.forecast, self.sides()
        collides = request is not None and found is not None and bool(found.conflicts)
        facts = [*self._facts()[:-1], *self.forecast_lines(), *self._facts()[-1:]]
        number = str(request.number) if request and collides else None
        title = "Merge into the live content?"
        if not await self.ask(ConfirmDialog(title, facts, "Merge", self.style_for, type_to_confirm=number)):
            return
        if await self.moved_since(sides):
            self.notify("somebody changed it just now: nothing was merged; m says what a merge comes to now")
        else:
            self.send(MergeChangeRequest(**self.known.path))

    def command_why(self) -> None:
        """Say each thing that a merge depends on, and who can put it right."""
        self._why = TextScreen("What a merge depends on", self._checks())
        self.app_context.push_screen(self._why)

    def show_why(self) -> None:
        """Say it anew, where it is read just now."""
        if self._why:
            self._why.show(self._checks())

    def _checks(self) -> list[Line]:
        facts = self.known.facts()
        return [(), *check_lines(checks(facts) if facts else ())]

    def reason_pull(self) -> str | None:
        """Why it cannot be updated."""
        request = self.known.request
        if request and request.status in ("merged", "archived"):
            return f"it is {request.status}"
        if request and not request.outdated:
            return "it is up to date with main"
        return "offline: an update cannot wait" if not self.desk.status.online else self.reason_comment()

    def command_pull(self) -> None:
        """Say what an update will do, and update."""
        lines: list[Line] = [(Span("Takes what changed in main into this change request."),)]
        lines.append((Span("Where both changed the same words, both will stand in the text.", "quiet"),))
        lines += self.forecast_lines()
        self._ask_first("Update from main?", "Update", PullChangeRequest(**self.known.path), lines)

    def reason_archive(self) -> str | None:
        """Why it cannot be archived."""
        request = self.known.request
        return "it is merged" if request and request.status == "merged" else self.reason_comment()

    def command_archive(self) -> None:
        """Archive it, or open it again."""
        request = self.known.request
        is_archived = request is not None and request.status == "archived"
        title, act = ("Open it again?", "Reopen") if is_archived else ("Archive it?", "Archive")
        call = UpdateChangeRequest(**self.known.path, status="open" if is_archived else "archived")
        self._ask_first(title, act, call, self._facts()[:2])

    reason_reviewers = reason_archive

    async def command_reviewers(self) -> None:
        """Ask people for a review, or ask them no longer."""
        space = self.known.space or await self.desk.read(GetSpace(space_id=self.known.path["space_id"]))
        members = await self.desk.read(ListMembers(organization_id=space.organization, limit=1000))
        asked = {one.id for one in self.known.reviewers() or () if one.asked}
        choices = [
            Choice(one.user.id, display_text(one.user.display_name), one.role or "guest") for one in members.items
        ]
        chosen = await self.ask(Picker("Who reviews it?", choices, self.style_for, many=True, chosen=asked))
        if chosen is None:
            return
        new = tuple(one for one in chosen if one not in asked)
        if new:
            self.send(RequestReviewers(**self.known.path, users=new))
            if self.known.request and self.known.request.status == "draft":
                self.send(UpdateChangeRequest(**self.known.path, status="open"))  # who is asked must find it
        for gone in {choice.key for choice in choices} & asked - set(chosen):
            self.send(RemoveRequestedReviewer(**self.known.path, user_id=gone))

    def reason_edit(self) -> str | None:
        """Why neither the page nor what one said can be edited."""
        if self.own_message_here():
            return self.reason_comment()
        return self.reason_edit_page()

    def reason_edit_page(self) -> str | None:
        """Why the page cannot be edited."""
        thing = self.thing
        if thing is None or not thing.has_text or "deleted" in thing.kinds:
            return "no page here that can be edited"
        if not self.desk.status.online:
            return "offline: an edit cannot wait"
        return self.finished() or self.reason_comment()

    async def command_edit(self) -> None:
        """Edit what one said where the cursor stands on it, else the page's Markdown."""
        if self.own_message_here():
            await self.change_message()
        elif self.thing:
            await edit_page(self, self.known.path, self.thing.id)

    def finished(self) -> str | None:
        """Why nothing in it changes any more."""
        request = self.known.request
        return f"it is {request.status}" if request and request.status in ("merged", "archived") else None

    def command_unsend(self) -> None:
        """Take back the newest write that waits; its text is a draft again."""
        rows = self.known.waiting()
        is_back = bool(rows) and self.take_back(rows[-1].id)
        self.notify("taken back; its text is a draft" if is_back else "nothing waits to be sent here")
        self.redraw()

    def _facts(self) -> list[Line]:
        request = self.known.request
        subject = display_text(request.subject) if request else ""
        people = self.known.reviewers() or ()
        said = plain(verdicts(people)).strip() or "nobody gave a verdict"
        progress = self.known.progress()
        missing = f"; ⚠ {progress.missing}" if progress and progress.missing else ""
        return [
            (Span(subject, "strong"),),
            (Span(counted(self.known.things) or "no changes"), Span(missing, "waiting")),
            (Span(f"Verdicts  {said}", "quiet"),),
            merge_line(self.known.standing(), 72),
            (Span("There is no way back.", "waiting"),),
        ]

    def _ask_first(self, title: str, act: str, call: Operation[Any], lines: list[Line]) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.send(call)

        self.app_context.push_screen(ConfirmDialog(title, lines, act, self.style_for), answered)
