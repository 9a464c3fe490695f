"""Blocks of integrations on published pages, drawn by the scripts of the integrations within narrow limits.

A drawn block is cached until the integration, its installation or the block changes. A block that could not be drawn is
tried again after a minute; until then, pages show its source.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.ids import new_id
from presscheck.service.db.signing import TIMED
from presscheck.service.http.operations import Context
from presscheck.service.integrations.event_delivery import DeliveryLog, deliver_event
from presscheck.service.integrations.integrations import Kind, component_in, is_installed, receiver_of
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.web.html.context import Component
from presscheck.service.web.site_record import digest_of

CAPACITY = 8 * 1024 * 1024
"""Capacity of the cache of a process, in bytes."""
MOST_AT_ONCE, MOST_WAITING = 2, 6
"""Maximum number of blocks that a process draws at the same time, and of pages that wait for blocks. Further pages show
the source of their blocks, so that threads remain free for pages of other sites.
"""
SECONDS, PROCESSOR_SECONDS = 3.0, 2
"""Limits of drawing a block, in seconds: duration and processor time."""
SECONDS_OF_PAGE = 6.0
"""Maximum time that a page waits for its blocks."""
LARGEST = 256_000
"""Maximum number of characters of a component, as JSON."""
PAUSE = 60
"""Seconds until a block that could not be drawn is tried again."""


_Installed = tuple[IntegrationRow, InstallationRow, dict[str, str]]
"""An integration with a block, its installation, and the ids of the places where it is installed."""


class BlockDrawer:
    """Draws blocks with the scripts of integrations and caches the results.

    Args:
        outgoing: the client for the requests of scripts.
        scripts: the settings of the operator for scripts.
    """

    def __init__(self, outgoing: Outgoing, scripts: ScriptConfig) -> None:
        self._outgoing = outgoing
        self._scripts = replace(
            scripts,
            seconds=min(SECONDS, scripts.seconds),
            processor_seconds=min(PROCESSOR_SECONDS, scripts.processor_seconds),
            is_for_visitors=True,
        )
        self._cache = BoundedCache(CAPACITY)
        self._running = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)

    def of_page(self, context: Context, site_id: str, space_id: str) -> PageBlocks:
        """Return the renderer for the blocks of one page."""
        return PageBlocks(self, context, site_id, space_id)

    def draw(
        self,
        context: Context,
        place: tuple[str, str],
        integration: str,
        block: str,
        props: dict[str, Any],
        until: float,
    ) -> Component | None:
        """Return the component for a block, or None if it cannot be drawn now.

        Args:
            context: the transaction.
            place: the ids of the site and of the space.
            integration: the name of the integration.
            block: the id of the block.
            props: the properties of the block.
            until: the time of the monotonic clock at which the page stops waiting.
        """
        installed_key = ("installed block", *place, integration, block)
        if installed_key not in context.known:  # a page may have hundreds of blocks of the same kind
            context.known[installed_key] = _installed(context, place, integration, block)
        installed: _Installed | None = context.known[installed_key]
        if installed is None:
            return None
        row, installation, places = installed
        key = (
            integration,
            row.version,
            installation.id,
            installation.updated_at,
            *place,
            block,
            digest_of(json.dumps(props, sort_keys=True)),
        )
        # the environment of the script contains the origin, which depends on the visitor's `Host` header
        drawn_key = (context.origin, *key)
        component: Component | None = self._cache.get(drawn_key)
        if component is not None:
            return component
        context.session.info[TIMED] = True  # the page is not cached, because the block may soon be drawn differently
        recent_failure = ("failed", int(time.monotonic() // PAUSE), *key)
        left = until - time.monotonic()
        if left <= 0 or self._cache.get(recent_failure) or not self._waiting.acquire(blocking=False):
            return None
        with ExitStack() as held:
            held.callback(self._waiting.release)
            if not self._running.acquire(timeout=left):
                return None
            held.callback(self._running.release)
            text = self._text(context, row, installation, places, block, props, until)
        output = component_in(text) if text is not None and len(text) <= LARGEST else None
        if output is None or output.element is None:
            self._cache.put(recent_failure, True, 500)
            return None
        component = Component(output.element, output.state or {})
        self._cache.put(drawn_key, component, 2 * len(text or "") + 1000)
        return component

    def _text(
        self,
        context: Context,
        row: IntegrationRow,
        installation: InstallationRow,
        places: dict[str, str],
        block: str,
        props: dict[str, Any],
        until: float,
    ) -> str | None:
        receiver = receiver_of(context, row, installation, is_own=None, **places)
        event = {
            "eventId": new_id(),
            "type": "ui_render",
            "installationId": installation.id,
            **{f"{name.removesuffix('_id')}Id": identity for name, identity in places.items()},
            "componentId": block,
            "props": props,
            "context": {"type": "document", "theme": "light", "editable": False, "spaceId": places.get("space_id", "")},
        }
        outcome = deliver_event(
            receiver,
            event,
            DeliveryLog(context.now),
            outgoing=self._outgoing,
            scripts=replace(self._scripts, seconds=max(0.1, min(SECONDS, until - time.monotonic()))),
            read=context.files.read,
        )
        return outcome.text if outcome.is_success else None


class PageBlocks:
    """A renderer of the blocks of one page, with a time limit for all of them together."""

    def __init__(self, drawer: BlockDrawer, context: Context, site_id: str, space_id: str) -> None:
        self._drawer, self._context, self._place = drawer, context, (site_id, space_id)
        self._until = time.monotonic() + SECONDS_OF_PAGE

    def draw(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        """Return the component for a block, or None if it cannot be drawn now."""
        return self._drawer.draw(self._context, self._place, integration, block, props, self._until)


def _installed(context: Context, place: tuple[str, str], integration: str, block: str) -> _Installed | None:
    """Return the integration with a block, its installation, and the ids of the places where it is installed.

    Return None if the block does not exist, or is installed in neither the space nor the site.
    """
    site_id, space_id = place
    row = context.session.get(IntegrationRow, integration)
    if row is None or not any(candidate.get("id") == block for candidate in row.blocks or ()):
        return None
    installations = (
        select(InstallationRow)
        .join(SiteRow, SiteRow.organization_id == InstallationRow.organization_id)
        .where(SiteRow.id == site_id, InstallationRow.integration == row.name, InstallationRow.status == "active")
    )
    installation = context.session.scalar(installations)
    if installation is None:
        return None
    kinds: dict[Kind, str] = {"space": space_id, "site": site_id}
    places = {
        f"{kind}_id": identity
        for kind, identity in kinds.items()
        if is_installed(context, installation, kind, identity)
    }
    return (row, installation, places) if places else None
