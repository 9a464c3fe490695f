"""Resolution of app URLs to content."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from presscheck.api.url_lookup import ContentAtUrl, GetContentByUrl
from presscheck.service.content.revision_content import revision_content
from presscheck.service.content.serializers import page_by_id, with_markdown
from presscheck.service.handlers.collections import as_collection
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.permissions import collection_for, space_for
from presscheck.service.review.change_requests import as_change_request, change_request_for
from presscheck.service.spaces.serializers import as_spaces

_COLLECTION = re.compile(r"/c/([^/]+)/?")
_SPACE = re.compile(r"/s(?:paces)?/([^/]+)(?:/change-requests/([^/]+))?(?:/pages/([^/]+))?/?")


@handles(GetContentByUrl)
def get_content_by_url(context: Context, call: GetContentByUrl) -> ContentAtUrl:
    """Return the content at an app URL of this service."""
    app = context.app("")
    if not call.url.startswith((app, context.location(""))):
        raise ApiError(404, f"This URL is not part of this service: its URLs start with {app}/.")
    address = web_address(call.url)
    if address is None:
        raise not_found("content at this URL")
    path = unquote(address.path).removeprefix(urlsplit(app).path).removeprefix("/v1")
    if match := _COLLECTION.fullmatch(path):
        return ContentAtUrl(collection=as_collection(context, collection_for(context, match[1])))
    if match := _SPACE.fullmatch(path):
        return _in_space(context, *match.groups())
    raise not_found("content at this URL")


def _in_space(context: Context, space_id: str, change_request: str | None, page_id: str | None) -> ContentAtUrl:
    space = space_for(context, space_id)
    revision_id, branch = space.revision_id, None
    if change_request:
        _, branch = change_request_for(context, space_id, change_request)
        revision_id = branch.revision
    revision = revision_content(context, revision_id) if page_id else None
    page = page_by_id(context, revision, page_id) if revision and page_id else None
    return ContentAtUrl(
        space=next(iter(as_spaces(context, [space]))),
        change_request=as_change_request(context, branch) if branch else None,
        page=with_markdown(context, revision, page) if revision and page else None,
    )
