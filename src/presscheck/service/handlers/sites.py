"""Sites: list, get, create, update, delete, publish and unpublish.

Members see the sites in `visible_sites`. Changes require the create role. Publishing a site, and changes that show more
of a published site, require the admin role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from presscheck.api.content import ContentRef
from presscheck.api.operation import Page
from presscheck.api.published_sites import GetPublishedSite, PublishedContentSite, SiteCustomizations, SiteScript
from presscheck.api.sites import (
    AdaptiveContent,
    Checkout,
    CreateSite,
    DeleteSite,
    GetSite,
    ListSites,
    PublishSite,
    Site,
    SiteFeature,
    SiteProxy,
    SiteUrls,
    UnpublishSite,
    UpdateSite,
)
from presscheck.documents.visitors.condition_tags import holds_without_claims
from presscheck.documents.visitors.visible_pages import visible_values
from presscheck.service.content.revision_content import VISITOR
from presscheck.service.db.ids import new_id
from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.sites import SiteRow, SiteSettingsRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.teams import GrantRow
from presscheck.service.permissions import (
    PUBLISHING,
    is_member,
    is_open,
    level_in_site,
    organization_for,
    reaches,
    remove_grants,
    require_every_space,
    require_level,
    require_publishing,
    role_in,
    sees_site,
    site_organization_for,
    visible_among,
    visible_sites,
)
from presscheck.service.sites.customization import combined, looks_of, with_newest_parts
from presscheck.service.sites.scripts import policy_text, scripts_of
from presscheck.service.sites.structure import SiteContents
from presscheck.service.sites.structure_editor import add_site_space
from presscheck.service.sites.urls import (
    new_share_key,
    new_signing_key,
    opens_site,
    published_address,
    rename_site,
    site_address,
)

_shown, _spaces = SiteSpaceRow.__table__.c, SpaceRow.__table__.c
_SPACES = select(SpaceRow).where(
    among(_spaces.id, "ids"), _spaces.organization_id == bindparam("organization"), _spaces.deleted_at.is_(None)
)
_SPACES_OF_SITES = select(SpaceRow, _shown.site_id).where(
    among(_shown.site_id, "sites"),
    _spaces.id == _shown.space_id,
    _spaces.organization_id == bindparam("organization"),
    _spaces.deleted_at.is_(None),
)
_RANKS = {"basic": 0, "legacy-basic": 0, "premium": 1, "legacy-premium": 1, "sponsored": 1, "ultimate": 2}
_FEATURES = {
    "sites-public-visibility": "basic",
    "sites-redirects": "basic",
    "sites-full-text-search": "basic",
    "sites-custom-domain": "premium",
    "sites-advanced-customization": "premium",
    "sites-custom-fonts": "premium",
    "sites-share-links": "premium",
    "sites-sections": "ultimate",
    "sites-adaptive-content": "ultimate",
    "sites-visitor-authentication": "ultimate",
}
"""The lowest type of site that includes each feature."""


def features_of(site: SiteRow) -> tuple[SiteFeature, ...]:
    """Return the features of the chosen type of a site.

    A feature is frozen if the plan of the site (`applied_type`) does not include it. Sites without a plan have none.
    """
    if site.applied_type is None:
        return ()
    chosen, applied = _RANKS.get(site.type, 0), _RANKS.get(site.applied_type, 0)
    return tuple(
        SiteFeature(id=name, plan=plan, frozen=_RANKS[plan] > applied)
        for name, plan in _FEATURES.items()
        if _RANKS[plan] <= chosen
    )


@handles(ListSites)
def list_sites(context: Context, call: ListSites) -> Page[Site]:
    """List the visible sites of an organization, oldest first; `title` matches part of the title."""
    organization = organization_for(context, call.organization_id, "guest")
    rows = select(SiteRow).where(SiteRow.organization_id == organization.id)
    role = role_in(context, organization.id)
    if not reaches(role, "create"):
        visible = visible_sites(context, organization.id, context.session.scalars(rows).all())
        if role is None and not visible:
            organization_for(context, organization.id, "read")  # guests may only list sites if they have a level in one
        rows = rows.where(SiteRow.id.in_([site.id for site in visible]))
    if call.space is not None:
        rows = rows.where(SiteRow.id.in_(select(SiteSpaceRow.site_id).where(SiteSpaceRow.space_id == call.space)))
    if call.title is not None:
        rows = rows.where(func.lower(SiteRow.title).contains(call.title.lower(), autoescape=True))
    if call.published is not None:
        rows = rows.where(SiteRow.published.is_(call.published))
    if call.type is not None:
        rows = rows.where(SiteRow.type.in_(call.type))
    order = (SiteRow.created_at, SiteRow.id)
    return page_of_rows(context, call, rows, lambda page_rows: as_sites(context, page_rows), order=order)


@handles(CreateSite)
def create_site(context: Context, call: CreateSite) -> Site:
    """Create a site, optionally with spaces; it is not published yet."""
    organization = organization_for(context, call.organization_id, "create")
    site = SiteRow(
        id=new_id(),
        organization_id=organization.id,
        type=call.type or "basic",
        title=call.title or f"{organization.title} docs",
        visibility=call.visibility or "public",
        published=False,
        adaptive_content=False,
        agents_context="included",
        created_at=context.now(),
    )
    context.session.add_all((site, SiteSettingsRow(site_id=site.id, auth_key=new_signing_key())))
    context.session.flush()
    for space_id in dict.fromkeys(call.spaces or ()):
        add_site_space(context, site, space_id, None)
    return as_sites(context, [site])[0]


@handles(GetSite)
def get_site(context: Context, call: GetSite) -> Site:
    """Return a site."""
    return as_sites(context, [site_for(context, call.organization_id, call.site_id)])[0]


@handles(UpdateSite)
def update_site(context: Context, call: UpdateSite) -> Site:
    """Update a site."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    given = {name: value for name, value in call.given().items() if name not in ("organization_id", "site_id")}
    for name, value in given.items():
        if value is None and name != "proxy":
            raise ApiError(400, f"{call.on_wire(name)}: must not be null")
    if call.visibility not in (None, site.visibility):
        require_publishing(context, site, "changing its visibility")
    for name in ("title", "visibility", "agents_context"):
        if name in given:
            setattr(site, name, given[name])
    if call.basename is not None:
        rename_site(context, site, call.basename)
    if call.adaptive_content is not None:
        if site.adaptive_content and not call.adaptive_content.enabled:
            require_publishing(context, site, "turning adaptive content off")
        site.adaptive_content = call.adaptive_content.enabled
    if "proxy" in given:
        site.proxy = {"origin": call.proxy} if call.proxy else None
    _set_defaults(context, site, call)
    _update_share_key(site)
    context.session.flush()
    return as_sites(context, [site])[0]


@handles(DeleteSite)
def delete_site(context: Context, call: DeleteSite) -> None:
    """Delete a site but not its spaces. Return normally if the site does not exist or the caller does not see it."""
    site_organization_for(context, call.organization_id, call.site_id)
    site = context.session.get(SiteRow, call.site_id)
    if site is not None and site.organization_id == call.organization_id and sees_site(context, site):
        site_for(context, call.organization_id, call.site_id, "admin")
        remove_grants(context, GrantRow.place_id == site.id)
        context.session.delete(site)


@handles(PublishSite)
def publish_site(context: Context, call: PublishSite) -> Site | Checkout:
    """Publish a site; requires an admin and at least one space."""
    site = site_for(context, call.organization_id, call.site_id, PUBLISHING)
    require_every_space(context, site)
    if not SiteContents(context, site).every_space():
        raise ApiError(409, "This site has no spaces to publish. Add a space to it first.")
    if not site.published:
        site.published, site.published_at = True, context.now()
    _update_share_key(site)
    context.session.flush()
    return as_sites(context, [site])[0]


@handles(UnpublishSite)
def unpublish_site(context: Context, call: UnpublishSite) -> Site:
    """Unpublish a site; requires an admin."""
    site = site_for(context, call.organization_id, call.site_id, "admin")
    site.published, site.published_at = False, None
    context.session.flush()
    return as_sites(context, [site])[0]


@handles(GetPublishedSite)
def get_published_site(context: Context, call: GetPublishedSite) -> PublishedContentSite:
    """Return a site as its readers see it.

    Every member may read an open site. For other sites, the caller must see the site in its organization or have a
    share key. Callers who do not see the site get the content for visitors without claims, and callers with a site
    token the content for the visitor of the token. The token of a preview also reads an unpublished site.
    """
    site, sees_all = read_site(context, call.organization_id, call.site_id, call.share_key)
    contents, looks = SiteContents(context, site, is_published=True), with_newest_parts(looks_of(context, site))
    own = {row.id: row.looks for row in contents.site_spaces}
    answer = PublishedContentSite(
        site=as_sites(context, [site])[0],
        structure=contents.structure(),
        customizations=SiteCustomizations(
            site=looks,
            site_spaces={
                site_space.id: combined(looks, own.get(site_space.id)) for site_space in contents.every_space()
            },
        ),
        scripts=site_scripts(context, site),
    )
    visitor = context.known.get(VISITOR)
    if (sees_all and visitor is None) or not site.adaptive_content:
        return answer
    seen = visible_values(answer.model_dump(mode="json", by_alias=True), visitor or holds_without_claims)
    return PublishedContentSite.model_validate(seen)


def site_scripts(context: Context, site: SiteRow) -> tuple[SiteScript, ...]:
    """Return the scripts that integrations add to the pages of a site."""
    return tuple(
        SiteScript(
            script=f"{context.origin}{script.path}",
            content_security_policy=policy_text(script.policy),
            cookies=script.has_cookies,
        )
        for script in scripts_of(context.session, site)
    )


def read_site(
    context: Context, organization_id: str, site_id: str, share_key: str | None = None
) -> tuple[SiteRow, bool]:
    """Return a site that the caller may read as one of its readers: a published site, or the site of a preview.

    Returns:
        The site, and whether the caller also sees it in its organization.

    Raises:
        ApiError: 404, the site is not published, or the caller may not read it.
    """
    site = context.session.get(SiteRow, site_id)
    is_previewing = context.grant is not None and context.grant.is_preview
    if site is None or site.organization_id != organization_id or not (site.published or is_previewing):
        raise not_found("published site")
    is_reader = is_open(site) and is_member(context, site.organization_id)
    has_key = site.visibility == "share-link" and opens_site(context, site, share_key)
    sees_all = sees_site(context, site)
    if not (is_reader or has_key or sees_all):
        raise not_found("published site")
    return site, sees_all


def site_for(context: Context, organization_id: str, site_id: str, required: str = "read") -> SiteRow:
    """Return a site.

    Raises:
        ApiError: 404 if the caller does not see the site, 403 without the level `required` in it.
    """
    site_organization_for(context, organization_id, site_id)
    site = context.row(SiteRow, site_id)
    if site is None or site.organization_id != organization_id or not sees_site(context, site):
        raise not_found("site")
    require_level(level_in_site(context, site), required, "this site")
    return site


def as_sites(context: Context, rows: Sequence[SiteRow]) -> list[Site]:
    """Serialize sites, all of one organization, each with the number of its spaces that the caller may see."""
    if not rows:
        return []
    organization = rows[0].organization_id
    values = {"organization": organization, "sites": [row.id for row in rows]}
    found = context.entities(_SPACES_OF_SITES, SpaceRow, **values)
    spaces: dict[str, SpaceRow] = {space.id: space for space, _ in found}
    guides = {row.styleguide_id for row in rows if row.styleguide_id} - spaces.keys()
    if guides:
        rows_of_guides = context.session.scalars(_SPACES, {"organization": organization, "ids": [*guides]})
        spaces |= {space.id: space for space in rows_of_guides}
    seen = {space.id for space in visible_among(context, organization, [*spaces.values()])}
    counts = Counter(site_id for space, site_id in found if space.id in seen)
    return [
        _as_site(context, row, counts[row.id], row.styleguide_id if row.styleguide_id in seen else None) for row in rows
    ]


def _as_site(context: Context, row: SiteRow, spaces: int, style_guide: str | None) -> Site:
    return Site(
        id=row.id,
        type=row.type,
        applied_type=row.applied_type or row.type,
        title=row.title,
        hostname=row.hostname,
        basename=row.basename,
        proxy=_as_proxy(context, row),
        visibility=row.visibility,
        default_level="inherit",
        published=row.published,
        site_spaces=spaces,
        created_at=row.created_at,
        adaptive_content=AdaptiveContent(enabled=row.adaptive_content),
        agents_context=row.agents_context,
        styleguide=ContentRef(kind="space", space=style_guide) if style_guide else None,
        features=features_of(row),
        permissions=_permissions(level_in_site(context, row)),
        urls=SiteUrls(
            location=context.location(f"/orgs/{row.organization_id}/sites/{row.id}"),
            app=context.app(f"/sites/{row.id}"),
            published=published_address(context, row),
            preview=f"{context.origin}/preview/{row.id}/",
        ),
    )


def _as_proxy(context: Context, row: SiteRow) -> SiteProxy | None:
    """Serialize the proxy. The target contains the share key only if the caller may see the published URL."""
    if not row.proxy:
        return None
    return SiteProxy(origin=row.proxy["origin"], target=published_address(context, row) or site_address(context, row))


def _permissions(role: str | None) -> dict[str, bool]:
    may_change = reaches(role, "create")
    return {
        "view": True,
        "access": reaches(role, "read"),
        "edit": may_change,
        "create": may_change,
        "admin": reaches(role, "admin"),
        "installIntegration": False,
        "viewAdaptiveSchema": may_change,
        "editAdaptiveSchema": may_change,
    }


def _set_defaults(context: Context, site: SiteRow, call: UpdateSite) -> None:
    """Set the default section and the default site space, which must be in the default section if there is one."""
    contents = SiteContents(context, site)
    sections = {section.id: section for section in contents.sections}
    if call.default_site_section is not None:
        if call.default_site_section not in sections:
            raise ApiError(400, "defaultSiteSection: section not found in this site")
        site.default_section_id = call.default_site_section
    if call.default_site_space is None:
        return
    section = sections.get(site.default_section_id or "")
    default_site_space = next(
        (site_space for site_space in contents.site_spaces if site_space.id == call.default_site_space), None
    )
    if default_site_space is None or default_site_space.section_id != (section.id if section else None):
        raise ApiError(400, "defaultSiteSpace: must be a site space at the top level or in the default section")
    if section:
        section.default_site_space_id = default_site_space.id
    else:
        site.default_site_space_id = default_site_space.id


def _update_share_key(site: SiteRow) -> None:
    """Give a site a share key if its visibility needs a key and the site has none.

    Remove a key that is not needed, so that a site that is shared again gets a new key.
    """
    if site.visibility != "share-link":
        site.share_key = None
    elif not site.share_key:
        site.share_key = new_share_key()
