"""Redirect suggestions for pages that recent revisions of a site's spaces moved or deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from presscheck.api.content import GetRevision, RevisionPage
from presscheck.api.site_settings import RedirectDestination
from presscheck.api.site_structure import GetSiteStructure, SiteSection, SiteSpace
from presscheck.api.sites import Site
from presscheck.api.spaces import GetSpace
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import CachedReader
from presscheck.engine.publish.redirects import RedirectMap, source_problem
from presscheck.engine.publish.site_structure import plain_path, site_spaces, space_path, wire_path
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.errors import PresscheckError

REVISIONS = 20
"""Number of revisions to examine in each space."""


@dataclass(frozen=True)
class Suggestion:
    """A redirect that keeps an old address working.

    Attributes:
        source: the former path of a page.
        destination: the page; if it was deleted, its nearest remaining ancestor or the space.
        title: the former title of the page.
        is_deleted: whether the page was deleted.
    """

    source: str
    destination: RedirectDestination
    title: str
    is_deleted: bool


async def suggestions(
    engine: CachedReader, organization_id: str, site: Site, redirects: RedirectMap
) -> list[Suggestion]:
    """Suggest redirects for former paths of pages, unless the path now has a redirect or another page.

    Within each space, the most recently used paths come first.

    Raises:
        PresscheckError: the structure of the site cannot be read.
    """
    structure = await engine.read(GetSiteStructure(organization_id=organization_id, site_id=site.id))
    found: dict[str, Suggestion] = {}
    for item, section in site_spaces(structure.structure):
        trees = await _former_trees(engine, item.space.id)
        for suggestion in _of_space(item, section, trees, redirects):
            found.setdefault(plain_path(suggestion.source), suggestion)
    return list(found.values())


async def _former_trees(engine: CachedReader, space: str) -> list[Sequence[RevisionPage]]:
    """Return the page trees of the latest revisions of a space, newest first; fewer if a revision cannot be read."""
    trees: list[Sequence[RevisionPage]] = []
    try:
        at: str | None = (await engine.read(GetSpace(space_id=space))).revision
        while at and len(trees) < REVISIONS:
            call = GetRevision(space_id=space, revision_id=at, computed=False)
            known = engine.known(call)  # revisions never change
            revision = known.value if known else await engine.read(call, priority=BACKGROUND)
            trees.append(revision.pages)
            at = revision.parents[0] if revision.parents else None
    except PresscheckError:
        return trees
    return trees


def _of_space(
    item: SiteSpace,
    section: SiteSection | None,
    trees: Sequence[Sequence[RevisionPage]],
    redirects: RedirectMap,
) -> Iterator[Suggestion]:
    if not trees:
        return
    above, present = space_path(item, section), {page.id: page for page in flatten(trees[0])}
    for tree in trees[1:]:
        parents = {child.id: page.id for page in flatten(tree) for child in page.pages}
        for page in flatten(tree):
            if page.path is None or page.type != "document":
                continue
            path = f"{above}/{page.path}"
            is_taken = plain_path(path) in redirects.by_source or redirects.paths.at(path) is not None
            if is_taken or source_problem(path):
                continue
            remaining: str | None = page.id
            while remaining is not None and remaining not in present:
                remaining = parents.get(remaining)
            where = (
                RedirectDestination(kind="site-page", site_space_id=item.id, page_id=remaining)
                if remaining
                else RedirectDestination(kind="site-space", site_space_id=item.id)
            )
            yield Suggestion(wire_path(path), where, page.title, is_deleted=remaining != page.id)
