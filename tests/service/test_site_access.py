"""Access to sites: who sees spaces and share keys, who may publish more content, and unique names of sites."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.factories import World
from tests.service.web_pages import hidden_space

from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import CreateShareLink, GetPreview, ListShareLinks, UpdateShareLink
from presscheck.api.site_structure import (
    AddSection,
    AddSiteSpace,
    GetSiteStructure,
    ListSections,
    ListSiteSpaces,
    SortSiteStructure,
    StructureItemPointer,
    StructurePosition,
    UpdateSection,
    UpdateSiteSpace,
)
from presscheck.api.sites import AdaptiveContentChange, CreateSite, GetSite, ListSites, PublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace
from presscheck.errors import Conflict, Forbidden, Refused
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.teams import GrantRow

At = dict[str, str]


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects."""
    async with httpx.AsyncClient() as client:
        yield client


async def site_with(world: World, *spaces: str, publish: bool = True, **given: Any) -> At:
    site = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Docs", spaces=(world.space, *spaces), **given)
    )
    at = {"organization_id": world.organization, "site_id": site.id}
    if publish:
        await world.admin.send(PublishSite(**at))
    return at


async def urls_of(world: World, role: str, at: At, **key: str) -> list[str | None]:
    """Return all published URLs of a site and of its space in the responses for a role."""
    client = world.clients[role]
    site = await client.send(GetSite(**at))
    listed = (await client.send(ListSites(organization_id=world.organization))).items
    structure = await client.send(GetSiteStructure(**at))
    spaces = [item for item in structure.structure if item.object == "site-space"]
    return [
        site.urls.published,
        *(one.urls.published for one in listed if one.id == site.id),
        *(one.urls.published for one in spaces if one.urls),  # pyright: ignore[reportAttributeAccessIssue]
        (await client.send(GetSpace(space_id=world.space))).urls.published,
    ]


@pytest.mark.attack("other organizations")
async def test_a_preview_requires_access_to_all_spaces(world: World, browser: httpx.AsyncClient) -> None:
    at = await site_with(world, publish=False)
    shown = await world.clients["read"].send(GetPreview(**at))
    assert (await browser.get(str(shown.url))).status_code == 200
    await world.admin.send(AddSiteSpace(**at, space_id=await hidden_space(world)))
    for role in ("read", "create"):
        with pytest.raises(Forbidden, match="all spaces"):
            await world.clients[role].send(GetPreview(**at))
    assert (await browser.get(str(shown.url))).status_code == 404, "given out before the space was added"
    full = await world.admin.send(GetPreview(**at))
    assert (await browser.get(str(full.url))).status_code == 200


@pytest.mark.attack("other organizations")
async def test_share_keys_are_shown_only_to_users_who_manage_the_site(world: World) -> None:
    at = await site_with(world, visibility="share-link")
    await world.admin.send(UpdateSite(**at, proxy="example.org/docs"))
    for role in ("admin", "create"):
        urls = await urls_of(world, role, at)
        assert all(urls) and len(urls) == 4, role
    key = str((await world.admin.send(GetSite(**at))).urls.published).rstrip("/").rpartition("/")[2]
    for role in ("edit", "read"):
        assert not any(await urls_of(world, role, at)), role
        assert key not in (await world.clients[role].fetch(GetSite(**at))).decode(), role
    await world.admin.send(AddSiteSpace(**at, space_id=await hidden_space(world)))
    assert not any(await urls_of(world, "create", at)), "the key would open the hidden space"
    for call in (ListShareLinks(**at), CreateShareLink(**at, name="Mine")):
        with pytest.raises(Forbidden, match="all spaces"):
            await world.clients["create"].send(call)
    with_key = await world.clients["read"].send(GetSpace(space_id=world.space, share_key=key))
    assert key in str(with_key.urls.published)
    published = await world.clients["guest"].send(GetPublishedSite(**at, share_key=key))
    assert key in str(published.site.urls.published)


@pytest.mark.attack("other organizations")
async def test_share_key_does_not_show_merge_rules_and_counts(world: World) -> None:
    at = await site_with(world, visibility="share-link")
    key = str((await world.admin.send(GetSite(**at))).urls.published).rstrip("/").rpartition("/")[2]
    world.change(merge_rules={"type": "rules", "rules": [{"rule": "allow_bypass", "users": [world.users["edit"]]}]})
    await world.draft()
    space = await world.clients["guest"].send(GetSpace(space_id=world.space, share_key=key))
    assert space.merge_rules and space.merge_rules.type == "inherit"
    assert (space.change_requests, space.change_requests_draft, space.comments) == (0, 0, 0)
    full = await world.clients["read"].send(GetSpace(space_id=world.space, share_key=key))
    assert full.change_requests == 1 and full.merge_rules and full.merge_rules.type == "rules"


async def test_publishing_more_content_requires_an_admin(world: World) -> None:
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Other"))
    at = await site_with(world, publish=False, visibility="share-link")
    await world.admin.send(AddSection(**at, space_id=world.space, title="Closed"))
    await world.admin.send(AddSection(**at, space_id=other.id, title="Open"))
    closed, _ = (await world.admin.send(ListSections(**at))).items
    inside, outside = (await world.admin.send(ListSiteSpaces(**at))).items
    creator = world.clients["create"]
    link = await creator.send(CreateShareLink(**at, name="For Mia"))
    await creator.send(UpdateShareLink(**at, share_link_id=link.id, active=False))
    await creator.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    await creator.send(UpdateSection(**at, site_section_id=closed.id, condition="visitor.claims.isBeta"))
    await creator.send(UpdateSiteSpace(**at, site_space_id=inside.id, condition="visitor.claims.isBeta"))
    await world.admin.send(PublishSite(**at))
    new = await creator.send(CreateSpace(organization_id=world.organization, title="New"))
    move = SortSiteStructure(
        **at,
        item=StructureItemPointer(type="site-space", id=inside.id),
        position=StructurePosition(after=StructureItemPointer(type="site-space", id=outside.id)),
    )
    widening: list[tuple[str, Operation[Any]]] = [
        ("published", UpdateSite(**at, visibility="public")),
        ("published", UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=False))),
        ("published", UpdateSiteSpace(**at, site_space_id=inside.id, space_id=new.id)),
        ("published", UpdateSiteSpace(**at, site_space_id=inside.id, condition=None)),
        ("published", UpdateShareLink(**at, share_link_id=link.id, active=True)),
        ("condition", UpdateSection(**at, site_section_id=closed.id, condition=None)),
        ("condition", move),
    ]
    before = await world.admin.send(GetSiteStructure(**at))
    for reason, call in widening:
        with pytest.raises(Forbidden, match=reason):
            await creator.send(call)
    assert await world.admin.send(GetSiteStructure(**at)) == before
    await world.admin.send(move)
    await world.admin.send(UpdateSite(**at, visibility="public"))
    assert (await creator.send(UpdateSite(**at, title="Ours", visibility="public"))).title == "Ours", "no change"


def new_name() -> str:
    return f"docs-{secrets.token_hex(6)}"


async def test_names_of_sites_are_unique_in_the_whole_service(
    world: World, other_organization: str, browser: httpx.AsyncClient
) -> None:
    at, name, newer = await site_with(world), new_name(), new_name()
    await world.admin.send(UpdateSite(**at, basename=name))
    foreign = await world.admin.send(CreateSite(organization_id=other_organization, title="Foreign"))
    there = {"organization_id": other_organization, "site_id": foreign.id}
    with pytest.raises(Conflict, match="already in use"):
        await world.admin.send(UpdateSite(**there, basename=name))
    with pytest.raises(Conflict, match="already in use"):
        await world.admin.send(UpdateSite(**there, basename=at["site_id"]))
    await world.admin.send(UpdateSite(**at, basename=newer))
    old = await browser.get(f"{world.base_url}/docs/{name}/guide")
    assert (old.status_code, old.headers["location"]) == (307, f"{world.base_url}/docs/{newer}/guide")
    with pytest.raises(Conflict, match="already in use"):
        await world.admin.send(UpdateSite(**there, basename=name))
    await world.admin.send(UpdateSite(**at, basename=name))
    assert (await browser.get(f"{world.base_url}/docs/{name}/guide")).status_code == 200


@pytest.mark.attack("other organizations")
async def test_a_former_name_reveals_nothing_without_the_share_key(world: World, browser: httpx.AsyncClient) -> None:
    at, name, newer = await site_with(world, visibility="share-link"), new_name(), new_name()
    old = str((await world.admin.send(UpdateSite(**at, basename=name))).urls.published)
    await world.admin.send(UpdateSite(**at, basename=newer))
    answer = await browser.get(f"{old}guide")
    assert (answer.status_code, answer.headers["location"]) == (307, old.replace(name, newer) + "guide")
    assert (await browser.get(f"{world.base_url}/docs/{name}/wrong/guide")).status_code == 404


@pytest.mark.attack("path traversal")
@pytest.mark.parametrize("wrong", ["..", ".", "a/b", "a\r\nb", "A", "a b", "-a", "a--b", "a?b", "~files", "größe"])
async def test_an_invalid_name_is_refused(world: World, wrong: str) -> None:
    at = await site_with(world)
    with pytest.raises(Refused, match="basename"):
        await world.admin.send(UpdateSite(**at, basename=wrong))
    [placed] = (await world.admin.send(ListSiteSpaces(**at))).items
    if wrong != "größe":  # allowed in paths of site spaces, which are made from titles
        with pytest.raises(Refused, match="path"):
            await world.admin.send(UpdateSiteSpace(**at, site_space_id=placed.id, path=wrong))


def test_an_old_database_gets_unique_names(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    Database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE site_names")
        for table in ("audit_events", "external_links", "page_feedback", "site_findings"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("ALTER TABLE installations DROP COLUMN scopes")
        connection.execute("ALTER TABLE site_spaces DROP COLUMN looks")
        connection.execute("ALTER TABLE spaces DROP COLUMN repository_url")
        connection.execute("DROP TABLE grants")
        for table in ("browser_sign_ins", "refresh_tokens"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX ix_tokens_sign_in")
        for table, column in (
            ("tokens", "scope"),
            ("tokens", "sign_in"),
            ("spaces", "type"),
            ("sites", "styleguide_id"),
        ):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute(
            "CREATE TABLE collection_teams"
            " (collection_id TEXT, team_id TEXT, role TEXT, PRIMARY KEY (collection_id, team_id))"
        )
        connection.execute("INSERT INTO collection_teams VALUES ('c', 't', 'edit')")
        kept_by = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%change_request_%'"
        for (name,) in connection.execute(kept_by).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DROP TABLE change_request_people")
        connection.execute("DROP TABLE change_request_counts")
        for index in ("open_comments_of_space", "open_comments_of_change_request"):
            connection.execute(f"DROP INDEX {index}")
        connection.execute("ALTER TABLE sites DROP COLUMN applied_type")
        for column in ("spaces", "sites"):
            connection.execute(f"ALTER TABLE installations DROP COLUMN {column}")
        connection.execute("ALTER TABLE jobs DROP COLUMN renewals")
        connection.execute("ALTER TABLE jobs ADD COLUMN leased_until TEXT")
        connection.execute("UPDATE alembic_version SET version_num = '0002'")
        connection.execute(
            "INSERT INTO organizations (id, title, created_at, email_domains, sso, ai, invite_links)"
            " VALUES ('o', 'O', '1', '[]', 0, 0, 0)"
        )
        given = [("a", "manual", 0), ("b", "manual", 1), ("c", "Big Docs", 1), ("d", "Docs", 1), ("e", "a", 1)]
        for number, (site, name, published) in enumerate([*given, ("f", "..", 1), ("g", "x/y", 1), ("h", None, 1)]):
            connection.execute(
                "INSERT INTO sites (id, organization_id, type, title, basename, visibility, published,"
                " adaptive_content, agents_context, created_at) VALUES (?, 'o', '', '', ?, 'public', ?, 0, '', ?)",
                (site, name, published, str(number)),
            )
    connection.close()
    database = Database(f"sqlite:///{path}")
    with database.snapshot() as session:
        kept = {row.id: row.basename for row in session.query(SiteRow) if row.basename}
        [grant] = session.query(GrantRow)
        assert (grant.place_id, grant.holder_id, grant.role) == ("c", "t", "edit")
    database.close()
    assert kept == {"b": "manual"}
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name, site_id FROM site_names ORDER BY name").fetchall() == [
            ("Docs", "d"),
            ("manual", "b"),
        ]
    connection.close()
