"""A client that publishes and installs an integration, and reads its events."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from tests.service.factories import World

from presscheck.service.db.ids import new_id

COUNTER = {"componentId": "counter", "props": {"size": 2}, "context": {"theme": "dark", "type": "document"}}


class Publisher:
    """HTTP calls of a user for an integration; `publish` creates it."""

    def __init__(self, world: World, role: str = "admin", name: str | None = None) -> None:
        headers = {"authorization": f"Bearer {world.tokens[role]}"}
        self.http = httpx.AsyncClient(base_url=f"{world.base_url}/v1", headers=headers, timeout=60)
        self.world = world
        self.name = name or f"lamp-{new_id()}"
        self.at = f"/integrations/{self.name}"

    async def publish(self, script: str, **more: Any) -> None:
        details = {"title": "Lamp", "description": "", "scopes": [], "organization": self.world.organization}
        response = await self.http.post(self.at, json={**details, "script": script, **more})
        assert response.status_code == 200, response.text

    async def install(self) -> dict[str, Any]:
        response = await self.http.post(f"{self.at}/installations", json={"organization": self.world.organization})
        assert response.status_code == 201, response.text
        return response.json()

    async def render(self, **more: Any) -> httpx.Response:
        return await self.http.post(f"{self.at}/render", json={**COUNTER, **more})

    async def events(self, count: int) -> list[dict[str, Any]]:
        """Wait for `count` events. Returns all events with their logs, newest first."""
        for _ in range(1000):
            found = (await self.http.get(f"{self.at}/events")).json()["items"]
            if len(found) >= count:
                return [(await self.http.get(f"{self.at}/events/{event['id']}")).json() for event in found]
            await asyncio.sleep(0.02)
        raise AssertionError(found)


def messages(traced: dict[str, Any]) -> list[str]:
    return [log["message"] for log in traced["trace"]["logs"]]
