"""The state in which a site was published, recorded by this machine.

The service reports neither the time nor the content of a publish. This machine therefore records the state when it
publishes a site, or when it first sees a site that is live already. The state contains the revisions of the spaces,
which never change and can be read again, the structure, the redirects and the customization. The addresses of
the site are not recorded, because they may contain share keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, cast

from presscheck.api.site_settings import Redirect
from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace, SiteStructure, StructureItem
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.documents.sites.content import PublishedItem, PublishedSpace, PublishedState
from presscheck.engine.site_config.document import GENERATED
from presscheck.errors import StoreError
from presscheck.store.outbox import Outbox

KEY = "published "
"""The prefix of the stored keys."""


class PublishedStates:
    """The published states of sites, stored with the outbox.

    Args:
        store: the store.
    """

    def __init__(self, store: Outbox) -> None:
        self._store = store

    def of(self, site_id: str) -> PublishedState | None:
        """Return the last recorded state of a site, or None if there is none."""
        return _stored(self._store.recall(KEY + site_id))

    def forget(self, site_id: str) -> None:
        """Delete the recorded state of a site that was published again. The new state is recorded by `note`."""
        self._store.remember(KEY + site_id, None)

    def note(self, site_id: str, state: PublishedState) -> None:
        """Record the published state of a site."""
        self._store.remember(KEY + site_id, json.dumps(asdict(state)))

    def note_if_new(self, site_id: str, state: PublishedState) -> None:
        """Record the state of a site that was live already, unless a state was recorded in the meantime.

        The check that reads the state takes a while, and the user may publish the site before it ends.
        """
        key = KEY + site_id
        text = self._store.recall(key)
        if _stored(text) is None:
            with suppress(StoreError):  # on a full disk, the check has its result anyway
                self._store.swap(key, text, {key: json.dumps(asdict(state))})


def structure_items(structure: SiteStructure) -> dict[str, PublishedItem]:
    """Return the items of a structure by key, in order."""
    return dict(_items(structure.structure, ""))


def redirect_targets(redirects: Iterable[Redirect]) -> dict[str, str]:
    """Return the target of each redirect as JSON text, by source path."""
    return {
        redirect.source: json.dumps(redirect.destination.model_dump(mode="json", exclude_none=True), sort_keys=True)
        for redirect in redirects
    }


def customization_settings(customization: Mapping[str, Any]) -> dict[str, str]:
    """Flatten a customization to values by path, without the `GENERATED` fields.

    Signatures are removed from addresses of files, because they change with each read.
    """
    return dict(_settings("", {name: value for name, value in customization.items() if name not in GENERATED}))


def _items(items: Iterable[StructureItem], above: str) -> Iterator[tuple[str, PublishedItem]]:
    for item in items:
        key = f"{item.object} {item.id}"
        path, default, condition = "", False, ""
        inner: tuple[StructureItem, ...] = ()
        title = item.title
        if isinstance(item, SiteSpace):
            title = item.title or item.space.title
        if isinstance(item, SiteSpace | SiteSection):
            path, default, condition = item.path, bool(item.default), item.condition or ""
        if isinstance(item, SiteSection):
            inner = item.site_spaces
        elif isinstance(item, SiteSectionGroup):
            inner = item.children
        yield key, PublishedItem(title, path, above, default, condition)
        yield from _items(inner, key)


def _settings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, nested in cast("dict[str, Any]", value).items():
            yield from _settings(f"{path}.{name}" if path else name, nested)
    elif isinstance(value, list) and value:
        for number, nested in enumerate(cast("list[Any]", value), 1):
            yield from _settings(f"{path}.{number}", nested)
    else:
        yield path, unsigned_url(value) if isinstance(value, str) else json.dumps(value)


def _stored(text: str | None) -> PublishedState | None:
    try:
        return _read(json.loads(text)) if text else None
    except (KeyError, TypeError, ValueError):  # written by another version: treat the state as unknown
        return None


def _read(found: dict[str, Any]) -> PublishedState:
    spaces = tuple(PublishedSpace(**space) for space in found["spaces"])
    items = {key: PublishedItem(**item) for key, item in found["items"].items()}
    values: dict[str, Any] = {**found, "spaces": spaces, "items": items}
    return PublishedState(**values)
