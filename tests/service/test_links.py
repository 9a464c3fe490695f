"""Links, backlinks and broken links, computed from the content of pages."""

from __future__ import annotations

import pytest
from tests.service.factories import World, insert, rewrite

from presscheck.api.change_requests import ChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.content_changes import DeletePage
from presscheck.api.links import (
    Links,
    ListChangeRequestPageBacklinks,
    ListChangeRequestPageLinks,
    ListPageBacklinks,
    ListPageLinks,
    ListSpaceLinks,
)
from presscheck.api.spaces import GetSpace
from presscheck.api.url_lookup import GetContentByUrl
from presscheck.documents.markdown.anchors import page_anchors
from presscheck.documents.markdown.link_report import LinkReport, RevisionContent
from presscheck.errors import NotFound

TEXT = """\
See [the guide](guide.md#id-1.-first-step) and [the guide](guide.md), [gone](gone.md), [the web](https://example.org/).
[At home]({app}/spaces/x). ![Sky](sky.png)
"""


def told(found: Links) -> list[tuple[str, str, str, list[str]]]:
    """Return status, kind and target of each link, and the titles of the linking pages."""
    rows: list[tuple[str, str, str, list[str]]] = []
    for link in found.items:
        target = link.target_reference
        assert target
        name = target.page.title if target.page else target.url or (target.file.name if target.file else "")
        rows.append(
            (
                link.status,
                target.kind,
                name,
                [location.page.title for location in link.location_references if location.page],
            )
        )
    return rows


async def changed(world: World) -> ChangeRequest:
    draft = await world.draft()
    text = TEXT.replace("{app}", f"{world.base_url}/app")
    await world.edit(draft, rewrite("start", f"# Start\n\n{text}"), insert("More", "[Guide](guide.md), [none](no.md)"))
    return draft


async def test_links_of_a_space_are_grouped_by_target(world: World) -> None:
    draft = await changed(world)
    assert (await world.admin.send(ListSpaceLinks(space_id=world.space))).items == ()
    await world.admin.send(UpdateChangeRequest(space_id=world.space, change_request_id=draft.id, status="open"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))
    found = await world.clients["read"].send(ListSpaceLinks(space_id=world.space))
    assert told(found) == [
        ("broken", "page", "Guide", ["Start"]),
        ("ok", "page", "Guide", ["Start", "More"]),
        ("broken", "url", "gone.md", ["Start"]),
        ("ok", "url", "https://example.org/", ["Start"]),
        ("in-app", "url", f"{world.base_url}/app/spaces/x", ["Start"]),
        ("broken", "url", "sky.png", ["Start"]),
        ("broken", "url", "no.md", ["More"]),
    ]
    first = found.items[0].target_reference
    assert first and first.internal_location and first.internal_location.anchor == "id-1.-first-step"
    assert (found.stats.total, found.stats.broken.total, found.count, found.total) == (7, 4, 7, 7)
    broken = await world.admin.send(ListSpaceLinks(space_id=world.space, status="broken", limit=2))
    assert (len(broken.items), broken.count, broken.total, broken.stats.total) == (2, 2, 4, 7)
    assert broken.next
    rest = await world.admin.send(ListSpaceLinks(space_id=world.space, status="broken", page=broken.next.page))
    assert [row[2] for row in told(rest)] == ["sky.png", "no.md"]
    of_page = await world.admin.send(ListPageLinks(space_id=world.space, page_id="start", status="broken"))
    assert [row[2] for row in told(of_page)] == ["Guide", "gone.md", "sky.png"]
    back = await world.admin.send(ListPageBacklinks(space_id=world.space, page_id="guide"))
    assert [item.page.title for item in back.items if item.page] == ["Start", "More"]


async def test_a_change_request_lists_the_links_that_it_breaks(world: World) -> None:
    draft = await changed(world)
    at = {"space_id": world.space, "change_request_id": draft.id}
    found = await world.admin.send(ListChangeRequestPageLinks(**at, page_id="start"))
    assert (found.stats.broken.total, found.stats.broken.change_request) == (3, 3)
    back = await world.admin.send(ListChangeRequestPageBacklinks(**at, page_id="guide"))
    assert [item.page.title for item in back.items if item.page] == ["Start", "More"]
    await world.admin.send(UpdateChangeRequest(**at, status="open"))
    await world.admin.send(MergeChangeRequest(**at))
    second = await world.draft("Less")
    await world.edit(second, DeletePage(page="guide"))
    less = {"space_id": world.space, "change_request_id": second.id}
    found = await world.admin.send(ListChangeRequestPageLinks(**less, page_id="start"))
    assert (found.stats.broken.total, found.stats.broken.change_request) == (4, 2), "two were already broken"


def test_links_by_id_are_broken_only_if_their_target_is_missing() -> None:
    """Mentions, which pages have after a merge, are not broken links."""
    written = (
        "/~/users/u1",
        "/~/pages/guide",
        "/~/pages/guide#first",
        "/~/pages/none",
        "/~/spaces/other/pages/p1",
        "/~/collections/c1",
    )
    pages = [RevisionPage(id="guide", path="guide", title="Guide"), RevisionPage(id="more", path="more", title="More")]
    report = LinkReport(RevisionContent(pages, {"more": written}, {"guide": page_anchors("First.\n")}))
    assert [(usage.status, usage.target.kind, usage.target.name) for usage in report.usages] == [
        ("ok", "elsewhere", "/~/users/u1"),
        ("ok", "page", "guide"),
        ("broken", "page", "guide"),
        ("broken", "broken", "/~/pages/none"),
        ("ok", "elsewhere", "/~/spaces/other/pages/p1"),
        ("ok", "elsewhere", "/~/collections/c1"),
    ]
    assert [place.page.title for place in report.to("page", "guide") if place.page] == ["More"]


async def test_links_to_anchors_are_broken_only_if_the_page_has_no_such_heading(world: World) -> None:
    draft = await world.draft()
    at = {"space_id": world.space, "change_request_id": draft.id}
    guide = (
        '## 1. First step\n\n## Size <a href="#größe" id="größe"></a>\n\n##### Deep\n\n'
        "<details>\n\n<summary>Why?</summary>\n\nSo.\n\n</details>\n"
    )
    text = (
        "[a](guide.md#id-1.-first-step) [b](guide.md#gr%C3%B6%C3%9Fe) [c](guide.md#größe) [d](guide.md#why) "
        "[gone](guide.md#1-first-step) [deep](guide.md#deep) [self](#here) [nowhere](#nowhere)\n\n## Here\n"
    )
    await world.edit(draft, rewrite("guide", guide), rewrite("start", text))
    found = await world.admin.send(ListChangeRequestPageLinks(**at, page_id="start"))
    assert [
        (link.status, link.target_reference.internal_location.anchor)
        for link in found.items
        if link.target_reference and link.target_reference.internal_location
    ] == [
        ("ok", "id-1.-first-step"),
        ("ok", "größe"),
        ("ok", "why"),
        ("broken", "1-first-step"),
        ("broken", "deep"),
        ("ok", "here"),
        ("broken", "nowhere"),
    ]
    await world.edit(draft, rewrite("guide", f'{guide}\n{{% include "/unknown.md" %}}\n'))
    found = await world.admin.send(ListChangeRequestPageLinks(**at, page_id="start"))
    assert found.stats.broken.total == 1, "unknown text may have the heading"


async def test_a_url_resolves_to_its_content(world: World) -> None:
    draft = await changed(world)
    space = await world.admin.send(GetSpace(space_id=world.space))
    pages = (await world.admin.send(ListPages(space_id=world.space))).pages
    for address in (space.urls.app, space.urls.location):
        assert address
        assert (await world.admin.send(GetContentByUrl(url=address))).space == space
    assert draft.urls.app
    found = await world.admin.send(GetContentByUrl(url=draft.urls.app))
    assert found.change_request and found.change_request.id == draft.id
    assert found.space and found.space.id == world.space
    found = await world.admin.send(
        GetContentByUrl(url=f"{world.base_url}/app/spaces/{world.space}/pages/{pages[0].id}")
    )
    assert found.page and found.page.title == pages[0].title
    for address in ("https://example.org/", f"{world.base_url}/app/nothing", f"{world.base_url}/app/spaces/none"):
        with pytest.raises(NotFound):
            await world.admin.send(GetContentByUrl(url=address))
    if space.urls.app:
        with pytest.raises(NotFound):
            await world.clients["guest"].send(GetContentByUrl(url=space.urls.app))
