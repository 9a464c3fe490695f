"""Differences between a site and its published state, and parts whose differences are unknown."""

from dataclasses import replace
from typing import Any

from tests.table import each_case

from presscheck.api.content import RevisionPage
from presscheck.api.site_settings import Redirect, RedirectTarget
from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace, SiteStructure, StructureItem
from presscheck.api.sites import Site
from presscheck.api.spaces import Space
from presscheck.documents.sites.content import (
    FormerSpace,
    PublishedSpace,
    PublishedState,
    SiteContent,
    SpaceContent,
    Unread,
)
from presscheck.engine.publish.differences import Differences, differences
from presscheck.engine.publish.published_state import redirect_targets, structure_items

LOOKS = {"styling.font": "Inter", "title": "Docs"}
A, B, C = (SiteSpace(id=f"i{name}", path=name, space=Space(id=name, title=name.upper())) for name in "abc")


def structure(*items: StructureItem) -> SiteStructure:
    return SiteStructure(type="sections", structure=items)


def page(name: str, **more: Any) -> RevisionPage:
    return RevisionPage(id=name, title=name.title(), path=name, document_id=f"d-{name}", **more)


def redirect(source: str, url: str) -> Redirect:
    return Redirect(id=source, source=source, destination=RedirectTarget(kind="external", url=url))


def site_of(pages: tuple[RevisionPage, ...] = (), then: tuple[RevisionPage, ...] = (), **more: Any) -> SiteContent:
    """Return a site with a space, whose pages were `then` when it was published; nothing else differs."""
    state = PublishedState(
        at=1.0,
        is_own=True,
        items=structure_items(structure(A)),
        visibility="public",
        redirects=redirect_targets([redirect("/a", "https://x.example/")]),
        customization=LOOKS,
    )
    content = SiteContent(
        Site(id="w", visibility="public"),
        structure(A),
        (SpaceContent(A, None, A.space, pages),),
        redirects=(redirect("/a", "https://x.example/"),),
        published=state,
        former=(FormerSpace(PublishedSpace("ia", "a", "A", "", "r1"), then),),
    )
    return replace(content, **more)


def words(found: Differences, subject: str = "") -> list[str]:
    return [f"{one.kind} {one.where}" for one in found.found if not subject or one.subject == subject]


def test_pages_are_added_edited_moved_and_removed_at_any_depth() -> None:
    then = (page("start", pages=(page("deep"),)), page("moved"), page("text"), page("gone", pages=(page("below"),)))
    now = (
        page("start", pages=(page("deep").model_copy(update={"title": "Deeper"}), page("new"))),
        page("moved").model_copy(update={"path": "else/where"}),
        page("text").model_copy(update={"document_id": "d2", "path": "else"}),
    )
    found = differences(site_of(now, then), LOOKS)
    assert words(found) == [
        "edited A: Deeper",
        "added A: New",
        "moved A: Moved",
        "edited A: Text",
        "removed A: Gone",
        "removed A: Below",
    ]
    assert (found.of("pages"), found.of("structure"), found.unknown) == (found.found, (), {})


@each_case("name", ["description", "link_title", "hidden", "no_index", "condition", "emoji", "icon"])
def test_page_with_a_changed_setting_is_edited(name: str) -> None:
    changed = page("a").model_copy(update={name: "x"})
    assert words(differences(site_of((changed,), (page("a"),)), LOOKS)) == ["edited A: A"]
    empty = page("a").model_copy(update={name: ""})
    assert words(differences(site_of((empty,), (page("a"),)), LOOKS)) == []


def test_pages_of_removed_spaces_are_removed_and_pages_of_new_spaces_are_added() -> None:
    content = site_of((page("a"),), (page("a"),))
    left = FormerSpace(PublishedSpace("ib", "b", "B", "", "r1"), (page("old"),))
    new = SpaceContent(C, None, C.space, (page("first"),))
    found = differences(replace(content, former=(*content.former, left), spaces=(*content.spaces, new)), LOOKS)
    assert words(found, "pages") == ["added C: First", "removed B: Old"]


def restructured(before: SiteStructure, after: SiteStructure) -> list[str]:
    content = site_of()
    assert content.published
    state = replace(content.published, items=structure_items(before))
    return words(differences(replace(content, structure=after, published=state), LOOKS), "structure")


def section(name: str, *spaces: SiteSpace, **more: Any) -> SiteSection:
    return SiteSection(id=name, title=name, path=name, site_spaces=spaces, **more)


def test_changed_items_of_the_structure_are_found() -> None:
    one, two = section("one", A, default=True), section("two", B)
    before = structure(one, two)
    assert restructured(before, before) == []
    retitled = structure(one.model_copy(update={"title": "First"}), section("two", C, default=True, condition="x"))
    assert restructured(before, retitled) == ["edited First", "edited two", "added C", "removed B"]
    moved = structure(section("one", default=True), section("two", B, A))
    assert restructured(before, moved) == ["moved A"]
    assert restructured(before, structure(two, one)) == ["moved the order of its items"]
    within = structure(section("one", A, B))
    assert restructured(within, structure(section("one", B, A))) == ["moved the order of its items"]


def test_section_that_moves_with_its_spaces_is_one_move() -> None:
    one, two = section("one", A), section("two", B)
    before = structure(SiteSectionGroup(id="g", title="G", children=(one,)), two)
    after = structure(SiteSectionGroup(id="g", title="G"), two, one)
    assert restructured(before, after) == ["moved one"]


def test_settings_redirects_and_visibility() -> None:
    changed = site_of(
        redirects=(redirect("/a", "https://y.example/"), redirect("/b", "https://x.example/")),
        site=Site(id="w", visibility="unlisted"),
    )
    found = differences(changed, {"title": "New", "added": "x"})
    assert [f"{one.subject}: {one.kind} {one.where}" for one in found.found] == [
        "customization: removed styling.font",
        "customization: edited title",
        "customization: added added",
        "redirects: edited /a",
        "redirects: added /b",
        "visibility: edited public \u2192 unlisted",
    ]


def test_unread_parts_are_unknown() -> None:
    content = site_of((page("a"),), ())
    assert content.published
    assert differences(replace(content, published=None), LOOKS) == Differences((), None), "nothing to compare with"
    then = replace(content.published, customization=None, redirects=None)
    assert differences(replace(content, published=then), LOOKS).unknown == {
        "customization": "it was not read then",
        "redirects": "they were not read then",
    }
    unread = (Unread("published pages", "A", "too old"), Unread("redirects", "", "not yours"))
    found = differences(replace(content, unread=unread, redirects=()), "offline")
    assert (found.found, found.unknown) == (
        (),
        {"pages": "too old", "customization": "offline", "redirects": "not yours"},
    )
    now = (Unread("pages", "A", "no answer"), *unread)
    assert (differences(replace(content, unread=now), LOOKS).unknown or {})["pages"] == "no answer"
