"""Publishes a site and signs tokens of its visitors."""

from __future__ import annotations

from typing import Any

from tests.service.factories import World, rewrite

from presscheck.api.change_requests import MergeChangeRequest, UpdateChangeRequest
from presscheck.api.site_settings import (
    GetPublishingAuth,
)
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.api.spaces import CreateSpace, UpdateSpace


async def published(world: World, **given: Any) -> tuple[str, dict[str, str]]:
    """A published site with the space of the world: its URL, and its ids in the API."""
    made = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Docs", spaces=(world.space,), **given)
    )
    at = {"organization_id": world.organization, "site_id": made.id}
    site = await world.admin.send(PublishSite(**at))
    assert isinstance(site, Site)
    assert site.urls.published
    return site.urls.published, at


async def write(world: World, text: str) -> None:
    """Sets the content of the first page."""
    await changed(world, rewrite("start", f"# Start\n\n{text}"))


async def changed(world: World, *changes: Any) -> None:
    draft = await world.draft()
    await world.edit(draft, *changes)
    await world.admin.send(UpdateChangeRequest(space_id=world.space, change_request_id=draft.id, status="open"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))


async def signing(world: World, at: dict[str, str]) -> str:
    return (await world.admin.send(GetPublishingAuth(**at))).private_key


async def hidden_space(world: World, title: str = "Hidden") -> str:
    """A space that only admins see."""
    space = await world.admin.send(CreateSpace(organization_id=world.organization, title=title))
    await world.admin.send(UpdateSpace(space_id=space.id, default_level=None))
    return space.id
