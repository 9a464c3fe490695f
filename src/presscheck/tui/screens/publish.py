"""Publish: the sites of the organization, what each is made of, and the sheet that puts one live or takes it away."""

from __future__ import annotations

from collections.abc import Iterator

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.site_structure import (
    GetSiteStructure,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
)
from presscheck.api.sites import ListSites, PublishSite, Site, UnpublishSite
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span, cut, pad
from presscheck.tui.screens.place import Place
from presscheck.tui.widgets.lines import Lines
from presscheck.tui.widgets.rows import Rows
from presscheck.tui.widgets.sheet import Sheet

MANY = 1000


class Publish(Place):
    """Sites on the left, the structure of the one under the cursor on the right."""

    FOOTER = ("publish", "copy", "web", "go_inbox", "refresh", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization: Organization | None = None
        self.sites: tuple[Site, ...] = ()
        self._structure: SiteStructure | None = None
        self._wanted = ""

    def title_line(self) -> Line:
        """The organization and the site."""
        site = self.current
        way = [self.organization.title if self.organization else "", "Sites", site.title if site else ""]
        return (Span(" " + " › ".join(display_text(part) for part in way if part), "quiet"),)

    def body(self) -> ComposeResult:
        """Sites, and the structure of one."""
        with Horizontal():
            yield Rows(self._row, self.home.look, id="tree")
            yield Lines(self.home.look, id="structure")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        super().on_mount()
        self.query_one(Rows).focus()
        self.follow(self.desk.watch(ListOrganizations()), self._organized, group="organizations")

    @property
    def current(self) -> Site | None:
        """The site under the cursor."""
        at = self.query_one(Rows).cursor if self.is_mounted else 0
        return self.sites[at] if at < len(self.sites) else None

    def open_site(self, site_id: str) -> None:
        """Point at a site, now or when it is known."""
        self._wanted = site_id
        self._redraw()

    def reason_publish(self) -> str | None:
        """It needs a site and the service."""
        if self.current is None:
            return "there is no site to publish"
        return None if self.desk.status.online else "offline: publishing cannot wait in a queue"

    async def command_publish(self) -> None:
        """Put the site live, or take it away, after asking."""
        site = self.current
        if site is None or self.organization is None:
            return
        act = "Unpublish" if site.published else "Publish"
        if not await self.ask(Sheet(f"{act} {display_text(site.title)}?", self._facts(site), act, self.home.look)):
            return
        given = {"organization_id": self.organization.id, "site_id": site.id}
        if site.published:
            await self.desk.write(UnpublishSite(**given)).landed()
            self.home.notice(f"{site.title} is no longer published")
            return
        answer = await self.desk.write(PublishSite(**given)).landed()
        if isinstance(answer, Site):
            self.home.notice(f"{answer.title} is live: {answer.urls.published or 'the service does not say where'}")
        else:
            self.home.notice("the service asks for a payment first: finish it in the browser")

    def command_copy(self) -> None:
        """Copy where the site is published."""
        site = self.current
        if site and site.urls.published:
            self.home.copy_to_clipboard(display_text(site.urls.published))
            self.home.notice("copied")

    def command_web(self) -> None:
        """Show where the site is."""
        site = self.current
        if site:
            self.home.notice(site.urls.published or site.urls.app or "it has no web address")

    @on(Rows.RowPointed)
    def row_pointed(self) -> None:
        """Another site."""
        self._follow_structure()

    def _facts(self, site: Site) -> list[Line]:
        if site.published:
            where = display_text(site.urls.published or "")
            return [(Span(f"Readers can open {where} until then, and not afterwards."),)]
        seen = {"public": "anybody, and search engines", "unlisted": "anybody who has the address"}
        lines: list[Line] = [(Span(f"Visible to {seen.get(site.visibility, display_text(site.visibility))}."),)]
        return [*lines, (Span(f"It holds {site.site_spaces} spaces, as they are now.", "quiet"),)]

    def _organized(self, seen: Seen[Page[Organization] | None]) -> None:
        wanted = self.home.profile.organization
        found = seen.value.items if seen.value else ()
        chosen = next((one for one in found if wanted in (one.id, one.title)), found[0] if found else None)
        if chosen is None or (self.organization and self.organization.id == chosen.id):
            return
        self.organization = chosen
        listing = ListSites(organization_id=chosen.id, limit=MANY)
        self.follow(self.desk.watch(listing), self._listed, group="sites")

    def _listed(self, seen: Seen[Page[Site] | None]) -> None:
        if seen.value:
            self.sites = seen.value.items
        self._redraw()

    def _redraw(self) -> None:
        rows = self.query_one(Rows)
        at = next((at for at, site in enumerate(self.sites) if site.id == self._wanted), rows.cursor)
        rows.show(len(self.sites), cursor=at)
        self._follow_structure()

    def _follow_structure(self) -> None:
        site = self.current
        self.show_world()
        if site is None or self.organization is None:
            self.query_one(Lines).show([(), (Span("  There is no site yet.", "quiet"),)])
            return
        ask = GetSiteStructure(organization_id=self.organization.id, site_id=site.id)
        self.follow(self.desk.watch(ask), lambda seen: self._structured(site, seen), group="structure")

    def _structured(self, site: Site, seen: Seen[SiteStructure | None]) -> None:
        where = display_text(site.urls.published) if site.published and site.urls.published else "not published"
        lines: list[Line] = [(Span(f"  {display_text(site.title)}", "title"),), (Span(f"  {where}", "link"),), ()]
        if seen.value is None:
            lines.append((Span(f"  {display_text(seen.error.message) if seen.error else '…'}", "quiet"),))
        else:
            lines += list(structure_lines(seen.value.structure, 1))
        self.query_one(Lines).show(lines)

    def _row(self, index: int, columns: int) -> Line:
        site = self.sites[index]
        state = Span("● live", "added") if site.published else Span("○ draft", "quiet")
        name = pad(cut((Span(display_text(site.title), "strong"),), columns - 10), columns - 10)
        return (*name, Span(" "), *pad((state,), 8), Span("│", "quiet"))


def structure_lines(items: tuple[StructureItem, ...], level: int) -> Iterator[Line]:
    """The structure of a site, sections before what they hold."""
    blank = Span("  " * level)
    for item in items:
        if isinstance(item, SiteSpace):
            path = display_text(item.path)
            mark = (Span("  first", "quiet"),) if item.default else ()
            yield (blank, Span(display_text(item.title or item.space.title)), Span(f"  /{path}", "quiet"), *mark)
        elif isinstance(item, SiteSection):
            yield (blank, Span(display_text(item.title), "strong"), Span(f"  /{display_text(item.path)}", "quiet"))
            yield from structure_lines(item.site_spaces, level + 1)
        elif isinstance(item, SiteSectionGroup):
            yield (blank, Span(display_text(item.title), "heading"))
            yield from structure_lines(item.children, level + 1)
        else:
            yield (blank, Span(display_text(item.title), "link"))
