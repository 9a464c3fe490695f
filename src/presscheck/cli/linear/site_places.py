"""The list of sites, and a site: checking, publishing and unpublishing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.site_settings import CreateShareLink
from presscheck.api.sites import Checkout, GetSite, ListSites, PublishSite, Site, UnpublishSite
from presscheck.cli.linear.place import Linear, Place, Verb, pick
from presscheck.cli.site.commands import check_content
from presscheck.documents.sites.checks import Finding, summary
from presscheck.documents.sites.content import SiteContent
from presscheck.engine.publish.differences import SUBJECTS, Differences, differences
from presscheck.engine.publish.publish_summary import LINK_NAME, audience, lacks_link, last_publish, publish_lines
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.publishing import reach_words, read_customization, unreach_words
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import plain


class SitesPlace(Place):
    """The sites of all organizations of the user."""

    def __init__(self, linear: Linear) -> None:
        super().__init__(linear)
        self._sites: list[tuple[Organization, Site]] = []

    @property
    @override
    def name(self) -> str:
        return "sites"

    @override
    async def load(self) -> Sequence[str]:
        organizations = (await self.session.read(ListOrganizations())).items
        self._sites = [
            (owner, site)
            for owner in organizations
            for site in await self.session.all(ListSites(organization_id=owner.id))
        ]
        rows = (
            f"{number}. {_title(site)}: {'published' if site.published else 'not published'}, "
            f"visible to {audience(site, None)}"
            for number, (_, site) in enumerate(self._sites, 1)
        )
        return [f"{count(len(self._sites), 'site')}.", *rows]

    @override
    async def open(self, number: int) -> Place:
        owner, site = pick(self._sites, str(number), "site")
        return SitePlace(self.linear, owner.id, site)


class SitePlace(Place):
    """A site: its state, its checks, and its publishing."""

    def __init__(self, linear: Linear, organization_id: str, site: Site) -> None:
        super().__init__(linear)
        self._organization_id, self._site = organization_id, site

    @property
    @override
    def name(self) -> str:
        return "site"

    @property
    def _path(self) -> dict[str, Any]:
        return {"organization_id": self._organization_id, "site_id": self._site.id}

    @override
    async def load(self) -> Sequence[str]:
        self._site = site = await self.session.read(GetSite(**self._path))
        address = sanitize(shown_address(site, site.urls.published))
        lines = [f"{_title(site)}: {'published' if site.published else 'not published'}"]
        lines += [f"Live at {address}."] if site.published and address else []
        when = last_publish(PublishedStates(self.engine.outbox).of(site.id), time.time())
        lines += [f"{when.capitalize()}."] if when else []
        verb = "unpublish" if site.published else "publish"
        return [*lines, f"Visible to {audience(site, None)}.", f"check lists its problems, {verb} asks first."]

    @override
    def verbs(self) -> tuple[Verb, ...]:
        publish, unpublish = (
            self.engine.write_reason(call, "publishing", at_once=True) for call in (PublishSite, UnpublishSite)
        )
        if self._site.published:
            publish = publish or "it is published: later merges go live at once"
        else:
            unpublish = unpublish or "it is not published"
        return (
            Verb("check", "c", "List the problems that readers would see.", self._check),
            Verb("publish", "p", "Publish (checks the site, asks first).", self._publish, reason=publish),
            Verb("unpublish", "", "Unpublish (asks first).", self._unpublish, reason=unpublish),
        )

    async def _check(self, _argument: str) -> Place | None:
        _, findings = await self.linear.wait(check_content(self.session, self._organization_id, self._site))
        self.linear.terminal.show([_summary(findings), *map(_finding_line, findings)])
        return None

    async def _publish(self, _: str) -> Place | None:
        """Check the site, and publish it after a confirmation. If the check finds errors, the user types the title."""
        site = self._site
        content, findings, changes = await self.linear.wait(self._read())
        serious = [finding for finding in findings if finding.severity in ("error", "unknown")]
        lines = [plain(line) for line in publish_lines(site, content, changes, time.time())[:3]]
        self.linear.terminal.print([*lines, *_difference_lines(changes), _summary(findings)])
        self.linear.terminal.print(map(_finding_line, serious))
        has_errors = any(finding.severity == "error" for finding in findings)
        if not await self.linear.confirm(f"Publish {_title(site)}?", _title(site) if has_errors else "yes"):
            return None
        creates_link = False
        if lacks_link(site, content) and self.engine.write_reason(CreateShareLink) is None:
            creates_link = await self.linear.confirm(
                "It has no active share link. Create one?", otherwise="No share link is created."
            )
        answer = await self.session.write(PublishSite(**self._path), "")
        if isinstance(answer, Checkout):
            message = "This site requires a paid plan. Complete the payment in the web app, then publish again."
            self.linear.terminal.print([message])
            return None
        if creates_link:
            await self.session.write(CreateShareLink(**self._path, name=LINK_NAME), "Share link created.")
        if isinstance(answer, Site):
            words = await self.linear.wait(reach_words(self.engine, self._organization_id, answer))
            self.linear.terminal.print([words])
        await self.engine.noted(site.id)
        return self

    async def _read(self) -> tuple[SiteContent, list[Finding], Differences]:
        content, findings = await check_content(self.session, self._organization_id, self._site)
        customization = await read_customization(self.engine, self._organization_id, self._site.id)
        return content, findings, differences(content, customization)

    async def _unpublish(self, _: str) -> Place | None:
        site = self._site
        address = sanitize(shown_address(site, site.urls.published))
        self.linear.terminal.print([f"Readers can no longer open {address or 'it'}."])
        if await self.linear.confirm(f"Unpublish {_title(site)}?", _title(site)):
            await self.session.write(UnpublishSite(**self._path), "")
            url = site.urls.published
            words = await self.linear.wait(unreach_words(self.engine, self._organization_id, site, url))
            self.linear.terminal.print([words])
            return self
        return None


def _title(site: Site) -> str:
    return sanitize(site.title).strip() or "(no title)"


def _summary(findings: Sequence[Finding]) -> str:
    return f"Checks: {summary(findings) or 'no problems'}."


def _finding_line(finding: Finding) -> str:
    severity = {"unknown": "not checked", "info": "note"}.get(finding.severity, finding.severity)
    return f"  {severity}: {sanitize(finding.where)}: {sanitize(finding.message)}"


def _difference_lines(changes: Differences) -> list[str]:
    """Return the differences since the last publish, with words instead of symbols."""
    if changes.unknown is None:
        return ["This machine has no record of an earlier publish to compare with."]
    if not changes.found and not changes.unknown:
        return ["Nothing differs since the last publish."]
    lines = ["Since the last publish:"]
    for subject in SUBJECTS:
        if subject in changes.unknown:
            lines.append(f"  {subject}: not known ({sanitize(changes.unknown[subject])})")
        lines += [f"  {subject}, {change.kind}: {sanitize(change.where)}" for change in changes.of(subject)]
    return lines
