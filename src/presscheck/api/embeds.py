"""Embeds: external URLs as pages show them."""

from typing import Any

from presscheck.api.operation import InSpace, Model, Operation


class Embed(Model):
    """A URL that a page embeds.

    `type` is link, rich (with `html`), or integration (with the `integration` and its `block` that shows the URL).
    """

    type: str = "link"
    title: str = ""
    site: str = ""
    icon: str | None = None
    html: str | None = None
    integration: str | None = None
    block: dict[str, Any] | None = None


class GetSpaceEmbed(InSpace, Operation[Embed]):
    """Get what a URL shows when a page embeds it."""

    operation_id = "getEmbedByUrlInSpace"
    route = "GET /spaces/{space_id}/embed"
    feature = "reads of site renderers"
    release = "0.202.0"
    may_be_absent = True

    url: str
