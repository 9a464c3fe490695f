"""Helpers that start jobs of a service and wait for their results."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tests.service.factories import World

from presscheck.api.imports import FilesSource, GetImport, ImportTarget, StartImport, WebsiteSource
from presscheck.api.openapi import GetOpenAPISpec, PutOpenAPISpec, SpecSource

Found = TypeVar("Found")


async def until(ask: Callable[[], Awaitable[Found]], is_reached: Callable[[Found], Any]) -> Found:
    for _ in range(1500):
        found = await ask()
        if is_reached(found):
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(found)


async def imported(world: World, source: WebsiteSource | FilesSource, **target: str) -> Any:
    target = {"space": world.space} | target
    start = StartImport(organization_id=world.organization, source=source, target=ImportTarget(**target))
    run = await world.clients["edit"].send(start)
    ask = GetImport(organization_id=world.organization, import_run_id=run.id)
    return await until(lambda: world.admin.send(ask), lambda one: one.status not in ("pending", "in-progress"))


async def processed(world: World, source: SpecSource) -> Any:
    at = {"organization_id": world.organization, "spec_slug": "lamps"}
    before = await world.admin.send(PutOpenAPISpec(**at, source=source))
    assert before.processing_state == "pending"
    return await until(lambda: world.admin.send(GetOpenAPISpec(**at)), lambda one: one.processing_state == "complete")
