"""The home of a space: what is known of it from the cache and, once the cursor rests on it, from the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests, ListOrganizationChangeRequests
from presscheck.api.content import ListPages, Pages, RevisionPage
from presscheck.api.links import Links, ListSpaceLinks
from presscheck.api.operation import Operation, Page
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import GetSpaceGitInfo
from presscheck.api.users import GetCurrentUser
from presscheck.documents.pages.tree import flatten
from presscheck.engine.results import Result
from presscheck.errors import NotSupported
from presscheck.text.phrases import long_ago, now
from presscheck.text.sanitize import sanitize
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.browse.space_home_renderer import (
    HINT,
    LINKS,
    MOST_MERGES,
    NOT_CACHED,
    HomeLines,
    Part,
    SpaceFacts,
)

if TYPE_CHECKING:
    from presscheck.api.spaces import GitSync, Space
    from presscheck.tui.screens.browse.context import BrowseContext

REST = 0.2
"""Seconds that the cursor rests on a space before the service is asked."""
MOST = 50
"""Open change requests that are read; the others are counted."""
KEPT = 50
"""Spaces whose answers are kept, so that they are shown at once when the cursor returns."""
Answers = dict[str, Result[Any]]


class SpaceHome:
    """Reads what the home of a space shows, and follows its links.

    At most five requests for each space on which the cursor rests: pages, open change requests, merged ones, sites and
    links; one more for the repository of a space with Git sync. The user's drafts come from one listing of the
    organization, which is read once.

    Args:
        screen: the browse screen.
        show: shows the home of a space; called again when more is known.
    """

    def __init__(self, screen: BrowseContext, show: Callable[[Space], None]) -> None:
        self._screen, self._show = screen, show
        self.space: Space | None = None
        """The space that is shown; None while the cursor is on something else."""
        self._organization = ""
        self._drafts: ListOrganizationChangeRequests | None = None
        self._drafts_result: Result[Any] | None = None
        self._answers: dict[str, Answers] = {}
        self._hints: dict[str, str] = {}

    def begin(self, organization: str) -> None:
        """Read the user's drafts in an organization, by its id."""
        self._organization = organization
        if self._me and self._drafts is None:
            self._drafts = ListOrganizationChangeRequests(
                organization_id=organization, status="draft", creator=self._me
            )
            answers = self._screen.engine.watch_listing(self._drafts)
            self._screen.subscribe(answers, self._take_drafts, group="home drafts", shows_errors=False)

    @property
    def age(self) -> str:
        """How old the oldest part is, while offline."""
        answers = self._answers.get(self.space.id, {}) if self.space else {}
        ages = [result.age for result in answers.values() if result.state == "offline" and result.value is not None]
        return f"   as it was {long_ago(max(ages))}" if ages else ""

    def show(self, space: Space) -> None:
        """Show a space, with what is known of it now; ask the service if the cursor rests on it."""
        is_other = self.space is None or self.space.id != space.id
        self.space = space
        if is_other:
            self._stop()
            self._screen.run(lambda: self._rested(space), group="home rest", exclusive=True)
        self._show(space)

    def leave(self) -> None:
        """Ask for nothing more, because the cursor is on something else."""
        if self.space:
            self.space = None
            self._stop()

    def explain(self, space_id: str, hint: str) -> None:
        """Show from now on what can be done in a space instead of opening its pages."""
        self._hints[space_id] = hint
        self._draw()

    def lines(self, columns: int) -> HomeLines:
        """The lines of the space that is shown.

        Raises:
            LookupError: no space is shown.
        """
        if self.space is None:
            raise LookupError("no space is shown")
        return HomeLines(self._facts(self.space), columns, now())

    def follow(self, target: str) -> None:
        """Open what a line names: a review, a page, a site, the list of links, or an address."""
        kind, _, name = target.partition(" ")
        app, space = self._screen.app_context, self.space
        if space is None:
            return
        if kind == "request":
            app.open_review(space.id, name)
        elif kind == "page":
            self._screen.visit_page(space.id, name)
        elif kind == "site":
            self._screen.run(app.open_site(name))
        elif kind == LINKS:
            self._show_links()
        else:
            open_address(app, target)

    def _show_links(self) -> None:
        """List the links of the space, the broken ones first."""
        # 5 ms, only when it is first opened
        from presscheck.tui.screens.space_content.screen import SpaceContentScreen

        place = self._screen.content_place()
        if place:
            self._screen.app_context.push_screen(SpaceContentScreen(place))

    def _calls(self, space: Space) -> dict[str, Operation[Any]]:
        """What is read of a space, by the name of its part; the tree has the pages of one that is expanded."""
        calls: dict[str, Operation[Any]] = {
            "requests": ListChangeRequests(space_id=space.id, status="open", limit=MOST),
            "merges": ListChangeRequests(space_id=space.id, status="merged", limit=MOST_MERGES),
            "links": ListSpaceLinks(space_id=space.id, status="broken", limit=1),
        }
        if self._organization:
            calls["sites"] = ListSites(organization_id=self._organization, space=space.id)
        if space.git_sync is not None and self._screen.engine.missing_reason(GetSpaceGitInfo) is None:
            calls["git"] = GetSpaceGitInfo(space_id=space.id)
        if self._screen.library.pages(space.id) is None:
            calls["pages"] = ListPages(space_id=space.id)
        return calls

    async def _rested(self, space: Space) -> None:
        await rest()
        for name, call in self._calls(space).items():
            answers = self._screen.engine.watch(call)

            def take(result: Result[Any], name: str = name) -> None:
                self._take(space.id, name, result)

            self._screen.subscribe(answers, take, group=f"home {name}", shows_errors=False)

    def _stop(self) -> None:
        for group in ("rest", "requests", "merges", "links", "sites", "git", "pages"):
            self._screen.unsubscribe(f"home {group}")

    def _take(self, space: str, name: str, result: Result[Any]) -> None:
        self._answers.setdefault(space, {})[name] = result
        if len(self._answers) > KEPT:
            self._answers.pop(next(iter(self._answers)))
        self._draw()

    def _take_drafts(self, result: Result[int]) -> None:
        self._drafts_result = result
        self._draw()

    def _draw(self) -> None:
        if self.space:
            self._show(self.space)

    @property
    def _me(self) -> str:
        """The id of the user; empty if the service does not tell."""
        known = self._screen.engine.known(GetCurrentUser())
        return known.value.id if known else ""

    def _facts(self, space: Space) -> SpaceFacts:
        requests: Part[Page[ChangeRequest]] = self._part(space, "requests")
        merges: Part[Page[ChangeRequest]] = self._part(space, "merges")
        sites: Part[Page[Site]] = self._part(space, "sites")
        links: Part[Links] = self._part(space, "links")
        git: Part[GitSync] = self._part(space, "git")
        return SpaceFacts(
            space,
            me=self._me,
            pages=self._pages(space),
            drafts=self._own_drafts(space),
            requests=_with(requests, requests.value and requests.value.items),
            total_requests=_total(requests.value, space) if requests.value else None,
            merges=_with(merges, merges.value and merges.value.items),
            sites=_with(sites, sites.value and sites.value.items),
            broken_links=_with(links, links.value.stats.broken.total if links.value else None),
            git=Part(git.value or space.git_sync, is_missing=space.git_sync is None),
            hint=HINT if self._screen.library.pages(space.id) else self._hints.get(space.id, HINT),
        )

    def _pages(self, space: Space) -> Part[tuple[RevisionPage, ...]]:
        known = self._screen.library.pages(space.id)
        if known is not None:
            return Part(tuple(flatten(known.pages)))
        part: Part[Pages] = self._part(space, "pages")
        return _with(part, tuple(flatten(part.value.pages)) if part.value else None)

    def _own_drafts(self, space: Space) -> Part[tuple[ChangeRequest, ...]]:
        listing, result = self._drafts, self._drafts_result
        if listing is None:
            return Part(is_missing=True)
        window = self._screen.engine.window(listing, 0, 1000)
        if window.age is not None:
            return Part(tuple(request for request in window.items if request.space == space.id))
        return self._without_value(result)

    def _part(self, space: Space, name: str) -> Part[Any]:
        result = self._answers.get(space.id, {}).get(name)
        return Part(result.value) if result and result.value is not None else self._without_value(result)

    def _without_value(self, result: Result[Any] | None) -> Part[Any]:
        """A part of which nothing is known: it is loaded, or cannot be."""
        if result is None or result.error is None:
            return Part(problem="" if self._screen.engine.status.online else NOT_CACHED)
        if isinstance(result.error, NotSupported):
            return Part(is_missing=True)
        is_offline = result.state == "offline"
        return Part(problem=NOT_CACHED if is_offline else f"not loaded: {sanitize(result.error.message)}")


async def rest() -> None:
    """Wait for as long as a cursor has to stay before it rests."""
    await asyncio.sleep(REST)


def _with(part: Part[Any], value: Any) -> Part[Any]:
    return Part(value, part.problem, part.is_missing)


def _total(requests: Page[ChangeRequest], space: Space) -> int:
    """The number of open change requests, of which not all may be read."""
    if requests.total is not None:
        return requests.total
    return space.change_requests_open if requests.next else len(requests.items)
