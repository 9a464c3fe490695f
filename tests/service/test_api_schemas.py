"""Responses have all fields that the published description requires, and null only where it is allowed."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contract.description import DOCUMENTED, Described, operations
from tests.running_service import running_service
from tests.service.api_schemas import faults

from presscheck.service.handlers import all_handlers

STATES = ("draft", "open", "archived", "merged")


def routes(*placeholders: str) -> list[str]:
    """The implemented reads with exactly these placeholders, as the description writes them."""
    reads = [
        operation.route.partition(" ")[2]
        for operation in all_handlers()
        if operation.is_read()
        and not any(operation.model_fields[name].is_required() for name in operation.query_fields())
    ]
    named = [re.sub(r"_(\w)", lambda found: found[1].upper(), route) for route in reads]
    fitting = [one for one in named if tuple(re.findall(r"{(\w+)}", one)) == placeholders]
    return [one for one in fitting if not one.endswith("/git/info")]  # no space here has Git sync


class Reader:
    """Fetches URLs of a service and checks each response against its description."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.faults: set[str] = set()
        self.read: set[str] = set()

    def __call__(self, route: str, **values: str) -> Any:
        path = re.sub(r"{(\w+)}", lambda found: values[found[1]], route)
        response = self.http.get("/v1" + path)
        assert response.status_code == 200, (path, response.text)
        releases = operations().get(("GET", route), {})
        if DOCUMENTED in releases:
            schema = Described(releases[DOCUMENTED]["responses"]["200"], DOCUMENTED)
            self.faults.update(f"{route}: {fault}" for fault in faults(schema, response.json(), ""))
            self.read.add(route)
        return response.json()


@pytest.mark.slow
def test_responses_have_the_fields_that_the_description_requires(tmp_path: Path) -> None:
    branch = "/spaces/{spaceId}/change-requests/{changeRequestId}"
    with running_service(tmp_path, sample=True) as service:
        headers = {"authorization": f"Bearer {service.token}"}
        with httpx.Client(base_url=service.base_url, headers=headers) as http:
            read = Reader(http)
            organization = read("/orgs")["items"][0]["id"]
            for route in routes("organizationId"):
                read(route, organizationId=organization)
            for space in http.get(f"/v1/orgs/{organization}/spaces").json()["items"]:
                for route in routes("spaceId"):
                    read(route, spaceId=space["id"])
                for page in read("/spaces/{spaceId}/content/pages", spaceId=space["id"])["pages"]:
                    read("/spaces/{spaceId}/content/page/{pageId}", spaceId=space["id"], pageId=page["id"])
            for state in STATES:
                listed = http.get(f"/v1/orgs/{organization}/change-requests?status={state}").json()["items"]
                assert listed, state
                for one in listed:
                    ids = {"spaceId": one["space"], "changeRequestId": one["id"]}
                    for route in routes("spaceId", "changeRequestId"):
                        read(route, **ids)
                    for comment in read(branch + "/comments", **ids)["items"]:
                        read(branch + "/comments/{commentId}/replies", **ids, commentId=comment["id"])
    assert not read.faults
    assert len(read.read) > 20
