"""The merge train: what was merged, what is being done now, and where it stands and why."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.review.merge_train import couple, merge_next
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.receipts import Receipt, Receipts, path_of


class MergeTrain(Receipts):
    """Merges one after another; the first that cannot be merged stops it, and `retry` goes on from there."""

    def __init__(self, requests: Sequence[ChangeRequest]) -> None:
        super().__init__("Merge, one after another", [Receipt(one) for one in requests], stops=True)

    async def say(self, one: Receipt) -> None:
        """Merge one; what is left is on disk before and after."""

        def says(words: str) -> None:
            one.says = words
            self.changed()

        couple(self.desk.outbox, [left.request for left in self.receipts if left.state != "done"])
        try:
            one.says = await merge_next(self.desk, path_of(one.request), says)
        except PresscheckError as error:
            one.state, one.says = "failed", f"stopped here: {sanitize(error.message)}"
            return
        one.state = "done"
        couple(self.desk.outbox, [left.request for left in self.receipts if left.state != "done"])
