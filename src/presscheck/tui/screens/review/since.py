"""What changed since a review: since the reader's own, to be read instead of all, and since approvals by others."""

from __future__ import annotations

from presscheck.desk.between import changes_between
from presscheck.documents.moments import now, since
from presscheck.errors import PresscheckError
from presscheck.tui.screens.review.merge_forecast import Forecasting


class Since(Forecasting):
    """Compares the revision that somebody reviewed with the newest."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_between: set[tuple[str, str]] = set()

    def reason_since_review(self) -> str | None:
        """Why there is nothing to compare with."""
        review, request = self.known.my_review(), self.known.request
        if self.known.since:
            return None
        if request is None or self.known.reviews is None:
            return "the reviews are not known yet"
        if review is None:
            return "you have not reviewed it yet: all of it is new to you"
        if review.revision == request.revision:
            return f"nothing changed since your review, {since(review.created_at, now())}"
        return None

    async def command_since_review(self) -> None:
        """Show what changed since the reader's last review, or all again."""
        review = None if self.known.since else self.known.my_review()
        if review:
            await self._compare(review.revision)
        self.known.compare_since(review)
        self.point_at_first()
        self.notify("what changed since your review" if review else "all that it changes")

    def look_back(self) -> None:
        """Find what changed since the reviews of older revisions, where nobody did of the newest."""
        request = self.known.request
        stale = {one.revision for one in self.known.reviewers() or () if one.stale}
        shown = {self.known.since.revision} if self.known.since else set[str]()
        for pair in {(one, request.revision) for one in stale | shown} - self._asked_between if request else ():
            self._asked_between.add(pair)
            self.run(self._look_back(*pair))

    async def _look_back(self, before: str, after: str) -> None:
        try:
            await self._compare(before)
        except PresscheckError:
            self._asked_between.discard((before, after))  # asked again with the next news
            return
        self.redraw()

    async def _compare(self, revision: str) -> None:
        request = self.known.request
        if request and not self.known.is_compared(revision):
            found = await changes_between(self.desk, request.space, revision, request.revision)
            self.known.take_comparison(revision, request.revision, found)
