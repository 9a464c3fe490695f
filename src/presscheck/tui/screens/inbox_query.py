"""What a view of the inbox shows: all of it, or what the person wants to see of it, which is remembered."""

from __future__ import annotations

from abc import abstractmethod

from presscheck.desk.inbox import View
from presscheck.desk.queries import parse
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now
from presscheck.errors import InvalidArgument
from presscheck.tui.screens.inbox_filling import Filling
from presscheck.tui.widgets.entry import Entry

KEPT = "view "
"""What the keys begin with under which it is remembered."""
LONGEST = 400
EXAMPLE = "space:api outdated:yes updated:<2w sort:-comments, or words of the subject"


class Narrowing(Filling):
    """Show but some of a view, in another order."""

    @abstractmethod
    def choose(self, view: View) -> None:
        """Show a view."""

    def recall_queries(self) -> None:
        """What was wanted before."""
        for view in self.known_rows.views:
            text = self.desk.outbox.recall(KEPT + view.id)
            if text:
                self.known_rows.queries[view.id] = text

    async def command_edit_view(self) -> None:
        """Ask what this view shall show."""
        view = self.known_rows.view
        wanted = await self.ask(
            Entry(
                f"{display_text(view.title)}: show only",
                self.known_rows.queries.get(view.id, ""),
                self.style_for,
                least=0,
                most=LONGEST,
                wrong=self._wrong,
                hint=EXAMPLE,
            )
        )
        if wanted is None:
            return
        before = self.known_rows.listing()
        self.remember_query(view.id, wanted)
        if self.known_rows.listing() == before:
            self.rearrange()
        else:
            self.choose(view)  # the service is asked another question

    def remember_query(self, view_id: str, wanted: str) -> None:
        """Keep what a view shall show; all of it where nothing is said."""
        self.known_rows.queries.pop(view_id, None)
        if wanted:
            self.known_rows.queries[view_id] = wanted
        self.desk.outbox.remember(KEPT + view_id, wanted or None)

    def _wrong(self, text: str) -> str | None:
        try:
            parse(text, self.known_rows.spaces, now())
        except InvalidArgument as error:
            return error.message
        return None
