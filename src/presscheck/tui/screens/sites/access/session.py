"""The data of the access screen: redirects with their destinations, share links, and visitor sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.operation import ALL, Page
from presscheck.api.site_settings import (
    GetPublishingAuth,
    ListRedirects,
    ListShareLinks,
    PublishingAuth,
    Redirect,
    ShareLink,
)
from presscheck.api.sites import GetSite, Site
from presscheck.engine.publish.redirects import RedirectMap, read_paths
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.writes.pending_writes import apply_pending
from presscheck.store.drafts import DraftSlot
from presscheck.tui.screens.sites.writes import write_reason
from presscheck.tui.ui.loaded import Loaded

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.publish.site_structure import SitePaths
    from presscheck.engine.results import Result
    from presscheck.tui.ui.tabs import TabScreen


class SiteAccess:
    """The access settings of a site, loaded from the service.

    Args:
        screen: the access screen.
        organization_id: the organization of the site.
        site: the site.

    Attributes:
        redirects: the redirects, sorted by path.
        paths: the pages and other destinations of the site; None until they are loaded.
        problems: the problems of redirects by redirect id.
    """

    def __init__(self, screen: TabScreen, organization_id: str, site: Site) -> None:
        self.screen, self.organization_id, self.site = screen, organization_id, site
        self.redirects = Loaded[Sequence[Redirect]]()
        self.links = Loaded[Sequence[ShareLink]]()
        self.sign_in = Loaded[PublishingAuth]()
        self.paths: SitePaths | None = None
        self.problems: dict[str, str] = {}

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of the site."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def map(self) -> RedirectMap | None:
        """The redirects with their destinations; None until both are loaded."""
        if self.redirects.value is None or self.paths is None:
            return None
        return RedirectMap(self.redirects.value, self.paths)

    def reason(
        self, listing: type[Operation[Any]], write: type[Operation[Any]] | None = None, role: str = "create"
    ) -> str | None:
        """Return why a list is unavailable or a change is not allowed; None otherwise."""
        if missing := self.screen.engine.missing_reason(listing):
            return missing
        return write_reason(self.screen, write, self.site, role) if write else None

    def draft(self, key: str, present: str = "") -> DraftSlot:
        """Return the draft for the path of a redirect or the name of a share link; `present` is the current text."""
        about = {"site": self.site.id, "title": present or self.site.title}
        return DraftSlot(self.screen.engine.outbox, key, present, about)

    def load(self) -> None:
        """Subscribe to all data of the screen, and read the pages of the site."""
        screen, engine = self.screen, self.screen.engine
        screen.subscribe(engine.watch(GetSite(**self.path)), self._take_site, group="site", shows_errors=False)
        self.watch_redirects()
        links = engine.watch(ListShareLinks(**self.path, limit=ALL))
        screen.subscribe(links, self._take_links, group="links", shows_errors=False)
        sign_in = engine.watch(GetPublishingAuth(**self.path))
        screen.subscribe(sign_in, self._take_sign_in, group="sign-in", shows_errors=False)
        self.read_paths()

    def watch_redirects(self) -> None:
        """Subscribe to the redirects, which are loaded now and after each write."""
        answers = self.screen.engine.watch_listing(ListRedirects(**self.path), priority=REQUESTED)
        self.screen.subscribe(answers, self._take_redirects, group="redirects", shows_errors=False)

    def pause_redirects(self) -> None:
        """Unsubscribe from the redirects during a series of writes."""
        self.screen.unsubscribe("redirects")

    def read_paths(self) -> None:
        """Read the pages that redirects can lead to."""

        async def read() -> None:
            try:
                self.paths = await read_paths(self.screen.engine, self.organization_id, self.site)
            finally:
                self._examine()

        self.screen.run(read, group="paths", exclusive=True)

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.site = result.value
            self.screen.redraw()

    def _take_redirects(self, result: Result[int]) -> None:
        engine, listing = self.screen.engine, ListRedirects(**self.path)
        window = engine.window(listing, 0, result.value or 0)
        redirects = self.redirects.value
        if window.complete:
            page = Page[Redirect].model_construct(items=window.items, next=None, count=None, total=None)
            shown = apply_pending(listing, page, engine.waiting(), engine.me)
            redirects = tuple(sorted(shown.items, key=lambda redirect: redirect.source))
        self.redirects = Loaded(redirects, result.error)
        self._examine()

    def _examine(self) -> None:
        """Redraw the rows, then find the problems of the redirects in a thread and redraw again."""
        self.screen.redraw()
        redirects = self.map
        if redirects is None:
            return

        async def examine() -> None:
            self.problems = await asyncio.to_thread(_problems, redirects)
            self.screen.redraw()

        self.screen.run(examine, group="problems", exclusive=True)

    def _take_links(self, result: Result[Page[ShareLink] | None]) -> None:
        self.links = Loaded(result.value.items if result.value else self.links.value, result.error)
        self.screen.redraw()

    def _take_sign_in(self, result: Result[PublishingAuth | None]) -> None:
        self.sign_in = self.sign_in.after(result)
        self.screen.redraw()


def _problems(redirects: RedirectMap) -> dict[str, str]:
    problems = ((redirect.id, redirects.problem(redirect)) for redirect in redirects.by_source.values())
    return {redirect_id: problem for redirect_id, problem in problems if problem}
