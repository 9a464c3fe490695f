"""Publishing a site with proof: the state is noted, and the published page is requested as a visitor does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import GetCustomization
from presscheck.api.sites import PublishSite, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.published_state import (
    PublishedSpace,
    PublishedState,
    PublishedStates,
    customization_settings,
    redirect_targets,
    space_path,
    structure_items,
)
from presscheck.engine.publish.site_content import SiteContent, SiteReading, SpaceContent, Unread
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.engine.site_config.site_state import OnlineReader, StateReader
from presscheck.engine.site_config.snapshots import RESTORABLE, SnapshotRecorder
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox

OK = 200
SIGN_IN = (401, 403)


class PublishedVisitor(Protocol):
    """Requests published pages."""

    async def visit(self, call: Operation[Any], url: str) -> int:
        """The HTTP status with which a page answers, without the token."""
        ...


class PublishingEngine(OnlineReader, Protocol):
    """What noting a publish needs of the engine."""

    @property
    def outbox(self) -> Outbox:
        """Where the states in which sites were published are stored."""
        ...

    @property
    def site_snapshots(self) -> SnapshotRecorder:
        """The snapshots of sites."""
        ...


async def reach_words(engine: PublishedVisitor, organization_id: str, site: Site) -> str:
    """What a visitor of a site that was just published gets, as a sentence; takes a bounded time."""
    if not site.urls.published:
        return "The site is live. The service returned no address, so whether the page answers is not known."
    try:
        status = await engine.visit(_call_of(organization_id, site), site.urls.published)
    except PresscheckError as error:
        return f"Published, but not reachable: {error.message}"
    if status == OK:
        return "The site is live, and the page answers."
    if status in SIGN_IN and site.visibility == "visitor-auth":
        return "The site is live, and the page asks visitors to sign in."
    return f"Published, but not reachable: the page answers with status {status}"


async def unreach_words(engine: PublishedVisitor, organization_id: str, site: Site, url: str | None) -> str:
    """What a visitor of a site that was just unpublished gets at its former address, as a sentence."""
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
    """Note with what this machine published a site, as far as it can be read.

    The next publish is compared with it, and it is kept as a snapshot that can be restored. Publishing changes none of
    it, so it is read once, after the site is live; a change that follows waits until it was read.

    Args:
        engine: reads and stores.
        call: the write.
        number: its number in the outbox.

    Raises:
        StoreError: it cannot be stored.
    """
    at, states = time.time(), PublishedStates(engine.outbox)
    states.forget(call.site_id)  # if the new state cannot be read, later differences are not known
    async with engine.site_snapshots.changes(call.site_id):
        try:
            state = await StateReader(engine, call.organization_id, call.site_id).read(RESTORABLE)
            spaces = [
                SpaceContent(item, section, await _with_revision(engine, item.space))
                for item, section in site_spaces(state.structure.structure)
            ]
        except PresscheckError:  # it is published all the same
            return
        unread = tuple(Unread(part, state.site.title, error.message) for part, error in state.unread.items())
        redirects = tuple(state.redirects.values())
        content = SiteContent(state.site, state.structure, tuple(spaces), redirects, unread=unread)
        settings = customization_settings(state.customization) if state.customization else None
        states.note(call.site_id, state_of(content, at, is_own=True, customization=settings))
        await engine.site_snapshots.keep_published(call, state.config, number)


async def _with_revision(engine: Reader, space: Space) -> Space:
    """A space of a structure; some services tell its revision only where it is read by itself."""
    return space if space.revision else await engine.read(GetSpace(space_id=space.id))


async def read_customization(engine: SiteReading, organization_id: str, site_id: str) -> Mapping[str, str] | str:
    """The customization of a site as settings by path, or why it cannot be read."""
    try:
        return customization_settings(
            await engine.read(GetCustomization(organization_id=organization_id, site_id=site_id))
        )
    except PresscheckError as error:
        return error.message


def state_of(
    content: SiteContent, at: float, *, is_own: bool, customization: Mapping[str, str] | None = None
) -> PublishedState:
    """The state of a site as it is now, published at a time."""
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
