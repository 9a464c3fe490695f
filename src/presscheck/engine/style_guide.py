"""The style guide of a space: the texts of the style guides of its sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.content import ListPages
from presscheck.api.operation import ALL
from presscheck.api.sites import ListSites
from presscheck.documents.pages.tree import flatten
from presscheck.engine.shared_calls import live_page

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.engine.protocols import Reader


async def read_style_guide(engine: Reader, space: Space) -> str:
    """Return the pages of the style guides of a space's sites as Markdown; empty if its sites have none.

    Raises:
        PresscheckError: the sites or a style guide cannot be read.
    """
    sites = await engine.read(ListSites(organization_id=space.organization, space=space.id, limit=ALL))
    guides = dict.fromkeys(site.styleguide.space for site in sites.items if site.styleguide and site.styleguide.space)
    texts: list[str] = []
    for guide in guides:
        pages = [
            page for page in flatten((await engine.read(ListPages(space_id=guide))).pages) if page.type == "document"
        ]
        texts += [(await engine.read(live_page(guide, page.id))).markdown or "" for page in pages]
    return "\n".join(texts)
