"""One act on all the rows of the inbox that are marked: asked for, said beforehand, with a receipt for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presscheck.api.change_requests import (
    ChangeRequest,
    PullChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListMembers
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span
from presscheck.tui.screens.inbox_triage import Triaging, counted
from presscheck.tui.screens.receipts import Receipts
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
    Choice("archive", "Archive", "they can be opened again"),
    Choice("done", "Done", "put away until something happens"),
)


def _path(request: ChangeRequest) -> dict[str, Any]:
    return {"space_id": request.space, "change_request_id": request.id}


CALLS: dict[str, CallOf] = {
    "approve": lambda one: SubmitReview(**_path(one), status="approved"),
    "pull": lambda one: PullChangeRequest(**_path(one)),
    "archive": lambda one: UpdateChangeRequest(**_path(one), status="archived"),
}
"""What is said to each, where nothing else has to be asked."""


class Acting(Triaging):
    """Approve, ask for reviews, comment, update, archive: what is marked."""

    organization_id = ""
    _receipts: Receipts | None = None

    def reason_act_on_marked(self) -> str | None:
        """Nothing is marked."""
        return None if self.rows.marked else "nothing is marked: space marks a row, * all that is seen"

    async def command_act_on_marked(self) -> None:
        """Ask what to do with what is marked, say what will happen, do it, and show what came of each."""
        requests = self.meant()
        chosen = await self.ask(Picker(f"With {counted(requests)}", ACTS, self.home.look, ranked=False))
        if not chosen:
            return
        if chosen[0] == "done":
            self.command_done()
            return
        call = await self._call_for(chosen[0])
        if call is None:
            return
        title = next(one.label for one in ACTS if one.key == chosen[0])
        lines = [(Span(f"{one.number} {display_text(one.subject)}"),) for one in requests]
        if await self.ask(Sheet(f"{title}: {counted(requests)}?", lines, title, self.home.look)):
            self.desk.outbox.save_draft(DRAFT, "")
            self._receipts = Receipts(title, [(one, call(one)) for one in requests])
            self.home.push_screen(self._receipts)

    def on_screen_resume(self) -> None:
        """What was done is marked no longer; what failed still is."""
        super().on_screen_resume()
        if self._receipts:
            self.rows.marked -= self._receipts.done
            self._receipts = None
            self.rearrange()

    async def _call_for(self, act: str) -> CallOf | None:
        """What is said to each change request; None where the person thought better of it."""
        if act == "reviewers":
            return await self._asking_people()
        if act == "comment":
            text = await self.ask(self._composer())
            if not text:
                return None
            return lambda one: PostComment(**_path(one), body=Document(markdown=text))
        return CALLS[act]

    async def _asking_people(self) -> CallOf | None:
        members = await self.desk.read(ListMembers(organization_id=self.organization_id, limit=1000))
        people = [
            Choice(one.user.id, display_text(one.user.display_name), one.role or "guest") for one in members.items
        ]
        users = await self.ask(Picker("Who reviews them?", people, self.home.look, many=True))
        return (lambda one: RequestReviewers(**_path(one), users=users)) if users else None

    def _composer(self) -> Composer:
        def save(text: str) -> None:
            self.desk.outbox.save_draft(DRAFT, text)

        return Composer("Comment on all that is marked", self.desk.outbox.draft(DRAFT), save, self.home.look)
