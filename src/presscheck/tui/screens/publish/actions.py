"""Publishing and unpublishing of sites: the confirmation, each step, and the request to the live address."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Container, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.site_settings import CreateShareLink, GetCustomization
from presscheck.api.sites import GetSite, PublishSite, Site, UnpublishSite
from presscheck.engine.publish.differences import Differences, differences
from presscheck.engine.publish.publish_summary import LINK_NAME, audience, lacks_link, publish_lines, unpublish_lines
from presscheck.engine.publish.published_state import PublishedStates, customization_settings
from presscheck.engine.publish.publishing import reach_words, read_customization, unreach_words
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.batch_actions import BatchItem, BatchScreen
from presscheck.tui.ui.ask import Checked, choose, confirm, confirm_checked
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.tui.screens.publish.checklist import Checklist
    from presscheck.tui.screens.publish.session import PublishSession

CHECKING: Line = (Span("Checking …", "quiet"),)
ACTIONS = (
    Choice("publish", "Publish", "sites that are not live"),
    Choice("unpublish", "Unpublish", "sites that are live"),
)


class SiteItem(BatchItem):
    """A site to publish or unpublish. To check the result, its web address is then requested without signing in.

    Args:
        engine: the engine.
        organization_id: the organization of the site.
        site: the site.
        unpublishes: True to unpublish the site, False to publish it.
        creates_link: whether a share link is created after publishing.
    """

    def __init__(
        self, engine: Engine, organization_id: str, site: Site, *, unpublishes: bool, creates_link: bool = False
    ) -> None:
        super().__init__()
        self._engine, self._organization_id, self._site = engine, organization_id, site
        self._unpublishes, self._creates_link, self._address = unpublishes, creates_link, ""

    @override
    @property
    def key(self) -> str:
        return self._site.id

    @override
    @property
    def label(self) -> Line:
        return (Span(sanitize(self._site.title) or "(no title)", "strong"),)

    @override
    @property
    def address(self) -> str:
        return self._address

    @override
    async def run(self, redraw: Callable[[], None]) -> None:
        try:
            await (self._unpublish(redraw) if self._unpublishes else self._publish(redraw))
        except PresscheckError as error:
            self.state, self.message = "failed", sanitize(error.message)

    async def _publish(self, redraw: Callable[[], None]) -> None:
        path = self._path()
        self.message = "publishing …"
        redraw()
        answer = await self._engine.write(PublishSite(**path)).landed()
        if answer is None:  # another process sent the write, and got the answer
            answer = await self._engine.read(GetSite(**path))
        if not isinstance(answer, Site):
            self.state, self.message = (
                "failed",
                f"the service asks for a payment first: {key_for('web')} opens the site in the browser",
            )
            return
        self._site = answer
        if self._creates_link:
            link = await self._engine.write(CreateShareLink(**path, name=LINK_NAME)).landed()
            self._creates_link = False  # a retry publishes again, and must not create another link
            if link and link.urls.published:
                urls = answer.urls.model_copy(update={"published": link.urls.published})
                answer = answer.model_copy(update={"urls": urls})
        self._address = sanitize(answer.urls.published or "")
        address = sanitize(shown_address(answer, self._address))
        self.message = f"published; checking that {address or 'the page'} answers …"
        redraw()
        words = sanitize(await reach_words(self._engine, self._organization_id, answer))
        await self._engine.noted(answer.id)  # quitting earlier would lose the record of the publish
        self.state = "failed" if "not reachable" in words else "done"
        self.message = f"{words} {address}".rstrip()  # the result comes first, because narrow screens cut the address

    async def _unpublish(self, redraw: Callable[[], None]) -> None:
        address = self._site.urls.published
        self.message = "unpublishing …"
        redraw()
        await self._engine.write(UnpublishSite(**self._path())).landed()
        self.message = "unpublished; checking that its address no longer answers …"
        redraw()
        self.message = sanitize(await unreach_words(self._engine, self._organization_id, self._site, address))
        self.state = "done"

    def _path(self) -> dict[str, Any]:
        return {"organization_id": self._organization_id, "site_id": self._site.id}


class PublishActions:
    """The commands that publish and unpublish the site under the cursor, or all marked sites.

    Args:
        session: the sites.
        checklist: the checks that run before publishing.
    """

    def __init__(self, session: PublishSession, checklist: Checklist) -> None:
        self._session, self._checklist = session, checklist

    def reason_publish(self) -> str | None:
        """Return why nothing can be published or unpublished: there is no site, or writes are not possible now."""
        if self._session.current is None:
            return f"there is no site to publish: {key_for('add')} creates one"
        return self._session.screen.engine.write_reason(None, "publishing")

    def command_publish(self) -> Awaitable[None] | None:
        """Publish or unpublish the site, after a confirmation."""
        site = self._session.current
        if site is None:
            return None
        return self._unpublish(site) if site.published else self._publish(site)

    def reason_act_on_marked(self) -> str | None:
        """Return why marked sites cannot be published: none is marked, or `reason_publish` applies."""
        if not self._session.sites.marked:
            return f"nothing is marked: {key_for('mark')} marks a site, {key_for('mark_visible')} all visible ones"
        return self.reason_publish()

    async def command_act_on_marked(self) -> None:
        """Ask whether to publish or unpublish the marked sites, and do it. Sites already in that state are skipped."""
        marked = self._session.sites.marked
        title = f"With {count(len(marked), 'site')}"
        choice = await choose(self._session.screen, title, ACTIONS)
        if not choice:
            return
        unpublishes = choice == "unpublish"
        sites = [site for site in marked if site.published == unpublishes]
        if not sites:
            self._session.screen.notify("none of them is live" if unpublishes else "all of them are live already")
        elif await (self._confirm_unpublishing(sites) if unpublishes else self._confirm_publishing(sites)):
            self._session.sites.rows.marks.clear()
            if unpublishes:
                self._start(sites)
            else:
                await self._start_publishing(sites)

    async def _publish(self, site: Site) -> None:
        """Publish a site after a confirmation with its check results. After errors, the user must type the title."""
        title = sanitize(site.title)
        lines = publish_lines(site, None, Differences(), time.time())[:3]

        async def check() -> Checked:
            findings = await self._checklist.check(site)
            content = self._checklist.content(site)
            customization = await read_customization(
                self._session.screen.engine, self._session.organization_id, site.id
            )
            changes = differences(content, customization) if content else Differences()
            is_faulty = any(finding.severity == "error" for finding in findings or ())
            checked = [
                *publish_lines(site, content, changes, time.time()),
                (),
                *self._checklist.lines_before_publishing(site),
            ]
            return Checked(checked, title if is_faulty else None)

        question = f"Publish {title}?"
        if await confirm_checked(self._session.screen, question, [*lines, (), CHECKING], "Publish", check):
            await self._start_publishing([site])

    async def _unpublish(self, site: Site) -> None:
        """Unpublish a site after the user has typed its title.

        The dialog shows cached data only and does not load more, because unpublishing may be urgent.
        """
        title, content = sanitize(site.title), self._checklist.content(site)
        call = GetCustomization(organization_id=self._session.organization_id, site_id=site.id)
        cached = self._session.screen.engine.known(call)
        customization = customization_settings(cached.value) if cached else "it is not in the cache"
        state = PublishedStates(self._session.screen.engine.outbox).of(site.id)
        is_current = content is not None and content.published == state
        changes = differences(content, customization) if content and is_current else None
        lines = unpublish_lines(site, content, state, changes, time.time())
        question = f"Unpublish {title}?"
        if await confirm(self._session.screen, question, lines, "Unpublish", type_to_confirm=title):
            self._start([site])

    async def _confirm_publishing(self, sites: Sequence[Site]) -> bool:
        number = count(len(sites), "site")

        async def check() -> Checked:
            lines, is_faulty = list[Line](), False
            for site in sites:
                findings = await self._checklist.check(site)
                is_faulty = is_faulty or any(finding.severity == "error" for finding in findings or ())
                visitors = audience(site, self._checklist.content(site))
                lines += [
                    (Span(sanitize(site.title), "strong"), Span(f"  visible to {visitors}")),
                    (Span("  "), *self._checklist.summary_line(site)),
                    *((Span("  "), *line) for line in self._checklist.prose_lines(site)),
                ]
            return Checked(lines, number if is_faulty else None)

        return await confirm_checked(self._session.screen, f"Publish {number}?", [CHECKING], "Publish", check)

    async def _confirm_unpublishing(self, sites: Sequence[Site]) -> bool:
        lines: list[Line] = [
            (
                Span(sanitize(site.title), "strong"),
                Span(f"  {sanitize(shown_address(site, site.urls.published))}", "link"),
            )
            for site in sites
        ]
        lines.append((Span("Readers can no longer open them.", "waiting"),))
        number = count(len(sites), "site")
        question = f"Unpublish {number}?"
        return await confirm(self._session.screen, question, lines, "Unpublish", type_to_confirm=number)

    async def _start_publishing(self, sites: Sequence[Site]) -> None:
        """Publish sites. For sites without an active share link, offer to create share links."""
        unlinked = {site.id for site in sites if lacks_link(site, self._checklist.content(site))}
        choice = None
        if unlinked and self._session.screen.engine.write_reason(CreateShareLink) is None:
            title = f"No active share link: {count(len(unlinked), 'site')}"
            choice = await choose(self._session.screen, title, _link_choices())
            if choice is None:
                return
        self._start(sites, unpublishes=False, linked=unlinked if choice == "link" else ())

    def _start(self, sites: Sequence[Site], *, unpublishes: bool = True, linked: Container[str] = ()) -> None:
        engine, organization_id = self._session.screen.engine, self._session.organization_id
        items = [
            SiteItem(engine, organization_id, site, unpublishes=unpublishes, creates_link=site.id in linked)
            for site in sites
        ]
        self._checklist.forget(sites)
        title = "Unpublish" if unpublishes else "Publish"
        self._session.screen.app_context.push_screen(BatchScreen(title, items, noun="site"))


def _link_choices() -> list[Choice]:
    later = f"{key_for('go_access')} creates one later"
    return [
        Choice("link", "Publish, and create a share link", "its address can be copied then", letter="c"),
        Choice("plain", "Publish without a share link", later, letter="p"),
    ]
