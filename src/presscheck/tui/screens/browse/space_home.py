"""The home of a space: its facts, and links to its change requests, sites and recently changed pages.

It is drawn from cached data first. When the cursor rests on the space, the data is loaded from the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.content import ListPages, Pages, RevisionPage
from presscheck.api.links import Links, ListSpaceLinks
from presscheck.api.operation import Operation, Page
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import GetSpaceGitInfo, GitSync, Space
from presscheck.api.users import GetCurrentUser
from presscheck.documents.pages.tree import flatten
from presscheck.documents.terminal.page_lines import Heading
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.results import Result
from presscheck.engine.shared_calls import home_requests
from presscheck.errors import NotSupported
from presscheck.text.phrases import count, long_ago, now, since
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width, wrap
from presscheck.tui.commands import BY_NAME, key_for, with_keys
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.page_tree import READABLE
from presscheck.tui.screens.browse.static_layout import StaticLayout
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.loaded import Loaded, note_for

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree

T = TypeVar("T")
MOST_MINE, MOST_OTHERS, MOST_MERGES, MOST_PAGES = 8, 8, 3, 5
"""Maximum numbers of listed change requests of the user and of others, merged change requests, and changed pages."""
ROW_WIDTH = 52
"""Width in cells to which links are padded if there is room, so that the facts after them are aligned."""
LINKS = "links"
"""The link target of the number of broken links."""
HINT = "{open} shows its pages; {next_pane} goes to this list"
REST = 0.2
"""Seconds that the cursor rests on an item before its data is requested."""
KEPT = 50
"""Number of spaces whose results are kept, so that they are shown at once when the cursor returns."""
Answers = dict[str, Result[Any]]


@dataclass(frozen=True)
class SpaceFacts:
    """The data of a space that its home shows. A part that the service cannot provide, or that does not apply, is None.

    Attributes:
        space: the space.
        me: the id of the user; empty if unknown.
        pages: the pages of the space, each followed by its subpages.
        drafts: the user's own drafts.
        requests: the open change requests of the space.
        total_requests: the number of open change requests, whether loaded or not; None if unknown.
        merges: the change requests that were merged last.
        sites: the sites that publish the space.
        broken_links: the number of broken links.
        git: the repository with which the space syncs.
        hint: a hint about commands on the space, as display text.
        online: whether the service can be reached.
    """

    space: Space
    me: str = ""
    pages: Loaded[tuple[RevisionPage, ...]] | None = None
    drafts: Loaded[tuple[ChangeRequest, ...]] | None = None
    requests: Loaded[tuple[ChangeRequest, ...]] | None = None
    total_requests: int | None = None
    merges: Loaded[tuple[ChangeRequest, ...]] | None = None
    sites: Loaded[tuple[Site, ...]] | None = None
    broken_links: Loaded[int] | None = None
    git: Loaded[GitSync] | None = None
    hint: str = HINT
    online: bool = True


class HomeLines(StaticLayout):
    """The lines of a space's home for `PageView`. A link is a kind and an id, or a web address.

    Args:
        facts: the data of the space.
        columns: the width.
        moment: the current time.
    """

    def __init__(self, facts: SpaceFacts, columns: int, moment: datetime) -> None:
        super().__init__(columns)
        self._moment, self._online = moment, facts.online
        self.title(_words(facts.space.title) or "(no title)")
        self._add(self._summary(facts))
        self.lines += wrap((Span(with_keys(facts.hint), "quiet"),), self.width)
        self._requests(facts)
        self._merges(facts.merges)
        self._sites(facts.sites)
        self._git(facts.git)
        self._pages(facts)

    def _summary(self, facts: SpaceFacts) -> Line:
        """Render lock, number of pages, and broken links."""
        lock = "locked" if facts.space.edit_mode == "locked" else "not locked"
        parts = [Span(lock, "waiting" if lock == "locked" else "quiet")]
        if facts.pages:
            pages = facts.pages.value
            number = None if pages is None else sum(page.type in READABLE for page in pages)
            text = f"pages {self._why(facts.pages)}" if number is None else count(number, "page")
            parts.append(Span(text, "quiet"))
        if broken := facts.broken_links:
            known = "no broken links" if broken.value == 0 else count(broken.value or 0, "broken link")
            text = f"links {self._why(broken)}" if broken.value is None else known
            parts.append(Span(text, "removed", LINKS) if broken.value else Span(text, "quiet"))
        return tuple(span for part in parts for span in (Span(" · ", "quiet"), part))[1:]

    def _requests(self, facts: SpaceFacts) -> None:
        """Add the user's own drafts and open change requests, then the open change requests of other users."""
        opened = (facts.requests and facts.requests.value) or ()
        own = [request for request in opened if facts.me and request.created_by and request.created_by.id == facts.me]
        others = [request for request in opened if request not in own]
        drafts = (facts.drafts and facts.drafts.value) or ()
        if facts.me and (facts.requests or facts.drafts):
            self._head("Your change requests")
            mine = sorted((*drafts, *own), key=lambda request: request.updated_at, reverse=True)
            self._list(mine, MOST_MINE, "continue in ", with_status=True)
            missing = [part for part in (facts.drafts, facts.requests) if part and part.value is None]
            if missing:
                self._note(self._why(missing[0]))
            elif not mine:
                self._note(f"none: {key_for('new_request')} starts one, to edit pages in")
        if facts.requests is None:
            return
        total = max(len(opened), facts.total_requests or 0) - len(own)
        self._head("Other open change requests" if facts.me else "Open change requests")
        self._list(others, MOST_OTHERS, total=total)
        if facts.requests.value is None:
            self._note(self._why(facts.requests))
        elif not others:
            self._note("none")

    def _merges(self, merges: Loaded[tuple[ChangeRequest, ...]] | None) -> None:
        if merges is None:
            return
        self._head("Last merges")
        found = merges.value or ()
        for request in found[:MOST_MERGES]:
            self._row(_title(request), f"request {request.id}", f"merged {since(request.merged_at, self._moment)}")
        if not found:
            self._note("none yet" if merges.value is not None else self._why(merges))

    def _sites(self, sites: Loaded[tuple[Site, ...]] | None) -> None:
        if sites is None:
            return
        self._head("Sites")
        for site in sites.value or ():
            self._row(_words(site.title) or "(no title)", f"site {site.id}", "" if site.published else "draft")
            address = site.urls.published if site.published else None
            if address:
                self._add((Span("  "), Span(display_url(shown_address(site, address)), "link", address)))
        if not sites.value:
            self._note("no site publishes it" if sites.value is not None else self._why(sites))

    def _git(self, git: Loaded[GitSync] | None) -> None:
        """Add the repository, with the time of the last sync."""
        if git is None:
            return
        self._head("Git sync")
        known = git.value
        if known is None:
            self._note(self._why(git))
            return
        name = _words(known.repo_name) or "(no name)"
        when = f"synced {since(known.updated_at, self._moment)}" if known.updated_at else "not synced yet"
        note = " · ".join(filter(None, (_words(known.installation_provider or known.integration), when)))
        if known.url:
            self._row(name, known.url, note)
        else:
            self._add((Span(f"  {name}"), Span(f"   {note}", "quiet")))

    def _pages(self, facts: SpaceFacts) -> None:
        """Add the pages that were changed last."""
        pages = (facts.pages and facts.pages.value) or ()
        dated = [page for page in pages if page.type == "document" and page.updated_at]
        if not dated:
            return
        self._head("Recently changed pages")
        dated.sort(key=lambda page: page.updated_at or "", reverse=True)
        for page in dated[:MOST_PAGES]:
            self._row(_words(page.title) or "(no title)", f"page {page.id}", since(page.updated_at, self._moment))

    def _list(
        self,
        requests: Sequence[ChangeRequest],
        most: int,
        verb: str = "",
        *,
        total: int | None = None,
        with_status: bool = False,
    ) -> None:
        for request in requests[:most]:
            facts = [request.status] if with_status else []
            if not with_status and request.created_by:
                facts.append(f"by {_words(request.created_by.display_name).partition(' ')[0]}")
            facts.append(since(request.updated_at, self._moment))
            self._row(_title(request), f"request {request.id}", " · ".join(facts), verb)
        rest = max(len(requests), total or 0) - len(requests[:most])
        if rest > 0:
            self._note(f"… {rest:,} more: the inbox has them all")

    def _head(self, text: str) -> None:
        self.lines.append(())
        self.headings.append(Heading(2, text, len(self.lines)))
        self._add((Span(text, "heading"),))

    def _row(self, label: str, target: str, note: str, verb: str = "") -> None:
        """Add a link and a note. The note is cut to half of the width, the link to the room that is left."""
        line = (Span(verb, "quiet"), Span(label, "link", target)) if verb else (Span(label, "link", target),)
        if not note:
            self._add((Span("  "), *line))
            return
        facts = cut((Span(note, "quiet"),), max(0, self.width // 2 - 2))
        room = max(1, self.width - width(facts) - 4)
        self._add((Span("  "), *pad(cut(line, room), min(room, ROW_WIDTH)), Span("  "), *facts))

    def _note(self, text: str) -> None:
        self._add((Span(f"  {text}", "quiet"),))

    def _why(self, part: Loaded[T]) -> str:
        return sanitize(note_for(part, online=self._online))

    def _add(self, line: Iterable[Span]) -> None:
        self.lines.append(cut(tuple(line), self.width))


def _title(request: ChangeRequest) -> str:
    return f"#{request.number} {_words(request.subject) or '(no subject)'}"


def _words(text: str | None) -> str:
    """Return a text of the service in a single line."""
    return " ".join(sanitize(text or "").split())


class SpaceHome:
    """The home of a space: it loads the data, and follows the links.

    When the cursor rests on a space, there are at most five requests: pages, open and merged change requests, sites and
    links. A space with Git sync needs one more for its repository. The user's drafts are read once, from the listing of
    the organization.

    Args:
        session: the tree and the page pane.
        show: shows the home of a space; called again when more data has arrived.
    """

    def __init__(self, session: ContentTree, show: Callable[[Space], None]) -> None:
        self._session, self._screen = session, session.screen
        self._show = show
        self.space: Space | None = None
        """The space that is shown; None while the cursor is on another item."""
        self._drafts: ListOrganizationChangeRequests | None = None
        self._drafts_result: Result[Any] | None = None
        self._answers: dict[str, Answers] = {}

    @property
    def age(self) -> str:
        """A note on the age of the oldest part that is shown offline; empty if there is none."""
        answers = self._answers.get(self.space.id, {}) if self.space else {}
        ages = [result.age for result in answers.values() if result.state == "offline" and result.value is not None]
        return f"   as it was {long_ago(max(ages))}" if ages else ""

    def show(self, space: Space) -> None:
        """Show a space with the data loaded so far. Once the cursor has rested on the space, load more."""
        is_other = self.space is None or self.space.id != space.id
        self.space = space
        if is_other:
            self._watch_drafts()
            self._stop()
            self._screen.run(lambda: self._rested(space), group="home rest", exclusive=True)
        self._show(space)

    def _watch_drafts(self) -> None:
        """Subscribe to the user's drafts in the organization, unless they are subscribed to already."""
        organization, me = self._session.organization_id, self._me
        if me and organization and self._drafts is None:
            self._drafts = ListOrganizationChangeRequests(organization_id=organization, status="draft", creator=me)
            answers = self._screen.engine.watch_listing(self._drafts)
            self._screen.subscribe(answers, self._take_drafts, group="home drafts", shows_errors=False)

    def leave(self) -> None:
        """Stop loading the data of the space, because the cursor has left it."""
        if self.space:
            self.space = None
            self._stop()

    def lines(self, columns: int) -> HomeLines:
        """Return the lines of the current space.

        Raises:
            LookupError: no space is shown.
        """
        if self.space is None:
            raise LookupError("no space is shown")
        return HomeLines(self._facts(self.space), columns, now())

    def follow(self, target: str) -> None:
        """Open the target of a link: a review, a page, a site, the list of links, or a web address."""
        kind, _, name = target.partition(" ")
        app, space = self._screen.app_context, self.space
        if space is None:
            return
        if kind == "request":
            self._screen.run(app.go(Place.review(space.id, name)))
        elif kind == "page":
            self._session.visit_page(space.id, name)
        elif kind == "site":
            self._screen.run(app.go(Place.site(name)))
        elif kind == LINKS:
            self._screen.run_command(BY_NAME["go_links"])
        else:
            open_address(app, target)

    def _calls(self, space: Space) -> dict[str, Operation[Any]]:
        """Return the calls for a space, by name of the part. Pages that the tree has loaded are not requested."""
        calls: dict[str, Operation[Any]] = {
            **home_requests(space.id),
            "links": ListSpaceLinks(space_id=space.id, status="broken", limit=1),
        }
        if organization := self._session.organization_id:
            calls["sites"] = ListSites(organization_id=organization, space=space.id)
        if space.git_sync is not None and self._screen.engine.missing_reason(GetSpaceGitInfo) is None:
            calls["git"] = GetSpaceGitInfo(space_id=space.id)
        if self._session.library.pages(space.id) is None:
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
        """The id of the user; empty if unknown."""
        known = self._screen.engine.known(GetCurrentUser())
        return known.value.id if known else ""

    def _facts(self, space: Space) -> SpaceFacts:
        requests: Loaded[Page[ChangeRequest]] | None = self._part(space, "requests")
        merges: Loaded[Page[ChangeRequest]] | None = self._part(space, "merges")
        sites: Loaded[Page[Site]] | None = self._part(space, "sites")
        links: Loaded[Links] | None = self._part(space, "links")
        git: Loaded[GitSync] | None = self._part(space, "git")
        return SpaceFacts(
            space,
            me=self._me,
            pages=self._pages(space),
            drafts=self._own_drafts(space),
            requests=requests and requests.map(lambda page: page.items),
            total_requests=_total(requests.value, space) if requests and requests.value else None,
            merges=merges and merges.map(lambda page: page.items),
            sites=sites and sites.map(lambda page: page.items),
            broken_links=links and links.map(lambda links: links.stats.broken.total),
            git=Loaded((git and git.value) or space.git_sync) if space.git_sync else None,
            hint=HINT if self._session.library.pages(space.id) else self._session.hints.get(space.id, HINT),
            online=self._screen.engine.status.online,
        )

    def _pages(self, space: Space) -> Loaded[tuple[RevisionPage, ...]] | None:
        known = self._session.library.pages(space.id)
        part: Loaded[Pages] | None = self._part(space, "pages") if known is None else Loaded(known)
        return part and part.map(lambda pages: tuple(flatten(pages.pages)))

    def _own_drafts(self, space: Space) -> Loaded[tuple[ChangeRequest, ...]] | None:
        listing = self._drafts
        if listing is None:
            return None
        window = self._screen.engine.window(listing, 0, 1000)
        if window.age is not None:
            return Loaded(tuple(request for request in window.items if request.space == space.id))
        return _part(self._drafts_result and replace(self._drafts_result, value=None))

    def _part(self, space: Space, name: str) -> Loaded[Any] | None:
        return _part(self._answers.get(space.id, {}).get(name))


def _part(result: Result[Any] | None) -> Loaded[Any] | None:
    """Return the value of a result, or why it is missing; None if the service cannot provide it."""
    if result is None:
        return Loaded()
    if result.value is None and isinstance(result.error, NotSupported):
        return None
    return Loaded(result.value, result.error)


async def rest() -> None:
    """Wait until the cursor has rested for `REST` seconds."""
    await asyncio.sleep(REST)


def _total(requests: Page[ChangeRequest], space: Space) -> int:
    """Return the number of open change requests, whether they are loaded or not."""
    if requests.total is not None:
        return requests.total
    return space.change_requests_open if requests.next else len(requests.items)
