"""Renders the home of a space: its facts, change requests, sites and recently changed pages, each as a link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.api.sites import Site
from presscheck.api.spaces import GitSync, Space
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.phrases import count, since
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width, wrap
from presscheck.tui.screens.browse.page_tree import READABLE
from presscheck.tui.screens.browse.static_layout import Heading, StaticLayout

T = TypeVar("T")
MOST_MINE, MOST_OTHERS, MOST_MERGES, MOST_PAGES = 8, 8, 3, 5
"""The most lines of each list; the others are counted."""
ROW_WIDTH = 52
"""Columns after which the facts of a row begin, where there is room."""
LOADING, NOT_CACHED = "loading …", "not in the cache"
LINKS = "links"
"""The target of the number of broken links."""
HINT = "enter shows its pages; tab goes to this list"


@dataclass(frozen=True)
class Part(Generic[T]):
    """One part of what is known of a space.

    Attributes:
        value: what is known; None if nothing is.
        problem: why nothing is known, as display text; empty while it is loaded.
        is_missing: whether the service cannot tell it.
    """

    value: T | None = None
    problem: str = ""
    is_missing: bool = False


@dataclass(frozen=True)
class SpaceFacts:
    """What is known of a space.

    Attributes:
        me: the id of the user; empty if unknown.
        pages: its pages, each before those below it.
        drafts: the user's own drafts.
        requests: its open change requests.
        total_requests: the number of open change requests, which may be more than are known; None if unknown.
        merges: the last merged ones.
        sites: the sites that have it.
        broken_links: the number of broken links.
        git: the repository that it syncs with.
        hint: what can be done here, as display text.
    """

    space: Space
    me: str = ""
    pages: Part[tuple[RevisionPage, ...]] = field(default_factory=Part[tuple[RevisionPage, ...]])
    drafts: Part[tuple[ChangeRequest, ...]] = field(default_factory=Part[tuple[ChangeRequest, ...]])
    requests: Part[tuple[ChangeRequest, ...]] = field(default_factory=Part[tuple[ChangeRequest, ...]])
    total_requests: int | None = None
    merges: Part[tuple[ChangeRequest, ...]] = field(default_factory=Part[tuple[ChangeRequest, ...]])
    sites: Part[tuple[Site, ...]] = field(default_factory=Part[tuple[Site, ...]])
    broken_links: Part[int] = field(default_factory=Part[int])
    git: Part[GitSync] = field(default_factory=lambda: Part[GitSync](is_missing=True))
    hint: str = HINT


class HomeLines(StaticLayout):
    """The lines of a space's home, as `PageView` shows them; a link is a kind and an id, or a web address.

    Args:
        facts: what is known of the space.
        columns: the width, in cells.
        moment: the current time.
    """

    def __init__(self, facts: SpaceFacts, columns: int, moment: datetime) -> None:
        super().__init__(columns)
        self._moment = moment
        self._draw(facts)

    def _draw(self, facts: SpaceFacts) -> None:
        self.title(_words(facts.space.title) or "(no title)")
        self._add(self._summary(facts))
        self.lines += wrap((Span(facts.hint, "quiet"),), self.width)
        self._requests(facts)
        self._merges(facts.merges)
        self._sites(facts.sites)
        self._git(facts.git)
        self._pages(facts)

    def _summary(self, facts: SpaceFacts) -> Line:
        """Lock, pages and broken links in one line."""
        lock = "locked" if facts.space.edit_mode == "locked" else "not locked"
        parts = [Span(lock, "waiting" if lock == "locked" else "quiet")]
        if not facts.pages.is_missing:
            pages = facts.pages.value
            number = None if pages is None else sum(page.type in READABLE for page in pages)
            parts.append(Span(f"pages {_why(facts.pages)}" if number is None else count(number, "page"), "quiet"))
        broken = facts.broken_links
        if not broken.is_missing:
            known = "no broken links" if broken.value == 0 else count(broken.value or 0, "broken link")
            text = f"links {_why(broken)}" if broken.value is None else known
            parts.append(Span(text, "removed", LINKS) if broken.value else Span(text, "quiet"))
        return tuple(span for part in parts for span in (Span(" · ", "quiet"), part))[1:]

    def _requests(self, facts: SpaceFacts) -> None:
        """The user's own drafts and open change requests, then those of others."""
        opened = facts.requests.value or ()
        own = [request for request in opened if facts.me and request.created_by and request.created_by.id == facts.me]
        others = [request for request in opened if request not in own]
        drafts = facts.drafts.value or ()
        if facts.me and not (facts.requests.is_missing and facts.drafts.is_missing):
            self._head("Your change requests")
            mine = sorted((*drafts, *own), key=lambda request: request.updated_at, reverse=True)
            self._list(mine, MOST_MINE, "continue in ", with_status=True)
            problems = [part for part in (facts.drafts, facts.requests) if part.value is None and not part.is_missing]
            if problems:
                self._note(_why(problems[0]))
            elif not mine:
                self._note("none: O starts one, to edit pages in")
        if facts.requests.is_missing:
            return
        total = max(len(opened), facts.total_requests or 0) - len(own)
        self._head("Other open change requests" if facts.me else "Open change requests")
        self._list(others, MOST_OTHERS, total=total)
        if facts.requests.value is None:
            self._note(_why(facts.requests))
        elif not others:
            self._note("none")

    def _merges(self, merges: Part[tuple[ChangeRequest, ...]]) -> None:
        if merges.is_missing:
            return
        self._head("Last merges")
        found = merges.value or ()
        for request in found[:MOST_MERGES]:
            self._row(_title(request), f"request {request.id}", f"merged {since(request.merged_at, self._moment)}")
        if not found:
            self._note("none yet" if merges.value is not None else _why(merges))

    def _sites(self, sites: Part[tuple[Site, ...]]) -> None:
        if sites.is_missing:
            return
        self._head("Sites")
        for site in sites.value or ():
            self._row(_words(site.title) or "(no title)", f"site {site.id}", "" if site.published else "draft")
            address = site.urls.published if site.published else None
            if address:
                self._add((Span("  "), Span(display_url(shown_address(site, address)), "link", address)))
        if not sites.value:
            self._note("no site publishes it" if sites.value is not None else _why(sites))

    def _git(self, git: Part[GitSync]) -> None:
        """The repository that it syncs with, and when it last did."""
        if git.is_missing:
            return
        self._head("Git sync")
        known = git.value
        if known is None:
            self._note(_why(git))
            return
        name = _words(known.repo_name) or "(no name)"
        when = f"synced {since(known.updated_at, self._moment)}" if known.updated_at else "not synced yet"
        note = " · ".join(filter(None, (_words(known.installation_provider or known.integration), when)))
        if known.url:
            self._row(name, known.url, note)
        else:
            self._add((Span(f"  {name}"), Span(f"   {note}", "quiet")))

    def _pages(self, facts: SpaceFacts) -> None:
        """The pages that were changed last."""
        dated = [page for page in facts.pages.value or () if page.type == "document" and page.updated_at]
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
        """A link with facts behind it, which make room for it if they must."""
        line = (Span(verb, "quiet"), Span(label, "link", target)) if verb else (Span(label, "link", target),)
        if not note:
            self._add((Span("  "), *line))
            return
        facts = cut((Span(note, "quiet"),), max(0, self.width // 2 - 2))
        room = max(1, self.width - width(facts) - 4)
        self._add((Span("  "), *pad(cut(line, room), min(room, ROW_WIDTH)), Span("  "), *facts))

    def _note(self, text: str) -> None:
        self._add((Span(f"  {text}", "quiet"),))

    def _add(self, line: Iterable[Span]) -> None:
        self.lines.append(cut(tuple(line), self.width))


def _why(part: Part[T]) -> str:
    return part.problem or LOADING


def _title(request: ChangeRequest) -> str:
    return f"#{request.number} {_words(request.subject) or '(no subject)'}"


def _words(text: str | None) -> str:
    """A text of the service in one line."""
    return " ".join(sanitize(text or "").split())
