"""Steps after a publish or unpublish: recording the published state, and requesting the page as a visitor would."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import GetCustomization, ListShareLinks
from presscheck.api.sites import PublishSite, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.documents.sites.content import (
    PublishedSpace,
    PublishedState,
    SiteContent,
    SpaceContent,
    Unread,
    space_path,
)
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.published_state import (
    PublishedStates,
    customization_settings,
    redirect_targets,
    structure_items,
)
from presscheck.engine.publish.site_content import SiteReading
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.engine.site_config.site_state import OnlineReader, StateReader
from presscheck.engine.site_config.snapshots import RESTORABLE, SnapshotRecorder
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox

OK = 200
SIGN_IN = (401, 403)


class PublishedVisitor(Reader, Protocol):
    """A visitor of published pages, which can also read the settings of their sites."""

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Request a page without the user's token and return the HTTP status."""
        ...


class PublishingEngine(OnlineReader, Protocol):
    """The parts of the engine that recording a publish needs."""

    @property
    def outbox(self) -> Outbox:
        """The store of the published states of sites."""
        ...

    @property
    def site_snapshots(self) -> SnapshotRecorder:
        """The recorder of site snapshots."""
        ...


async def reach_words(engine: PublishedVisitor, organization_id: str, site: Site) -> str:
    """Request a site that was just published and describe the result in a sentence."""
    if not site.urls.published:
        return "The site is live. The service returned no address, so whether the page answers is not known."
    try:
        status = await engine.visit(_call_of(organization_id, site), site.urls.published)
    except PresscheckError as error:
        return f"Published, but not reachable: {error.message}"
    if status == OK and await _lacks_link(engine, organization_id, site):
        return "The site is live, but has no active share link."
    if status == OK:
        return "The site is live, and the page answers."
    if status in SIGN_IN and site.visibility == "visitor-auth":
        return "The site is live, and the page asks visitors to sign in."
    return f"Published, but not reachable: the page answers with status {status}"


async def _lacks_link(engine: Reader, organization_id: str, site: Site) -> bool:
    """Return whether a site is shared by link and has no active link; False if the links cannot be read."""
    if site.visibility != "share-link":
        return False
    try:
        links = await whole_listing(engine, ListShareLinks(organization_id=organization_id, site_id=site.id))
    except PresscheckError:
        return False
    return not any(link.active for link in links)


async def unreach_words(engine: PublishedVisitor, organization_id: str, site: Site, url: str | None) -> str:
    """Request the former address of a site that was just unpublished and describe the result in a sentence."""
    if not url:
        return "Unpublished. Its address is not shown to you, so whether it still answers is not known."
    try:
        status = await engine.visit(_call_of(organization_id, site), url)
    except PresscheckError as error:
        return f"Unpublished. Whether its address still answers is not known: {error.message}"
    if status == OK:
        return "Unpublished, but its address still answers: perhaps from a cache."
    return f"Unpublished, and its address no longer answers (status {status})."


def _call_of(organization_id: str, site: Site) -> Operation[Any]:
    return GetPublishedSite(organization_id=organization_id, site_id=site.id)


async def note_published(engine: PublishingEngine, call: PublishSite, number: int) -> None:
    """Record the state in which this machine published a site, if it can be read.

    The state is compared with the site before the next publish, and stored as a snapshot that can be restored. A
    publish does not change the state, so reading it once after the publish is enough; later changes of the site wait
    until it has been read.

    Args:
        engine: reads and stores the state.
        call: the write that published the site.
        number: the number of the write in the outbox.

    Raises:
        StoreError: the state cannot be stored.
    """
    at, states = time.time(), PublishedStates(engine.outbox)
    states.forget(call.site_id)  # if the new state cannot be read, later differences must be unknown, not wrong
    async with engine.site_snapshots.changes(call.site_id):
        try:
            state = await StateReader(engine, call.organization_id, call.site_id).read(RESTORABLE)
            spaces = [
                SpaceContent(item, section, await _with_revision(engine, item.space))
                for item, section in site_spaces(state.structure.structure)
            ]
        except PresscheckError:  # the publish itself succeeded
            return
        unread = tuple(Unread(part, state.site.title, error.message) for part, error in state.unread.items())
        redirects = tuple(state.redirects.values())
        content = SiteContent(state.site, state.structure, tuple(spaces), redirects, unread=unread)
        settings = customization_settings(state.customization) if state.customization else None
        states.note(call.site_id, state_of(content, at, is_own=True, customization=settings))
        await engine.site_snapshots.keep_published(call, state.config, number)


async def _with_revision(engine: Reader, space: Space) -> Space:
    """Return a space with its revision, which some services omit in the structure of a site."""
    return space if space.revision else await engine.read(GetSpace(space_id=space.id))


async def read_customization(engine: SiteReading, organization_id: str, site_id: str) -> Mapping[str, str] | str:
    """Read the customization of a site as values by path. Return the reason as a text if it cannot be read."""
    try:
        return customization_settings(
            await engine.read(GetCustomization(organization_id=organization_id, site_id=site_id))
        )
    except PresscheckError as error:
        return error.message


def state_of(
    content: SiteContent, at: float, *, is_own: bool, customization: Mapping[str, str] | None = None
) -> PublishedState:
    """Return the current state of a site as a published state, recorded at the time `at`."""
    is_unread = any(part.name == "redirects" for part in content.unread)
    return PublishedState(
        at=at,
        is_own=is_own,
        spaces=tuple(
            PublishedSpace(
                space.item.id, space.space.id, space.title, space_path(space.item, space.section), space.space.revision
            )
            for space in content.spaces
        ),
        items=structure_items(content.structure),
        visibility=content.site.visibility,
        redirects=None if is_unread else redirect_targets(content.redirects),
        customization=customization,
    )
