"""Style guides of sites. A style guide is a space: people read, review and edit it like any other."""

from __future__ import annotations

from typing import cast

from sqlalchemy import select

from presscheck.api.spaces import CreateSpace, Space
from presscheck.api.style_guides import (
    CreateStyleGuide,
    ListStyleGuides,
    ListStyleGuideTemplates,
    StyleGuide,
    StyleGuides,
    StyleGuideTemplate,
    StyleGuideTemplates,
)
from presscheck.documents.pages.tree import title_slug
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.handlers.sites import as_sites, site_for
from presscheck.service.handlers.spaces import create_space
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, sees_site, visible_spaces
from presscheck.service.spaces.serializers import as_spaces

PLAIN = """## Voice

* Write to the reader: *you*, and the imperative in steps.
* One thought per sentence, and one topic per paragraph.
* Write in the present tense and in the active voice.

## Words

* Use the word that is on the screen, and the same word everywhere.
* Explain an abbreviation where it is first used.
* No *simply*, *just* or *easy*.

## Form

* A title names what the reader gets done: *Track a parcel*.
* Steps are numbered, and each is one action.
* Every image has a text that replaces it.
"""
REFERENCE = """## Structure

* A page for each object, in the order of the interface.
* First what it is, then its fields, then an example that runs.
* Fields are a table: name, type, meaning, default.

## Wording

* Names of the interface are code, exactly as they are typed.
* Give units, limits and the error for a value beyond them.
* A description of a call begins with a verb: *Returns*, *Creates*.

## Changes

* Name the version since which a field exists.
* Announce what is deprecated, with its replacement and date.
"""
TEMPLATES = (
    StyleGuideTemplate(id="plain", title="Plain language", subtitle="For guides and help", markdown=PLAIN),
    StyleGuideTemplate(id="reference", title="Reference", subtitle="For interfaces and settings", markdown=REFERENCE),
)
EMPTY = StyleGuideTemplate(id="", title="Style guide", markdown="")


@handles(ListStyleGuideTemplates)
def list_style_guide_templates(context: Context, call: ListStyleGuideTemplates) -> StyleGuideTemplates:
    """List the templates, which are the same for all organizations."""
    organization_for(context, call.organization_id)
    return StyleGuideTemplates(templates=TEMPLATES)


@handles(ListStyleGuides)
def list_style_guides(context: Context, call: ListStyleGuides) -> StyleGuides:
    """List the style guides that the caller may see, each with the sites that the caller may see."""
    organization = organization_for(context, call.organization_id)
    guides = [row for row in visible_spaces(context, organization.id) if row.type == "styleguide"]
    sites = context.session.scalars(
        select(SiteRow).where(SiteRow.styleguide_id.in_([row.id for row in guides])).order_by(SiteRow.title)
    )
    shown = as_sites(context, [site for site in sites if sees_site(context, site)])
    return StyleGuides(
        styleguides=tuple(
            StyleGuide(
                space=space,
                sites=tuple(site for site in shown if site.styleguide and site.styleguide.space == space.id),
            )
            for space in as_spaces(context, guides)
        )
    )


@handles(CreateStyleGuide)
def create_style_guide(context: Context, call: CreateStyleGuide) -> Space:
    """Create the style guide of a site that has none, or only a deleted one."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    template = next((entry for entry in TEMPLATES if entry.id == call.template), None)
    if call.template is not None and template is None:
        raise ApiError(400, f"template: must be one of {', '.join(entry.id for entry in TEMPLATES)}")
    former = context.row(SpaceRow, site.styleguide_id) if site.styleguide_id else None
    if former and former.deleted_at is None:
        raise ApiError(409, "The site has a style guide.")
    title = f"Style guide of {site.title}"
    space = cast("Space", create_space(context, CreateSpace(organization_id=site.organization_id, title=title)))
    row = context.session.get_one(SpaceRow, space.id)
    template, now = template or EMPTY, context.now()
    document = add_document(context.session, template.markdown) if template.markdown else None
    page = new_page(template.title, slug=title_slug(template.title), document=document, created_at=now)
    row.revision_id = add_revision(
        context.session, row.id, [page], created_at=now, created_by=context.user.id, parents=(row.revision_id,)
    )
    row.type = "styleguide"
    site.styleguide_id = row.id
    context.session.flush()
    return as_spaces(context, [row])[0]
