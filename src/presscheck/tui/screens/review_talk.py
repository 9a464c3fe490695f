"""The words of a review: comments, replies, verdicts; each text is a draft until the desk has it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import REVIEWS, ReviewStatus, SubmitReview
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.tui.screens.review_commenting import Commenting
from presscheck.tui.screens.review_speaking import IN_WORDS
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.review_threads import Thread

LOOKS = 200
"""Looks for a thread that is not known yet, within ten seconds."""


class Talk(Commenting):
    """Answer, resolve, judge."""

    async def show_thread(self, name: str) -> None:
        """Go to a thread by the id of its comment, once it is known; not where somebody goes elsewhere meanwhile."""
        pages, key = self.query_one("#pages", RowList), self.last_key
        for _ in range(LOOKS):
            thread = next((one for one in self.known.threads() if one.id == name), None)
            if thread and self.known.things:
                break
            await asyncio.sleep(10 / LOOKS)
        else:
            return
        if self.is_leaving or self.last_key != key:
            return
        on = ("page", thread.page)
        pages.point(next((at for at, one in enumerate(self.known.things, 1) if (one.noun, one.id) == on), 0))
        self.show_change(afresh=True)
        if pages.has_focus:
            self.command_next_pane()
        lines = [line for line, one in self.laid.thread_of.items() if one == name]
        self.query_one("#change", RowList).point(min(lines, default=0))

    def reason_reply(self) -> str | None:
        """Why there is nothing to answer."""
        return self.reason_answer(self.thread_here())

    def reason_answer(self, one: Thread | None) -> str | None:
        """Why a thread cannot be answered."""
        if one is None:
            return "no thread here: t goes to one"
        return "that comment is not sent yet: an answer needs it there" if one.first.unsent else self.reason_comment()

    def command_reply(self) -> None:
        """Answer the thread under the cursor."""
        one = self.thread_here()
        if one:
            self.answer(one)

    def answer(self, one: Thread) -> None:
        """Answer a thread."""
        self.write(
            f"Reply to {one.first.author}",
            f"reply {one.id}",
            lambda text: PostReply(
                **self.known.path, comment_id=one.id, body=Document(markdown=text), format="markdown"
            ),
        )

    reason_resolve = reason_reply

    def command_resolve(self) -> None:
        """Resolve the thread under the cursor, or open it again."""
        one = self.thread_here()
        if one:
            self.settle(one)

    def settle(self, one: Thread) -> None:
        """Resolve a thread, or open it again."""
        self.send(UpdateComment(**self.known.path, comment_id=one.id, resolved=not one.resolved))

    def reason_comment(self) -> str | None:
        """Why nothing can be written."""
        if self.desk.status.read_only:
            return "this profile is read-only"
        return None if self.known.request else "the change request is not known yet"

    reason_comment_on_all = reason_comment

    def reason_approve(self) -> str | None:
        """Why no verdict can be given."""
        request, space = self.known.request, self.known.space
        if request and request.status in ("merged", "archived"):
            return f"it is {request.status}: no verdict is needed"
        if space and not space.permissions.review:
            return "you may not review in this space"
        return self.reason_comment()

    reason_request_changes = reason_approve

    def command_approve(self) -> None:
        """Approve, with a text or without."""
        self._judge("approved", "Approve: say why, or nothing")

    def command_request_changes(self) -> None:
        """Ask for changes, with a text or without."""
        self._judge("changes-requested", "Ask for changes: say which")

    reason_begin_review = reason_approve

    def command_begin_review(self) -> None:
        """Keep what is said from now on, for a review that goes out whole; again, keep nothing more."""
        count = len(self.collected)
        if self.collects and count:
            self.notify(f"{counted(count)} in your review: v a, v r or v c sends it, z takes the last one back")
        else:
            self.collect(begins=not self.collects)
            said = "what you say is kept, until v a, v r or v c sends it" if self.collects else "comments leave at once"
            self.notify(said)

    def command_comment_only(self) -> None:
        """Say something, and judge nothing; what was collected leaves with it."""

        def call(text: str) -> Operation[Any] | None:
            return PostComment(**self.known.path, body=Document(markdown=text)) if text.strip() else None

        count = len(self.collected)
        title = f"Send your review of {counted(count)}: add something, or nothing" if count else "Comment on the whole"
        self.write(title, "whole", call, may_be_empty=count > 0, whole=True)

    def _judge(self, status: ReviewStatus, title: str) -> None:
        def call(text: str) -> Operation[Any]:
            if is_lacking:
                return PostComment(**self.known.path, body=Document(markdown=text))
            given: dict[str, Any] = {"comment": Document(markdown=text)} if text.strip() else {}
            return SubmitReview(**self.known.path, status=status, **given)

        is_lacking, count, progress = self.desk.lacks(REVIEWS), len(self.collected), self.known.progress()
        title = "This service has no reviews: say it in a comment" if is_lacking else title
        title = f"{title}; {counted(count)} go with it" if count else title
        title += f"; ⚠ {progress.missing}" if progress and progress.missing else ""
        begin = IN_WORDS[status] if is_lacking else ""
        self.write(title, f"verdict {status}", call, begin=begin, may_be_empty=not is_lacking, whole=True)


def counted(count: int) -> str:
    """`1 comment`, `2 comments`."""
    return f"{count} comment{'s' if count != 1 else ''}"
