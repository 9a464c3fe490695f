"""Commands of a review in the inbox: on the marked change requests or, without marks, on the row under the cursor."""

from __future__ import annotations

from functools import partialmethod
from inspect import isawaitable
from typing import TYPE_CHECKING

from presscheck.api.change_requests import REVIEWS
from presscheck.api.spaces import GetSpace
from presscheck.engine.review.merge_readiness import closed_reason, review_reason
from presscheck.tui.commands import CommandTable, key_for
from presscheck.tui.external_programs import folder_reason

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.bulk_actions import BulkActions
    from presscheck.tui.screens.inbox.session import Inbox


class RowActions:
    """The commands of a review on rows of the inbox.

    The `reason_…` functions send no request, because the footer and the list of keys call them often. A command first
    loads the change request, which may disable the command for another reason.

    Args:
        session: the inbox.
        bulk_actions: runs the commands if rows are marked.
    """

    def __init__(self, session: Inbox, bulk_actions: BulkActions) -> None:
        self._session, self._bulk_actions = session, bulk_actions
        self._engine = session.screen.engine

    def reason_comment(self) -> str | None:
        """Return why nothing can be written: the inbox is empty, or the profile is read-only."""
        if not self._session.selected():
            return "no change request here"
        return "this profile is read-only" if self._engine.status.read_only else None

    reason_comment_on_all = reason_comment_only = reason_reviewers = reason_comment

    def reason_approve(self) -> str | None:
        """Return why the marked change requests, or the change request under the cursor, cannot be reviewed."""
        reason, request = self.reason_comment(), self._session.current()
        if self._session.rows.marks.keys and self._engine.lacks(REVIEWS):
            return reason or "this service has no reviews"
        if reason or request is None or self._session.rows.marks.keys:
            return reason
        space = self._engine.known(GetSpace(space_id=request.space))
        return review_reason(request, space.value if space else None)

    reason_request_changes = reason_approve

    def reason_reply(self) -> str | None:
        """Return why the user cannot reply to the change request under the cursor."""
        if self._session.rows.marks.keys:
            return f"reply works on one row: {key_for('back')} removes the marks"
        return self.reason_comment()

    def reason_pull(self) -> str | None:
        """Return why the change request under the cursor cannot be updated from main."""
        return self._closed_reason() or self._offline_reason("an update")

    def reason_merge(self) -> str | None:
        """Return why the change request under the cursor cannot be merged."""
        return self._closed_reason() or self._offline_reason("a merge")

    def reason_archive(self) -> str | None:
        """Return why the change request under the cursor can be neither archived nor reopened."""
        reason, request = self.reason_comment(), self._session.current()
        if reason or request is None or self._session.rows.marks.keys:
            return reason
        return closed_reason(request) if request.status == "merged" else None

    def reason_folder(self) -> str | None:
        """Return why the change request under the cursor cannot be checked out."""
        return folder_reason(self._engine) if self._session.current() else "no change request here"

    async def command_folder(self) -> None:
        """Check the change request under the cursor out into the folder of its space, and open the folder."""
        from presscheck.tui.screens.folder import open_folder  # 80 ms: it loads YAML and merges

        request = self._session.current()
        if request:
            await open_folder(self._session.screen, request.space, request)

    def _closed_reason(self) -> str | None:
        reason, request = self.reason_comment(), self._session.current()
        if reason or request is None or self._session.rows.marks.keys:
            return reason
        return closed_reason(request)

    def _offline_reason(self, noun: str) -> str | None:
        return None if self._session.rows.marks.keys else self._engine.write_reason(None, noun)

    async def _run(self, name: str) -> None:
        """Run a command of a review on the marked rows or, without marks, on the change request under the cursor.

        A single change request is loaded first.
        """
        if self._session.rows.marks.keys:
            await self._bulk_actions.act(name)
            return
        request, screen = self._session.current(), self._session.screen
        if request is None:
            return
        from presscheck.tui.screens.inbox.row_review import RowReview  # 60 ms: it loads the actions of a review

        self._engine.prepare_writes()
        review = RowReview(self._session, request)
        await review.load()
        screen.end_notice()
        commands = CommandTable(review.command_handlers())
        handler, reason = commands.handler(name), commands.disabled_reason(name)
        if reason:
            screen.notify(review.drafts.named(reason))
        elif handler and isawaitable(work := handler()):
            await work

    command_approve = partialmethod(_run, "approve")
    command_request_changes = partialmethod(_run, "request_changes")
    command_comment_only = partialmethod(_run, "comment_only")
    command_comment = partialmethod(_run, "comment")
    command_comment_on_all = command_comment
    command_reply = partialmethod(_run, "reply")
    command_reviewers = partialmethod(_run, "reviewers")
    command_pull = partialmethod(_run, "pull")
    command_merge = partialmethod(_run, "merge")
    command_archive = partialmethod(_run, "archive")
