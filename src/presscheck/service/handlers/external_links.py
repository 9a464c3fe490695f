"""External links of sites: add, change and remove."""

from __future__ import annotations

import json

from presscheck.api.external_links import AddExternalLink, DeleteExternalLink, UpdateExternalLink
from presscheck.api.site_structure import SiteExternalLink
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.sites import site_for
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.models.sites import ExternalLinkRow, SiteRow
from presscheck.service.sites.structure import SiteContents, as_link
from presscheck.service.sites.structure_editor import end_of

MOST_LINKS = 100
"""Maximum number of links of a site; each page of the site shows them."""
LONGEST_TRANSLATIONS = 10_000
"""Maximum number of characters of the translations of a title or a description, as JSON."""


@handles(AddExternalLink)
def add_external_link(context: Context, call: AddExternalLink) -> SiteExternalLink:
    """Add a link at the end of a group, or of the top level. A site without sections cannot have links."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    contents = SiteContents(context, site)
    if not contents.sections:
        raise ApiError(409, "This site has no sections. Add a section before a link.")
    if len(contents.links) >= MOST_LINKS:
        raise ApiError(409, f"A site has at most {MOST_LINKS} links.")
    row = ExternalLinkRow(
        id=new_id(),
        site_id=site.id,
        group_id=_group(contents, call.parent),
        position=end_of(contents.inside(call.parent)),
        draft=bool(call.draft),
    )
    _fill(row, call)
    context.session.add(row)
    context.session.flush()
    return as_link(row)


@handles(UpdateExternalLink)
def update_external_link(context: Context, call: UpdateExternalLink) -> SiteExternalLink:
    """Change a link. A new parent moves the link to the end of that group, or of the top level."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _link(context, site, call.site_external_link_id)
    if row is None:
        raise not_found("external link")
    if "parent" in call.model_fields_set and call.parent != row.group_id:
        contents = SiteContents(context, site)
        row.position = end_of(contents.inside(call.parent))
        row.group_id = _group(contents, call.parent)
    _fill(row, call)
    row.draft = row.draft if call.draft is None else call.draft
    context.session.flush()
    return as_link(row)


@handles(DeleteExternalLink)
def delete_external_link(context: Context, call: DeleteExternalLink) -> None:
    """Remove a link. Return normally if the site does not have it."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _link(context, site, call.site_external_link_id)
    if row is not None:
        context.session.delete(row)


def _link(context: Context, site: SiteRow, link_id: str) -> ExternalLinkRow | None:
    row = context.session.get(ExternalLinkRow, link_id)
    return row if row is not None and row.site_id == site.id else None


def _group(contents: SiteContents, group_id: str | None) -> str | None:
    if group_id is not None and contents.find("site-section-group", group_id) is None:
        raise ApiError(400, "parent: group not found in this site")
    return group_id


def _fill(row: ExternalLinkRow, call: AddExternalLink | UpdateExternalLink) -> None:
    if call.url is not None and web_address(call.url) is None:
        raise ApiError(400, "url: must be a URL such as https://example.org/shop")
    for name in ("localized_title", "localized_description"):
        if len(json.dumps(getattr(call, name))) > LONGEST_TRANSLATIONS:
            raise ApiError(400, f"{call.on_wire(name)}: too long: at most {LONGEST_TRANSLATIONS:,} characters")
    for name in ("title", "url"):
        value = getattr(call, name)
        setattr(row, name, getattr(row, name) if value is None else value)
    for name in call.model_fields_set & {
        "localized_title", "description", "localized_description", "icon", "condition"
    }:  # fmt: skip
        setattr(row, name, getattr(call, name))
