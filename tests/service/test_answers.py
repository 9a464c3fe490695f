"""Optimizations do not change responses: writing JSON, finding routes, and caching revisions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from starlette.routing import Match, Route
from tests.running_service import running_service
from tests.service.factories import insert, plant_world

from presscheck.api.content import RevisionPage
from presscheck.api.operation import Cursor, Model, NullableModel, Page, every_operation
from presscheck.api.organizations import OrganizationMember
from presscheck.api.roles import Location
from presscheck.api.users import User
from presscheck.service.app import RouteIndex
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.http.operations import write_answer


def user(name: str, **more: Any) -> User:
    return User(id="u1", display_name=name, urls=Location(location="http://here/v1/users/u1"), **more)


MEMBER = {"id": "u1", "role": None, "user": user("Ada"), "urls": {"location": "http://here"}, "joinedAt": None}


def member() -> OrganizationMember:
    return OrganizationMember.model_validate(MEMBER)


def plain(value: Any) -> Any:
    """Convert a model to plain values: fields by their API names, without absent fields."""
    if isinstance(value, BaseModel):
        kept = value.nullable if isinstance(value, NullableModel) else frozenset()
        fields = {
            field.alias or name: plain(getattr(value, name))
            for name, field in type(value).model_fields.items()
            if name in kept or getattr(value, name) is not None
        }
        return fields | (value.model_extra or {})
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "answer",
    [
        user("Ada"),
        user("Ünï\u2028</script>\x7f"),
        user("half of a pair: \ud800"),
        user("Ada", photoURL=None, unheard={"of": None, "list": [1, 2.5, None]}),
        Page[User].model_construct(items=(user("Ada"), user("Bo")), next=Cursor(page="x"), count=2, total=None),
        Page[Any].model_construct(items=(), next=None, count=0, total=0),
        Page[Any].model_construct(items=(user("Ada"), member()), next=None, count=2, total=2),
        member(),
        RevisionPage(id="p", title="Page", document={"nodes": [{"data": {"x": None}}]}, pages=(RevisionPage(id="q"),)),
        {"error": {"code": 400, "message": None}},
    ],
)
def test_response_is_written_with_all_fields(answer: Model | dict[str, Any]) -> None:
    expected = json.dumps(plain(answer), ensure_ascii=False).encode("utf-8", "replace")
    assert json.loads(write_answer(answer)) == json.loads(expected)


def test_nullable_field_is_sent_as_null_at_any_depth() -> None:
    assert json.loads(write_answer(member()))["role"] is None
    assert "joinedAt" not in json.loads(write_answer(member()))
    listed = Page[Any].model_construct(items=(member(),), next=None, count=1, total=1)
    assert json.loads(write_answer(listed))["items"][0]["role"] is None


def test_route_index_finds_the_first_matching_route() -> None:
    async def endpoint(*_: Any) -> None:
        raise AssertionError

    routes = [
        Route("/v1" + operation.route.partition(" ")[2], endpoint, methods=[operation.method()], name=name)
        for name, operation in sorted(
            ((operation.qualified_name(), operation) for operation in every_operation()),
            key=lambda one: (len(one[1].path_fields()), one[1].route),
        )
    ]
    index = RouteIndex(routes)
    for number, route in enumerate(routes):
        # "latest" is a fixed part of another route, so that its path matches two routes
        for value in ("x1", "latest", "a b", "") if number % 10 == 0 else ("latest",):
            path = re.sub(r"\{\w+\}", value, route.path)
            scope = {"type": "http", "path": path, "method": min(route.methods or ()), "root_path": ""}
            found = next((other for other in routes if other.matches(scope)[0] is Match.FULL), None)
            match, chosen = index.matches(scope)
            assert (match is Match.FULL) == bool(found), path
            assert not found or (chosen["endpoint"], chosen["presscheck.route"]) == (endpoint, found), path
    for path in ("", "/", "/healthz", "/v1/nothing", "/v1/spaces/s/content/"):
        assert index.matches({"type": "http", "path": path, "method": "GET", "root_path": ""})[0] is Match.NONE


def test_cache_drops_the_least_recently_used_entry() -> None:
    cache = BoundedCache(100)
    for key in "abcd":
        cache.put(key, key.upper(), 25)
    assert cache.get("a") == "A"
    cache.put("e", "E", 25)
    assert [cache.get(key) for key in "abcde"] == ["A", None, "C", "D", "E"]
    cache.put("heavy", "H", 34)
    assert cache.get("heavy") is None
    cache.put("a", "again", 1)
    assert cache.get("a") == "A", "what never changes is not replaced"
    cache.clear()
    assert cache.get("a") is None


async def test_cached_revision_has_urls_with_the_host_of_each_request(tmp_path: Path) -> None:
    """A page that was added is found at once in the listing, by id and by path."""
    with running_service(tmp_path) as service:
        world = plant_world(service.database_url, service.base_url)
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        space = f"/v1/spaces/{world.space}"
        async with httpx.AsyncClient(base_url=service.base_url, headers=headers) as client:

            async def get(path: str, **more: str) -> Any:
                return (await client.get(space + path, headers=more)).json()

            for host in ("one.localhost", "two.localhost", "one.localhost"):
                found = await get("/content/pages", host=host)
                assert found["pages"][0]["urls"]["app"].startswith(f"http://{host}/app/")
            draft = await world.draft()
            branch = f"/change-requests/{draft.id}/content"
            for number in range(3):
                await world.edit(draft, insert(f"Added {number}"))
                listed = (await get(f"{branch}/pages"))["pages"]
                assert [page["title"] for page in listed][3:] == [f"Added {one}" for one in range(number + 1)]
                by_id = await get(f"{branch}/page/{listed[-1]['id']}?format=markdown")
                assert by_id == await get(f"{branch}/path/added-{number}?format=markdown")
                assert by_id["markdown"] == f"# Added {number}\n\nText.\n"
            assert len((await get("/content/pages"))["pages"]) == 3
        for each in world.clients.values():
            await each.aclose()
