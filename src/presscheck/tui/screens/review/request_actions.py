"""Commands on the change request itself: details, reviewers, archive, revert and PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.change_requests import (
    GetChangeRequestPDF,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.spaces import GetSpace
from presscheck.engine.members import people_in
from presscheck.engine.review.revert import plan_revert
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.new_request import SUBJECT
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.revert_actions import make_revert
from presscheck.tui.screens.review.renderer import summary_lines
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import change_text, choose, choose_several, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.review.request_session import RequestSession


class RequestActions:
    """The commands on the change request itself.

    Args:
        session: the change request.
    """

    def __init__(self, session: RequestSession) -> None:
        self._session, self._model = session, session.model
        self._screen, self._drafts = session.screen, session.drafts

    def reason_rename(self) -> str | None:
        """Return why the details cannot be edited: the change request is closed, or nothing can be written now."""
        return self._model.closed_reason() or self._drafts.disabled_reason()

    async def command_rename(self) -> None:
        """Edit the subject or description, or switch between draft and open."""
        request = self._model.request
        if request is None:
            return
        is_draft = request.status == "draft"
        choices = [
            Choice("subject", "Subject", sanitize(request.subject)),
            Choice("description", "Description", " ".join(sanitize(self._description()).split())),
            Choice("status", "Open for review" if is_draft else "Convert to draft", f"it is {request.status}"),
        ]
        chosen = await choose(self._screen, "Edit details", choices)
        if chosen == "subject":
            await self.edit_subject(request.subject)
        elif chosen == "description":
            self.edit_description()
        elif chosen == "status":
            self._drafts.send(UpdateChangeRequest(**self._model.path, status="open" if is_draft else "draft"))

    def reason_archive(self) -> str | None:
        """Return why the change request cannot be archived or reopened: it is merged, or nothing can be written now."""
        request = self._model.request
        return "it is merged" if request and request.status == "merged" else self._drafts.disabled_reason()

    reason_reviewers = reason_archive

    async def command_archive(self) -> None:
        """Archive the change request, or reopen it, after a confirmation."""
        request = self._model.request
        is_archived = request is not None and request.status == "archived"
        title, confirm_label = ("Reopen it?", "Reopen") if is_archived else ("Archive it?", "Archive")
        if await confirm(self._screen, self._drafts.named(title), summary_lines(self._model)[:2], confirm_label):
            status = "open" if is_archived else "archived"
            self._drafts.send(UpdateChangeRequest(**self._model.path, status=status))

    def reason_revert(self) -> str | None:
        """Return why the change request cannot be reverted: for example, it is not merged, or the user is offline."""
        request, engine = self._model.request, self._screen.engine
        if request is None or request.status != "merged":
            return "only a merged change request can be reverted"
        cannot_send = engine.write_reason(EditChangeRequestContent, "a revert", at_once=True)
        return cannot_send or self._drafts.disabled_reason()

    async def command_revert(self) -> None:
        """Create and open a change request that undoes this one, after a confirmation."""
        request, context = self._model.request, self._screen
        if request is None or await stays_locked(context, request.space):
            return
        context.notify("comparing with main …")
        plan = await plan_revert(context.engine, request)
        await make_revert(context, f"Revert #{request.number}?", request.space, plan)

    async def command_reviewers(self) -> None:
        """Request reviews, or withdraw requests. Owners of changed pages are listed first."""
        engine, path = self._screen.engine, self._model.path
        space = self._model.space or await engine.read(GetSpace(space_id=path["space_id"]))
        people = await people_in(engine, space.organization, self._model.people())
        requested = {reviewer.id for reviewer in self._model.reviewers() or () if reviewer.asked}
        request = self._model.request
        author = request.created_by.id if request and request.created_by else ""
        others = [person for person in people if person.user.id != author or author in requested]  # as on GitHub
        choices = await self._session.owners.choices(space, others)
        chosen = await choose_several(self._screen, self._drafts.named("Reviewers"), choices, chosen=requested)
        if chosen is None:
            return
        new = tuple(user for user in chosen if user not in requested)
        if new:
            self._drafts.send(RequestReviewers(**path, users=new))
            if self._model.request and self._model.request.status == "draft":
                self._drafts.send(UpdateChangeRequest(**path, status="open"))  # reviewers do not see drafts
        for user in {choice.key for choice in choices} & requested - set(chosen):
            self._drafts.send(RemoveRequestedReviewer(**path, user_id=user))

    async def command_pdf(self) -> None:
        """Open a PDF of the change request in the browser, or copy the address of the PDF if there is no browser.

        The service keeps the PDF for an hour.
        """
        self._screen.notify("generating the PDF …")
        answer = await self._screen.engine.read(GetChangeRequestPDF(**self._model.path))
        open_address(self._screen.app_context, answer.url)

    async def edit_subject(self, subject: str) -> None:
        """Edit the subject in a dialog."""
        draft = DraftSlot(self._screen.engine.outbox, self._drafts.key("subject"), subject, self._drafts.about())

        async def write(text: str) -> bool:
            return self._drafts.send(UpdateChangeRequest(**self._model.path, subject=text))

        await change_text(self._screen, "Subject", draft, write, max_length=SUBJECT)

    def edit_description(self) -> None:
        """Edit the description in the composer."""
        # 7 ms, only for a description
        from presscheck.documents.nodes.from_markdown import markdown_to_nodes

        before = self._description()

        def call(text: str) -> UpdateChangeRequest | None:
            if text == before:
                return None  # another user may have changed it since
            return UpdateChangeRequest(**self._model.path, description=markdown_to_nodes(text))

        self._drafts.compose("Description", "description", call, initial=before, may_be_empty=True)

    def _description(self) -> str:
        """Return the description as Markdown; empty if there is none or it cannot be converted."""
        # 3 ms, only for a description
        from presscheck.documents.nodes.to_markdown import nodes_to_markdown
        from presscheck.documents.nodes.validation import InvalidNode

        request = self._model.request
        if request is None or not request.description:
            return ""
        try:
            return nodes_to_markdown(request.description)
        except InvalidNode:
            return ""
