"""Telling a 404 for an operation that the service does not have from a 404 for a missing resource."""

from typing import Any

import pytest

from presscheck.api.change_requests import ListReviews, SubmitReview
from presscheck.api.content import GetRevision
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent
from presscheck.api.conversations import GetConversation, ListConversations
from presscheck.api.imports import GetImport
from presscheck.api.links import ListPageLinks, ListSpaceLinks
from presscheck.api.operation import Operation
from presscheck.api.organizations import GetMember
from presscheck.api.spaces import GetSpace, GetSpaceGitInfo
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.errors import NotFound, NotSupported

from .conftest import FaultServer, http

GONE = http(404, {"error": {"code": 404, "message": "Not found"}})
THERE = http(200, {"id": "x"})


async def fails(server: FaultServer, client: Client, call: Operation[Any], *script: bytes) -> tuple[type, list[str]]:
    server.script = [*script]
    with pytest.raises((NotFound, NotSupported)) as caught:
        await client.send(call)
    return type(caught.value), [asked.target for asked in server.asked]


async def test_a_404_below_an_existing_parent_is_not_supported(server: FaultServer, client: Client) -> None:
    kind, asked = await fails(server, client, ListSpaceLinks(space_id="s"), GONE, THERE, GONE, GONE)
    assert kind is NotSupported
    assert asked[:2] == ["/v1/spaces/s/links", "/v1/spaces/s"]


async def test_a_404_that_is_worded_as_a_missing_resource_is_not_found(server: FaultServer, client: Client) -> None:
    deleted, unknown, organization = (
        http(404, {"error": {"code": 404, "message": message}})
        for message in ("The space is deleted", "Not found", "Organization not found")
    )
    call = ListSpaceLinks(space_id="s")
    assert (await fails(server, client, call, deleted, THERE, unknown, organization))[0] is NotFound
    server.asked.clear()
    assert (await fails(server, client, call, unknown, THERE))[0] is NotSupported, "the words are known by now"


async def test_a_404_below_a_missing_parent_is_not_found(server: FaultServer, client: Client) -> None:
    kind, _ = await fails(server, client, ListPageLinks(space_id="s", page_id="p"), GONE, GONE)
    assert kind is NotFound


async def test_a_404_below_an_existing_listing_is_not_found(server: FaultServer, client: Client) -> None:
    call = GetConversation(organization_id="o", conversation_id="c")
    kind, asked = await fails(server, client, call, GONE, THERE, THERE)
    assert kind is NotFound
    assert asked[1:] == ["/v1/orgs/o", "/v1/orgs/o/conversations"]


async def test_a_404_below_a_missing_listing_is_not_supported(server: FaultServer, client: Client) -> None:
    assert (await fails(server, client, GetImport(organization_id="o", import_run_id="i"), GONE, THERE, GONE)) == (
        NotSupported,
        ["/v1/org/o/imports/i", "/v1/orgs/o", "/v1/org/o/imports"],
    )


async def test_an_unsupported_listing_names_the_release_that_has_it(server: FaultServer, client: Client) -> None:
    server.script = [GONE, THERE]
    with pytest.raises(NotSupported, match=r"it requires release 0\.146\.0"):
        await client.send(ListConversations(organization_id="o"))


async def test_a_404_worded_like_one_for_an_unknown_path_is_not_supported(server: FaultServer, client: Client) -> None:
    call = EditChangeRequestContent(space_id="s", change_request_id="c", changes=(DeletePage(page="p"),))
    no_path, no_page, no_organization = (
        http(404, {"error": {"code": 404, "message": text}})
        for text in ("Not Found", "Page p not found", "Organization not found")
    )
    kind, asked = await fails(server, client, call, no_path, THERE, no_path, no_organization)
    assert kind is NotSupported
    check = "presscheck-route-check"
    assert asked[1:] == [
        "/v1/spaces/s/change-requests/c",
        f"/v1/spaces/s/change-requests/c/{check}/{check}",
        f"/v1/orgs/{check}",
    ]
    assert [one.method for one in server.asked] == ["POST", "GET", "GET", "GET"], "the checks change nothing"
    kind, asked = await fails(server, client, call, no_page, THERE)
    assert kind is NotFound, "it is about the page"
    assert len(asked) == 6, "how the service words its errors is known by now"


async def test_if_all_errors_have_the_same_words_a_404_is_not_found(server: FaultServer, client: Client) -> None:
    call = EditChangeRequestContent(space_id="s", change_request_id="c", changes=(DeletePage(page="p"),))
    assert (await fails(server, client, call, GONE, THERE, GONE, GONE))[0] is NotFound
    assert (await fails(server, client, GetRevision(space_id="s", revision_id="r"), GONE, THERE, GONE, GONE))[
        0
    ] is NotFound


async def test_a_path_without_ids_is_not_supported(server: FaultServer, client: Client) -> None:
    kind, asked = await fails(server, client, GetCurrentUser(), GONE)
    assert (kind, asked) == (NotSupported, ["/v1/user"])


async def test_absent_optional_resource_is_not_found(server: FaultServer, client: Client) -> None:
    gone = http(404, {"error": {"code": 404, "message": "This space has no Git sync."}})
    unknown = http(404, b"<h1>Not Found</h1>", kind="text/html")
    kind, _ = await fails(server, client, GetSpaceGitInfo(space_id="s"), gone, THERE, unknown, GONE)
    assert kind is NotFound
    kind, _ = await fails(server, client, GetSpaceGitInfo(space_id="s"), unknown, THERE)
    assert kind is NotSupported


async def test_a_404_below_a_forbidden_listing_is_not_found(server: FaultServer, client: Client) -> None:
    kind, _ = await fails(server, client, GetMember(organization_id="o", user_id="u"), GONE, THERE, http(403, {}))
    assert kind is NotFound
    kind, _ = await fails(server, client, GetMember(organization_id="o", user_id="u"), GONE, THERE, GONE)
    assert kind is NotSupported


async def test_a_405_names_the_missing_feature(server: FaultServer, client: Client) -> None:
    server.script = [http(405, {})]
    with pytest.raises(NotSupported, match=r"^This service has no page editing$"):
        call = EditChangeRequestContent(space_id="s", change_request_id="c", changes=(DeletePage(page="p"),))
        await client.send(call)


async def test_a_404_of_a_common_operation_is_not_found(server: FaultServer, client: Client) -> None:
    kind, asked = await fails(server, client, GetSpace(space_id="s"), GONE)
    assert kind is NotFound
    assert asked == ["/v1/spaces/s"]


async def test_a_write_of_an_optional_feature_is_not_supported(server: FaultServer, client: Client) -> None:
    call = SubmitReview(space_id="s", change_request_id="c", status="approved")
    kind, asked = await fails(server, client, call, GONE, THERE, GONE)
    assert kind is NotSupported
    assert asked[1:] == ["/v1/spaces/s/change-requests/c", "/v1/spaces/s/change-requests/c/reviews"]
    assert [one.method for one in server.asked] == ["POST", "GET", "GET"], "the look changes nothing"
    kind, _ = await fails(server, client, call, GONE, THERE, THERE)
    assert kind is NotFound, "the reviews are there"
    kind, _ = await fails(server, client, ListReviews(space_id="s", change_request_id="c"), GONE, GONE)
    assert kind is NotFound
