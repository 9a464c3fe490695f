"""Whatever is sent, the service answers, in its own shape, and never with a failure of its own."""

import json
import random
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.service.world import World

from presscheck.api.operation import Operation
from presscheck.service.handlers import all_handlers

VALUES: list[Any] = [
    None, True, 0, -1, 2**70, 1e308, "", "x", "\u0000", "\ud800", "é" * 10, "a" * 3000, [], {}, ["x"], [None],
    {"markdown": "x"}, {"markdown": "# T\n\nx"}, {"document": {}}, {"document": None}, "draft", "approved", {"x": {}},
    [{"operation": "insert_page", "document": {"markdown": "# a"}}],
    [{"operation": "update_page", "page": "guide", "at": 10**6, "into": "guide"}],
    [{"operation": "insert_files", "files": [{"name": "../a", "base64": "YQ=="}]}],
    {"type": "rules", "rules": [{"rule": "custom"}]}, {"before": {"type": "space", "space": "x"}},
]  # fmt: skip
TEXTS = ["1", "x", "null", "", "true", "open", "é", "\u0000", "a" * 2000, "W10", "WzEsMl0", "WyJhIiwiYiJd"]
PLACES = ["%00", "é", "..", "a" * 5000, "%2e%2e%2f", "-1", "9" * 20, "٣"]
ENDING = {"DeleteSpace", "MergeChangeRequest", "TransferSpace", "RemoveMember", "UpdateMember"}
"""What would leave the others nothing to do."""


def request(chance: random.Random, operation: type[Operation[Any]], known: dict[str, str]) -> dict[str, Any]:
    path = operation.route.partition(" ")[2]
    for field in operation.path_fields():
        place = known.get(field, "none") if chance.random() < 0.9 else chance.choice(PLACES)
        path = path.replace("{" + field + "}", quote(place, safe="%"))
    names = [field.alias or name for name, field in operation.model_fields.items() if name not in known]
    chosen = [name for name in names if chance.random() < 0.6]
    found = {"method": operation.method(), "url": "/v1" + path}
    if operation.method() in ("GET", "DELETE"):
        return found | {"params": {name: chance.choice(TEXTS) for name in chosen}}
    return found | {"content": json.dumps({name: chance.choice(VALUES) for name in chosen}).encode()}


@pytest.mark.parametrize("seed", range(3))
async def test_garbage_is_refused_and_fails_nothing(world: World, seed: int) -> None:
    chance = random.Random(seed)
    draft = await world.draft()
    known = {
        "space_id": world.space,
        "change_request_id": draft.id,
        "organization_id": world.organization,
        "page_id": "guide",
        "page_path": "guide",
        "user_id": world.users["edit"],
    }
    operations = sorted(all_handlers(), key=lambda one: one.__name__)
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    statuses: set[int] = set()
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
        for operation in operations * 4:
            if operation.__name__ in ENDING:
                continue
            response = await http.request(**request(chance, operation, known))
            statuses.add(response.status_code)
            assert response.status_code < 500, operation.__name__
            if response.status_code >= 400:
                assert response.json()["error"]["code"] == response.status_code
    assert {200, 400, 404} <= statuses
