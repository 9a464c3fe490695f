"""A data set with one item of almost every kind, so that path placeholders have valid ids."""

from __future__ import annotations

import time
from typing import Any

import httpx
from tests.service.factories import World

SPEC = '{"openapi": "3.0.3", "info": {"title": "Lamps", "version": "1"}, "paths": {}}'
Known = dict[str, str]


def furnish(world: World) -> Known:
    """Add the items to a world. Returns ids by API placeholder name, prefixed with ``space-`` for items of a space."""
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    with httpx.Client(base_url=world.base_url + "/v1", headers=headers, timeout=60) as http:
        making = _Making(http)
        known = {"organizationId": world.organization, "spaceId": world.space, "userId": world.users["edit"]}
        known |= _content(making, known) | _people(making, known) | _site(making, known) | _outside(making, known)
    return known


class _Making:
    """A callable that sends a request and returns the id of the created item, or an empty string."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def __call__(self, path: str, method: str = "POST", /, **body: Any) -> str:
        return self.said(path, method, **body).get("id", "")

    def said(self, path: str, method: str = "POST", /, **body: Any) -> dict[str, Any]:
        response = self.http.request(method, path, json=body or None)
        assert response.is_success, (path, response.text)
        return response.json() if response.content else {}


def _content(make: _Making, known: Known) -> Known:
    space = f"/spaces/{known['spaceId']}"
    change_request = make(f"{space}/change-requests", subject="Better")
    branch = f"{space}/change-requests/{change_request}"
    change = {"operation": "insert_page", "document": {"markdown": "# New\n\nText.\n"}}
    file = {"operation": "insert_files", "files": [{"name": "a.txt", "base64": "YQ==", "contentType": "text/plain"}]}
    written = make.said(f"{branch}/content?compat=false", changes=[change, file])
    text = {"markdown": "Hm"}
    comment = make(f"{branch}/comments", body=text)
    in_space = make(f"{space}/comments", body=text)
    return {
        "changeRequestId": change_request,
        "commentId": comment,
        "commentReplyId": make(f"{branch}/comments/{comment}/replies", body=text),
        "space-commentId": in_space,
        "space-commentReplyId": make(f"{space}/comments/{in_space}/replies", body=text),
        "reviewId": make(f"{branch}/reviews", status="approved"),
        "pageId": "guide",
        "pagePath": "guide",
        "revisionId": written["changeRequest"]["revision"],
        "fileId": written["insertedFiles"][0]["id"],
        "reusableContentId": "none",
        "documentId": "none",
    }


def _people(make: _Making, known: Known) -> Known:
    here = f"/orgs/{known['organizationId']}"
    known["auditEventId"] = make.said(f"{here}/audit-events", "GET")["items"][0]["id"]
    team = make(f"{here}/teams", "PUT", title="Writers", members=[known["userId"]])
    return {
        "teamId": team,
        "collectionId": make(f"{here}/collections", title="Books"),
        "inviteId": make(f"{here}/link-invites", role="read"),
        "samlProviderId": make(f"{here}/saml", label="Keys"),
        "emailDomain": "example.org",
    }


def _site(make: _Making, known: Known) -> Known:
    here = f"/orgs/{known['organizationId']}"
    second, third = (make(f"{here}/spaces", title=title) for title in ("Second", "Third"))
    site = make(f"{here}/sites", title="Lamps", spaces=[known["spaceId"]])
    there = f"{here}/sites/{site}"
    section = make(f"{there}/sections", spaceId=second, title="Second")
    make(f"{there}/sections", spaceId=third, title="Third")
    placed = make.http.get(f"{there}/site-spaces").json()["items"][0]["id"]
    link = make(f"{there}/external-links", title="Shop", url="https://example.org/shop")
    out = {"kind": "external", "url": "https://example.org/"}
    return {
        "siteId": site,
        "siteSectionId": section,
        "siteSectionGroupId": make(f"{there}/section-groups", title="Group"),
        "siteSpaceId": placed,
        "siteExternalLinkId": link,
        "siteFindingId": make.http.get(f"{there}/findings").json()["items"][0]["id"],
        "shareLinkId": make(f"{there}/share-links", name="For us"),
        "siteRedirectId": make(f"{there}/redirects", source="/old", destination=out),
    }


def _outside(make: _Making, known: Known) -> Known:
    organization = known["organizationId"]
    here = f"/orgs/{organization}"
    make(f"{here}/openapi", slug="lamps", source={"text": SPEC})
    parts = [{"role": "user", "body": "I cannot find how a lamp is filled with oil."}]
    for _ in range(600):  # responses during the processing would differ from service to service
        if make.said(f"{here}/openapi/lamps", "GET").get("processingState") == "complete":
            break
        time.sleep(0.1)
    said = make.http.post(f"{here}/conversations", json=[{"id": "c1", "parts": parts}])
    assert said.is_success, said.text
    details = {"title": "Lamp post", "description": "Lights", "scopes": ["space:content:read"], "script": "0"}
    name = f"lamp-{organization}"
    make(f"/integrations/{name}", **details, organization=organization)
    source = {"space": known["spaceId"], "language": "en"}
    website = {"type": "website", "url": "http://127.0.0.1:9/"}
    return {
        "specSlug": "lamps",
        "versionId": make.said(f"{here}/openapi/lamps/versions/latest", "GET")["id"],
        "conversationId": "c1",
        "issueId": "none",
        "eventId": "none",
        "integrationName": name,
        "installationId": make(f"/integrations/{name}/installations", organization=organization),
        "translationId": make(f"{here}/translations", source=source, language="de"),
        "importRunId": make(f"/org/{organization}/imports", source=website, target={"space": known["spaceId"]}),
    }
