"""A change request: its summary, changed pages, reviews and merge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from typing_extensions import override

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    PullChangeRequest,
    ReviewStatus,
    SubmitReview,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.cli.linear.page_place import PagePlace
from presscheck.cli.linear.place import Linear, Place, Siblings, Verb, pick
from presscheck.cli.linear.request_model import read_model
from presscheck.cli.linear.review_texts import hold_or_send, review_draft
from presscheck.cli.linear.thread_places import ThreadsPlace
from presscheck.cli.linear.triage_verbs import triage_verbs
from presscheck.cli.linear.words import check_line, drafts_of, request_name, review_line
from presscheck.config.project import checks_of
from presscheck.documents.nodes.comment_targets import document_text
from presscheck.engine.drafts import APPROVAL, CHANGES
from presscheck.engine.review.changes import kinds_text, summarize_changes
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.merge_readiness import (
    MergeInputs,
    checks,
    closed_reason,
    comment_reason,
    join_names,
    lock_reason,
    merge_readiness,
    person,
    review_reason,
)
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.pending_review import PendingReview
from presscheck.errors import InvalidArgument, NotNow, PresscheckError
from presscheck.paths import places
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import display_url, sanitize

_READINESS = {
    "yes": "can be merged",
    "no": "cannot be merged",
    "blocked": "has conflicts",
    "care": "can be merged, with warnings",
    "unknown": "the service decides",
}


class RequestPlace(Place):
    """A change request.

    Args:
        linear: what all places share.
        request: the change request from the list.
        siblings: the change requests of the list, for `next` and `previous`.
    """

    def __init__(self, linear: Linear, request: ChangeRequest, siblings: Sequence[ChangeRequest] = ()) -> None:
        super().__init__(linear)
        self._request, self._siblings = request, siblings
        self._model = ReviewModel(self.engine, request.space, request.id)
        self._model.set_request(request)
        self._pending = PendingReview(self.engine, request.id)

    @property
    @override
    def name(self) -> str:
        return f"request {self._request.number}"

    @property
    def _space(self) -> Space | None:
        return self._model.space

    @override
    async def load(self) -> Sequence[str]:
        self._model, unread = await read_model(self.session, self._request.space, self._request.id)
        self._request = request = self._model.request or self._request
        space, readiness = self._space, self._model.readiness()
        reasons = "; ".join(readiness.reasons)
        merge = closed_reason(request) or f"{_READINESS[readiness.certainty]}{reasons and f': {reasons}'}"
        reviews = review_line(self._model.reviewers() or ())
        threads = self._model.discussion.threads()
        closed = sum(thread.resolved for thread in threads)
        lines = [
            f"{request_name(request)}: {sanitize(request.status)}",
            f"In {sanitize(space.title) if space else 'an unknown space'}, "
            f"by {person(request.created_by, self._model.me)}, updated {since(request.updated_at, now())}.",
            *(document_text(request.description).strip().split("\n") if request.description else ()),
            f"Reviews: {reviews or 'none'}.",
            f"Merge: {merge}.",
            f"Comments: {self._model.open_threads()} open, {closed} resolved. threads lists them.",
            *unread,
        ]
        if number := len(self._pending.entries()):
            lines.append(f"Your review holds {count(number, 'comment')}: approve, request-changes or submit sends it.")
        lines += [f"Draft of yours: {sanitize(draft.label)}" for draft in drafts_of(self.engine, request.id)]
        return [*lines, *self._page_lines()]

    def _page_lines(self) -> list[str]:
        items, progress = self._model.items, self._model.progress()
        if progress is None:
            return ["The changes are not loaded."]
        lines = [f"Changes: {summarize_changes(items) or 'none'}."]
        lines += [f"Note: {progress.missing}."] if progress.missing else []
        for number, item in enumerate(items, 1):
            open_threads = sum(thread.is_open for thread in self._model.discussion.threads() if thread.page == item.id)
            parts = [kinds_text(item), *(["viewed"] if self._model.is_viewed(item) else [])]
            parts += [count(open_threads, "open comment")] if open_threads else []
            lines.append(
                f"{number}. {item.title}{'' if item.noun == 'page' else f' ({item.noun})'}: {', '.join(parts)}"
            )
        return lines

    @override
    async def open(self, number: int) -> Place:
        item = pick(self._model.items, str(number), "changed page")
        return PagePlace(self.linear, self._model, item)

    @override
    def verbs(self) -> tuple[Verb, ...]:
        request, engine = self._request, self.engine
        may_review = review_reason(request, self._space) or engine.write_reason(SubmitReview, "a review")
        may_comment = comment_reason(self._space) or engine.write_reason(PostComment, "a comment")
        may_merge = engine.write_reason(MergeChangeRequest, "a merge", at_once=True) or self._model.merge_reason()
        may_update = self._model.update_reason() or engine.write_reason(PullChangeRequest, "an update", at_once=True)
        may_submit = may_comment or (None if self._pending.entries() else "your review holds no comments")
        return (
            Verb("threads", "t", "List the comments.", self._threads),
            Verb("comment", "c", "Comment on the change request.", self._comment, reason=may_comment),
            Verb("approve", "a", "Approve, with an optional text.", self._approve, reason=may_review),
            Verb("request-changes", "r", "Request changes, with a text.", self._request_changes, reason=may_review),
            Verb("start", "", "Start a review: hold comments until you submit it.", self._start, reason=may_review),
            Verb("submit", "", "Send the held comments without approving.", self._submit, reason=may_submit),
            Verb("requirements", "w", "List the merge requirements.", self._requirements),
            Verb("merge", "m", "Merge (shows what will change, asks first).", self._merge, reason=may_merge),
            Verb("update", "u", "Update from main.", self._update, reason=may_update),
            *self._neighbors().verbs(),
            Verb("address", "", "Print the address in the web app.", self._address),
            *triage_verbs(self.linear, lambda: [self._request], self._triaged),
        )

    async def _threads(self, _: str) -> Place | None:
        return ThreadsPlace(self.linear, self._request.space, self._request.id)

    async def _comment(self, _: str) -> Place | None:
        draft = review_draft(self.engine, self._model.path, "whole")
        text = await self.linear.compose(f"Comment on {request_name(self._request)}", draft)
        if text is not None:
            await hold_or_send(self.linear, self._pending, self._model.discussion.post(text), draft)
            await self.load()
        return None

    async def _approve(self, _: str) -> Place | None:
        return await self._review("approved", "Approve", APPROVAL)

    async def _request_changes(self, _: str) -> Place | None:
        return await self._review("changes-requested", "Request changes to", CHANGES)

    async def _review(self, status: ReviewStatus, action: str, name: str) -> Place | None:
        """Read the text of a review, and send the held comments and the review."""
        rows = [entry.id for entry in self._pending.entries()]
        author = self._request.created_by
        if status == "approved" and author and author.id == self._model.me:
            self.linear.terminal.print(["This is your own change request: your approval does not count."])
        if unviewed := self._model.unviewed():
            self.linear.terminal.print([f"Not viewed: {join_names([item.title for item in unviewed])}."])
        held = f", with {count(len(rows), 'held comment')}" if rows else ""
        draft = review_draft(self.engine, self._model.path, name)
        is_optional = status == "approved" or bool(rows)
        title = f"{action} {request_name(self._request)}{held}"
        text = await self.linear.compose(title, draft, is_optional=is_optional)
        if text is None:
            return None
        comment: dict[str, Any] = {"comment": Document(markdown=text)} if text.strip() else {}
        ticket = self._pending.submit(SubmitReview(**self._model.path, status=status, **comment), rows)
        if ticket and ticket.id:
            draft.discard()
        for number in rows:
            await self.session.sent(number)
        if ticket:
            await self.session.settled(ticket, "Approved." if status == "approved" else "Changes requested.")
        draft.discard()
        await self.load()
        return None

    async def _start(self, _: str) -> Place | None:
        self._pending.start()
        self.linear.terminal.print(["Review started: comments are held until you approve, request changes or submit."])
        return None

    async def _submit(self, _: str) -> Place | None:
        rows = [entry.id for entry in self._pending.entries()]
        if await self.linear.confirm(f"Send {count(len(rows), 'comment')} of your review?"):
            self._pending.submit(None, rows)
            if all([await self.session.sent(number) for number in rows]):
                self.linear.terminal.print(["Review submitted."])
            await self.load()
        return None

    async def _requirements(self, _: str) -> Place | None:
        inputs = await self.linear.wait(read_merge_inputs(self.engine, self._request))
        self.linear.terminal.print(["Merge requirements:", *map(check_line, checks(inputs))])
        return None

    async def _merge(self, _: str) -> Place | None:
        """Merge after a confirmation. To confirm a merge with conflicts, the user types the number."""
        request, inputs, sites = await self.linear.wait(self._read_merge())
        if inputs.space and (locked := lock_reason(inputs.space)):
            raise NotNow(f"merge: {locked}: presscheck space unlock {request.space} unlocks it for an administrator")
        readiness = merge_readiness(inputs)
        if readiness.certainty == "no":
            raise InvalidArgument("merge", "; ".join(readiness.reasons))
        self.linear.terminal.print(["Merge requirements:", *map(check_line, checks(inputs))])
        if sites:
            names = join_names([sanitize(site.title) or "(no title)" for site in sites])
            self.linear.terminal.print([f"Goes live at once on {names}."])
        name = f"{request.space}#{request.number}"
        if checks_of(places().config_file, self.session.profile.project)[0]:
            self.linear.terminal.print([f"Prose not checked: presscheck cr check {name} checks it."])
        can_revert = self.engine.missing_reason(EditChangeRequestContent) is None
        undo = f"To undo a merge: presscheck cr revert {name}" if can_revert else "A merge cannot be undone."
        self.linear.terminal.print([undo])
        answer = str(request.number) if readiness.certainty == "blocked" else "yes"
        if not await self.linear.confirm(f"Merge {request_name(request)} into the live content?", answer):
            return None
        now_request = await self.session.read(GetChangeRequest(**self._model.path))
        now_space = await self.session.read(GetSpace(space_id=request.space))
        if (now_request.revision, now_space.revision) != (request.revision, inputs.space and inputs.space.revision):
            self.linear.terminal.print(
                ["Not merged: the content has changed in the meantime. merge shows the merge again."]
            )
            return self
        result = await self.session.write(MergeChangeRequest(**self._model.path), "")
        has_conflicts = result is not None and result.result == "conflicts"
        end = " with conflicts: check the pages that both sides changed" if has_conflicts else ""
        self.linear.terminal.print([f"{request_name(request)} merged{end}."])
        await self.load()
        return None

    async def _read_merge(self) -> tuple[ChangeRequest, MergeInputs, Sequence[Site]]:
        """Read the newest revision, the inputs of the merge checks, and the published sites that show the space."""
        request = await self.session.read(GetChangeRequest(**self._model.path))
        inputs, sites = await read_merge_inputs(self.engine, request), tuple[Site, ...]()
        if inputs.space and inputs.space.organization:
            with suppress(PresscheckError):  # the sites are only for a message
                call = ListSites(organization_id=inputs.space.organization, space=request.space, published=True)
                sites = (await self.session.read(call)).items
        return request, inputs, sites

    async def _update(self, _: str) -> Place | None:
        question = (
            "Bring the changes in main into this change request? Where both sides changed the same text, the page"
        )
        if await self.linear.confirm(f"{question} gets both versions."):
            result = await self.session.write(PullChangeRequest(**self._model.path), "")
            has_conflicts = result is not None and result.result == "conflicts"
            end = " with conflicts: check the pages that both sides changed" if has_conflicts else " from main"
            self.linear.terminal.print([f"Updated{end}."])
            await self.load()
        return None

    def _neighbors(self) -> Siblings:
        ids = [request.id for request in self._siblings]
        return Siblings("change request", ids, self._request.id, self._sibling)

    def _sibling(self, index: int) -> Place:
        return RequestPlace(self.linear, self._siblings[index], self._siblings)

    async def _triaged(self, hidden: ChangeRequest | None) -> Place | None:
        if hidden and (following := self._neighbors().neighbor(1)):
            return following
        if hidden:
            self.linear.terminal.print(["That was the last change request of the list. back goes to the list."])
        return None

    async def _address(self, _: str) -> Place | None:
        address = self._request.urls.app
        self.linear.terminal.print([display_url(address) if address else "The service returned no address."])
        return None
