"""Style guides: spaces with rules for what is written on a site."""

from presscheck.api.operation import InOrganization, InSite, Model, Operation
from presscheck.api.sites import Site
from presscheck.api.spaces import Space

NEWEST = "0.202.0"
FEATURE = "style guides"


class StyleGuide(Model):
    """A style guide with the sites that use it."""

    space: Space
    sites: tuple[Site, ...] = ()


class StyleGuides(Model):
    """The style guides of an organization."""

    styleguides: tuple[StyleGuide, ...] = ()


class StyleGuideTemplate(Model):
    """A text for a new style guide."""

    id: str
    title: str
    subtitle: str | None = None
    emoji: str | None = None
    markdown: str


class StyleGuideTemplates(Model):
    """The templates of style guides."""

    templates: tuple[StyleGuideTemplate, ...] = ()


class ListStyleGuides(InOrganization, Operation[StyleGuides]):
    """List the style guides of an organization, with their sites."""

    operation_id = "listOrganizationStyleguides"
    route = "GET /orgs/{organization_id}/styleguides"
    feature = FEATURE
    release = NEWEST


class ListStyleGuideTemplates(InOrganization, Operation[StyleGuideTemplates]):
    """List the templates of style guides."""

    operation_id = "listStyleguideTemplates"
    route = "GET /orgs/{organization_id}/styleguide-templates"
    feature = FEATURE
    release = NEWEST


class CreateStyleGuide(InSite, Operation[Space]):
    """Create the style guide of a site.

    It is a space with the text of a template, or with an empty page.
    """

    operation_id = "createSiteStyleguideById"
    route = "POST /orgs/{organization_id}/sites/{site_id}/styleguide"
    feature = FEATURE
    release = NEWEST

    template: str | None = None
