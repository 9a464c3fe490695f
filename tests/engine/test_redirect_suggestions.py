"""Suggested redirects from paths of pages that recent revisions moved or deleted, unless the paths are in use."""

from typing import Any

from presscheck.api.content import GetRevision, Revision, RevisionPage
from presscheck.api.operation import Operation
from presscheck.api.site_settings import Redirect, RedirectTarget
from presscheck.api.site_structure import GetSiteStructure, SiteSpace, SiteStructure
from presscheck.api.sites import Site, SiteUrls
from presscheck.api.spaces import GetSpace, Space
from presscheck.client.request_priority import Priority
from presscheck.engine.publish.redirect_suggestions import REVISIONS, suggestions
from presscheck.engine.publish.redirects import RedirectMap
from presscheck.engine.publish.site_structure import SitePaths
from presscheck.engine.reads.scheduler import BACKGROUND, REQUESTED
from presscheck.engine.results import Result
from presscheck.errors import Forbidden

SITE = Site(id="w", urls=SiteUrls(published="https://docs.example/"))
ITEM = SiteSpace(id="i1", path="guides", space=Space(id="s1"))
STRUCTURE = SiteStructure(type="siteSpaces", structure=(ITEM,))


def page(name: str, path: str | None = None, *below: RevisionPage, kind: str = "document") -> RevisionPage:
    return RevisionPage(id=name, type=kind, title=name.title(), path=path or name, pages=below)


class Revisions:
    """A reader of a space with one revision for each tree, newest first.

    The first `cached` revisions are cached, and only the first `readable` ones can be read.
    """

    def __init__(self, *trees: tuple[RevisionPage, ...], cached: int = 0, readable: int = 1_000) -> None:
        self.trees, self.cached, self.readable = trees, cached, readable
        self.read_revisions: list[str] = []
        self.priorities: set[Priority] = set()

    def _revision(self, number: int) -> Revision:
        parents = (f"r{number + 1}",) if number + 1 < len(self.trees) else ()
        return Revision(id=f"r{number}", pages=self.trees[number], parents=parents)

    def known(self, call: Operation[Any], /) -> Result[Any] | None:
        assert isinstance(call, GetRevision)
        number = int(call.revision_id[1:])
        return Result(self._revision(number), "cached", 1.0) if number < self.cached else None

    async def read(self, call: Operation[Any], *, priority: Priority = REQUESTED) -> Any:
        if isinstance(call, GetSiteStructure):
            return STRUCTURE
        if isinstance(call, GetSpace):
            return Space(id="s1", revision="r0")
        assert isinstance(call, GetRevision)
        if int(call.revision_id[1:]) >= self.readable:
            raise Forbidden("not yours", request=str(call), status=403)
        self.read_revisions.append(call.revision_id)
        self.priorities.add(priority)
        return self._revision(int(call.revision_id[1:]))


async def suggested(reader: Revisions, *redirects: Redirect) -> list[tuple[str, str, str | None, bool]]:
    paths = SitePaths(SITE, STRUCTURE, {"s1": reader.trees[0]})
    found = await suggestions(reader, "o", SITE, RedirectMap(redirects, paths))
    assert all(one.destination.site_space_id == "i1" for one in found)
    return [(one.source, one.destination.kind, one.destination.page_id, one.is_deleted) for one in found]


NOW = (page("start"), page("moved", "new/moved"), page("parent", "parent"))
THEN = (
    page("start"),
    page("moved", "old/\u00fcber"),
    page("parent", "above", page("child", "above/child", page("deep", "above/child/deep"))),
    page("gone"),
    page("group", "group", kind="group"),
    page("bad", "no path?"),
)


async def test_moved_pages_lead_to_themselves_and_deleted_ones_to_their_nearest_ancestor() -> None:
    reader = Revisions(NOW, THEN)
    assert await suggested(reader) == [
        ("/guides/old/%C3%BCber", "site-page", "moved", False),
        ("/guides/above", "site-page", "parent", False),
        ("/guides/above/child", "site-page", "parent", True),
        ("/guides/above/child/deep", "site-page", "parent", True),
        ("/guides/gone", "site-space", None, True),
    ]
    assert reader.priorities == {BACKGROUND}


async def test_paths_with_a_redirect_or_another_page_are_not_suggested() -> None:
    redirect = Redirect(
        id="1", source="/guides/gone/", destination=RedirectTarget(kind="site-space", site_space_id="i1")
    )
    reader = Revisions((page("start"), page("other", "taken")), (page("start", "taken"), page("gone"), page("x")))
    assert [source for source, *_ in await suggested(reader, redirect)] == ["/guides/x"]


async def test_newest_revision_counts_and_cached_ones_are_not_requested() -> None:
    trees = (NOW, (page("start"), page("a", "was")), (page("moved", "was"), page("b", "older")))
    reader = Revisions(*trees, cached=2)
    assert await suggested(reader) == [
        ("/guides/was", "site-space", None, True),
        ("/guides/older", "site-space", None, True),
    ]
    assert reader.read_revisions == ["r2"]
    assert [source for source, *_ in await suggested(Revisions(*trees, readable=2))] == ["/guides/was"]
    many = Revisions(NOW, *[(page(f"p{number}"),) for number in range(1, REVISIONS + 5)])
    assert len(await suggested(many)) == REVISIONS - 1
    assert await suggested(Revisions(NOW, THEN, readable=0)) == []
