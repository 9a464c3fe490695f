"""Helpers for published sites: publish and customize them, change their content, and record reads of page texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Engine, event
from tests.service.factories import World, rewrite

from presscheck.api.change_requests import MergeChangeRequest, UpdateChangeRequest
from presscheck.api.site_settings import GetCustomization, GetPublishingAuth, UpdateCustomization
from presscheck.api.site_structure import AddSiteSpace
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.api.spaces import CreateSpace, DuplicateSpace, UpdateSpace
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.models.spaces import SpaceRow


async def published(world: World, **given: Any) -> tuple[str, dict[str, str]]:
    """Publish a site with the space of the world. Returns its URL, and the path arguments of its API calls."""
    made = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Docs", spaces=(world.space,), **given)
    )
    at = {"organization_id": world.organization, "site_id": made.id}
    site = await world.admin.send(PublishSite(**at))
    assert isinstance(site, Site)
    assert site.urls.published
    return site.urls.published, at


async def write(world: World, text: str) -> None:
    """Set the text of the first page in the live content."""
    await changed(world, rewrite("start", f"# Start\n\n{text}"))


async def changed(world: World, *changes: Any) -> None:
    draft = await world.draft()
    await world.edit(draft, *changes)
    await world.admin.send(UpdateChangeRequest(space_id=world.space, change_request_id=draft.id, status="open"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))


async def signing(world: World, at: dict[str, str]) -> str:
    return (await world.admin.send(GetPublishingAuth(**at))).private_key


async def hidden_space(world: World, title: str = "Hidden") -> str:
    """Create a space that only admins see. Returns its id."""
    space = await world.admin.send(CreateSpace(organization_id=world.organization, title=title))
    await world.admin.send(UpdateSpace(space_id=space.id, default_level=None))
    return space.id


def inside(address: str) -> str:
    """Return the path of a URL, as pages of the site link to it."""
    return urlsplit(address).path


def set_columns(world: World, table: type[Any], key: str, **values: Any) -> None:
    database = Database(world.database_url)
    with database.writing.begin() as session:
        row = session.get_one(table, key)
        for name, value in values.items():
            setattr(row, name, value)
    database.close()


def plant(world: World, text: str, title: str = "Start", **details: Any) -> None:
    """Add a live revision with files, reusable content and variables, which no operation can create."""
    database = Database(world.database_url)
    with database.writing.begin() as session:
        git = {"oid": "0", "path": ".gitbook/includes/both.md"}
        snippet = add_document(session, 'Said twice, once.\n\n{% include "both.md" %}\n')
        files = [
            {"id": name, "name": name, "contentType": "x/y", "size": 1, "content": "0" * 64}
            | {"git": {"oid": "0", "path": f".gitbook/assets/{name}"}}
            for name in ("plan.pdf", "sky.png")
        ]
        tree = [
            new_page(title, slug="start", document=add_document(session, text), page_id="start", **details),
            new_page("Guide", slug="guide", document=add_document(session, "Hidden words.\n"), page_id="guide"),
        ]
        revision = add_revision(
            session,
            world.space,
            tree,
            created_at="2026-05-20T09:30:00.000Z",
            created_by=None,
            files=files,
            reusable_contents=[{"id": "both", "title": "Both", "document": snippet, "git": git}],
            variables={"version": "2.1"},
        )
        session.get_one(SpaceRow, world.space).revision_id = revision
    database.close()


async def customize(world: World, at: dict[str, str], **parts: Any) -> None:
    """Change parts of a site's customization; dicts replace single fields of a part."""
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    for name, part in parts.items():
        looks[name] = looks.get(name, {}) | part if isinstance(part, dict) else part
    await world.admin.send(UpdateCustomization(**at, settings=looks))


async def add_variant(world: World, at: dict[str, str], title: str, **fields: Any) -> str:
    """Add a copy of the space to the site; its pages have the same paths. Returns the id of the copy."""
    copy = await world.admin.send(DuplicateSpace(space_id=world.space))
    await world.admin.send(UpdateSpace(space_id=copy.id, title=title, **fields))
    await world.admin.send(AddSiteSpace(**at, space_id=copy.id))
    return copy.id


@contextmanager
def page_reads() -> Iterator[list[str]]:
    """Record the SQL statements of this process that read page texts."""
    statements: list[str] = []

    def note(*details: Any) -> None:
        if "documents.markdown" in details[2]:
            statements.append(details[2])

    event.listen(Engine, "before_cursor_execute", note)
    yield statements
    event.remove(Engine, "before_cursor_execute", note)
