"""One act on all the rows of the inbox that are marked: asked for, said beforehand, with a receipt for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presscheck.api.change_requests import (
    REVIEWS,
    ChangeRequest,
    PullChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListMembers
from presscheck.desk.merge_train import MERGE_TRAIN, couple, left_over
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span
from presscheck.tui.screens.inbox_rows import KnownRows
from presscheck.tui.screens.inbox_triage import Triaging, counted
from presscheck.tui.screens.merge_train import MergeTrain
from presscheck.tui.screens.receipts import Receipt, Receipts, path_of
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.sheet import Sheet

CallOf = Callable[[ChangeRequest], Operation[Any]]
DRAFT = "inbox comment"
"""The key of the draft of what is said to all."""
ACTS = (
    Choice("approve", "Approve", "a verdict on each"),
    Choice("reviewers", "Ask for reviews", "from the people that you choose"),
    Choice("comment", "Comment", "the same words on each"),
    Choice("pull", "Update from main", "where main moved"),
    Choice("merge", "Merge, one after another", "each updated first; stops at the first that cannot be"),
    Choice("archive", "Archive", "they can be opened again"),
    Choice("done", "Done", "put away until something happens"),
)


CALLS: dict[str, CallOf] = {
    "approve": lambda one: SubmitReview(**path_of(one), status="approved"),
    "pull": lambda one: PullChangeRequest(**path_of(one)),
    "archive": lambda one: UpdateChangeRequest(**path_of(one), status="archived"),
}
"""What is said to each, where nothing else has to be asked."""


class Acting(Triaging):
    """Approve, ask for reviews, comment, update, archive: what is marked."""

    organization_id = ""
    known_rows: KnownRows
    _receipts: Receipts | None = None

    def on_mount(self) -> None:
        """Say so where a merge train was stopped."""
        super().on_mount()
        if self.desk.outbox.recall(MERGE_TRAIN):
            self.notify("a merge train was stopped: A goes on with it, or forgets it")

    def reason_act_on_marked(self) -> str | None:
        """Nothing is marked, and no train was stopped."""
        if self.rows.marked or self.desk.outbox.recall(MERGE_TRAIN):
            return None
        return "nothing is marked: space marks a row, * all that is seen"

    async def command_act_on_marked(self) -> None:
        """Ask what to do with what is marked, say what will happen, do it, and show what came of each."""
        if not self.rows.marked:
            await self._go_on()
            return
        requests = self.meant()
        lacks = self.desk.lacks(REVIEWS)
        title = f"With {counted(requests)}{'; this service has no reviews' if lacks else ''}"
        acts = [one for one in ACTS if one.key != "approve" or not lacks]
        chosen = await self.ask(Picker(title, acts, self.style_for, ranked=False))
        if not chosen:
            return
        if chosen[0] == "done":
            self.command_done()
            return
        if chosen[0] == "merge":
            await self._merge(requests)
            return
        call = await self._call_for(chosen[0])
        if call is None:
            return
        title = next(one.label for one in ACTS if one.key == chosen[0])
        lines = [(Span(f"{one.number} {display_text(one.subject)}"),) for one in requests]
        if await self.ask(Sheet(f"{title}: {counted(requests)}?", lines, title, self.style_for)):
            self.desk.outbox.save_draft(DRAFT, "")
            self._show(Receipts(title, [Receipt(one, call(one)) for one in requests]))

    def on_screen_resume(self) -> None:
        """What was done is marked no longer; what failed still is."""
        super().on_screen_resume()
        if self._receipts:
            self.rows.marked -= self._receipts.done
            self._receipts = None
            self.rearrange()

    def _show(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self.app_context.push_screen(receipts)

    async def _merge(self, requests: Sequence[ChangeRequest]) -> None:
        """Merge them in the order of the rows."""
        lines: list[Line] = [line for one in requests for line in self._with_doubts(one)]
        lines += [(), (Span("Each is updated from main and looked at again; there is no way back.", "waiting"),)]
        if await self.ask(Sheet(f"Merge {counted(requests)}, one after another?", lines, "Merge", self.style_for)):
            self._show(MergeTrain(requests))

    def _with_doubts(self, request: ChangeRequest) -> list[Line]:
        """A change request, and below it what speaks against merging it now."""
        refused = self.known_rows.facts(request).refused or ()
        said = [f"{display_text(', '.join(refused))} asked for changes"] if refused else []
        if request.comments:
            said.append(f"{request.comments} open comment{'s' if request.comments != 1 else ''}")
        line: Line = (Span(f"{request.number} {display_text(request.subject)}"),)
        return [line, (Span(f"   {', '.join(said)}", "waiting"),)] if said else [line]

    async def _go_on(self) -> None:
        """Go on with the train that was stopped, or forget it."""
        requests = await left_over(self.desk)
        if not requests:
            couple(self.desk.outbox, ())
            self.notify("nothing is left of the merge train: its change requests are not there any more")
            return
        first = f"{requests[0].number} {display_text(requests[0].subject)}"
        choices = [Choice("go", "Go on with it", counted(requests)), Choice("forget", "Forget it", "nothing is merged")]
        chosen = await self.ask(Picker(f"A merge train stands before {first}", choices, self.style_for))
        if chosen == ("go",):
            self._show(MergeTrain(requests))
        elif chosen == ("forget",):
            couple(self.desk.outbox, ())

    async def _call_for(self, act: str) -> CallOf | None:
        """What is said to each change request; None where the person thought better of it."""
        if act == "reviewers":
            return await self._asking_people()
        if act == "comment":
            text = await self.ask(self._composer())
            if not text:
                return None
            return lambda one: PostComment(**path_of(one), body=Document(markdown=text))
        return CALLS[act]

    async def _asking_people(self) -> CallOf | None:
        members = await self.desk.read(ListMembers(organization_id=self.organization_id, limit=1000))
        people = [
            Choice(one.user.id, display_text(one.user.display_name), one.role or "guest") for one in members.items
        ]
        users = await self.ask(Picker("Who reviews them?", people, self.style_for, many=True))
        return (lambda one: RequestReviewers(**path_of(one), users=users)) if users else None

    def _composer(self) -> Composer:
        def save(text: str) -> None:
            self.desk.outbox.save_draft(DRAFT, text)

        return Composer("Comment on all that is marked", self.desk.outbox.draft(DRAFT), save, self.style_for)
