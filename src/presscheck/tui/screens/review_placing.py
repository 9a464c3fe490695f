"""Where the threads of a review stand: below the words that they are about; only those that the reader wants to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.tui.screens.review_following import Following
from presscheck.tui.screens.review_threads import STATES, Thread, ThreadState, located
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Set

    from presscheck.tui.screens.review_changes import Changed
    from presscheck.tui.screens.review_thread_list import ThreadList

HIDDEN = "threads not shown"
"""Under this name the states are remembered whose threads the reader does not want to see."""


class Placing(Following):
    """Finds threads, by place and by state."""

    _list: ThreadList | None = None

    @property
    def wanted(self) -> Set[ThreadState]:
        """The states whose threads are shown."""
        hidden = (self.desk.outbox.recall(HIDDEN) or "").split()
        return {state for state in STATES if state not in hidden}

    def want(self, state: ThreadState, *, shown: bool) -> None:
        """Show the threads in a state, or do not; here and in every review, until the reader wants it otherwise."""
        wanted = self.wanted | {state} if shown else self.wanted - {state}
        self.desk.outbox.remember(HIDDEN, " ".join(one for one in STATES if one not in wanted) or None)
        self.redraw()

    def threads_on(self, thing: Changed | None) -> list[Thread]:
        """The threads on a thing, each with its place; None stands for the whole, and for what does not change."""
        return self._located(thing, self._by_page().get(_page(thing), []))

    def all_threads(self) -> list[tuple[Changed | None, Thread]]:
        """Every thread with the thing that it is on, in the order of reading."""
        found, things = self._by_page(), (None, *self.known.things)
        return [(thing, one) for thing in things for one in self._located(thing, found.get(_page(thing), []))]

    def rows_with_threads(self) -> list[int]:
        """The rows of the list on which there are threads that the reader wants to see."""
        wanted, rows = self.wanted, {thing: row for row, thing in enumerate((None, *self.known.things))}
        return sorted({rows[thing] for thing, one in self.all_threads() if one.state in wanted})

    def threads_shown_on(self, thing: Changed | None) -> list[Thread]:
        """The threads on a thing that the reader wants to see; None is the conversation."""
        wanted = self.wanted
        return [one for one in self.threads_on(thing) if one.state in wanted]

    def thread_here(self) -> Thread | None:
        """The thread under the cursor; else the only one that is shown."""
        found = self.threads_shown_on(self.thing)
        wanted = self.laid.thread_of.get(self.query_one("#change", RowList).cursor)
        return next((one for one in found if one.id == wanted), found[0] if len(found) == 1 else None)

    def command_threads(self) -> None:
        """List the threads, and choose which are shown."""
        from presscheck.tui.screens.review_thread_list import ThreadList

        self.bodies.fill([thing for thing, _ in self.all_threads() if thing])
        self._list = ThreadList(self)
        self.app_context.push_screen(self._list)

    def show_list(self) -> None:
        """List them anew, where they are looked at just now."""
        if self._list:
            self._list.show_threads()

    def _by_page(self) -> dict[str | None, list[Thread]]:
        """The threads by the id of the page that they are on; None are those on no page that changes."""
        pages, found = {_page(one) for one in self.known.things}, dict[str | None, list[Thread]]()
        for one in self.known.threads():
            found.setdefault(one.page if one.page in pages else None, []).append(one)
        return found

    def _located(self, thing: Changed | None, threads: list[Thread]) -> list[Thread]:
        if thing is None or not threads:
            return threads
        page = self.bodies.known(thing)
        document = self.bodies.document(thing) if any(one.needs_nodes for one in threads) else None
        return [located(one, page.after, document) for one in threads] if page.difference else threads


def _page(thing: Changed | None) -> str | None:
    """The id of the page that a thing is; what is no page has no threads of its own."""
    return None if thing is None else thing.id if thing.noun == "page" else ""
