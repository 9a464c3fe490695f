"""The structure of a site over a socket: site spaces, sections and groups, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.service.factories import ROLES, World

from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    AddSiteSpace,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    DuplicateSiteSpace,
    GetSiteStructure,
    ListSectionGroups,
    ListSections,
    ListSiteSpaces,
    MoveSiteSection,
    MoveSiteSectionGroup,
    MoveSiteSpace,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SortSiteStructure,
    StructureItem,
    StructureItemPointer,
    StructurePosition,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.sites import CreateSite, GetSite, PublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace, DeleteSpace, RestoreSpace, Space, UpdateSpace
from presscheck.errors import Conflict, NotFound, Refused


class Shop:
    """A site and helpers to build its structure."""

    def __init__(self, world: World, site_id: str, spaces: dict[str, Space]) -> None:
        self.world = world
        self.site_id = site_id
        self.spaces = spaces

    @property
    def at(self) -> dict[str, str]:
        return {"organization_id": self.world.organization, "site_id": self.site_id}

    async def add(self, title: str, **given: Any) -> SiteSpace:
        return await self.world.admin.send(AddSiteSpace(**self.at, space_id=self.spaces[title].id, **given))

    async def section(self, space: str, **given: Any) -> SiteSection:
        return await self.world.admin.send(AddSection(**self.at, space_id=self.spaces[space].id, **given))

    async def sort(self, item: StructureItem, **where: StructureItem) -> StructureItem:
        position = StructurePosition(**{side: pointer(one) for side, one in where.items()})
        return await self.world.admin.send(SortSiteStructure(**self.at, item=pointer(item), position=position))

    async def outline(self) -> list[Any]:
        return outline((await self.world.admin.send(GetSiteStructure(**self.at))).structure)


def pointer(item: StructureItem) -> StructureItemPointer:
    return StructureItemPointer(type=item.object, id=item.id)  # pyright: ignore[reportArgumentType]


def outline(items: Sequence[StructureItem]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if isinstance(item, SiteSection):
            found.append((item.title, [site_space.title for site_space in item.site_spaces]))
        elif isinstance(item, SiteSectionGroup):
            found.append({item.title: outline(item.children)})
        else:
            found.append(item.title)
    return found


@pytest.fixture
async def shop(world: World) -> Shop:
    spaces = {
        title: await world.admin.send(CreateSpace(organization_id=world.organization, title=title))
        for title in ("API", "Guides", "News", "Help")
    }
    site = await world.admin.send(CreateSite(organization_id=world.organization, title="Docs"))
    return Shop(world, site.id, spaces)


async def test_site_spaces_have_an_order_and_unique_paths(shop: Shop) -> None:
    api, guides = await shop.add("API"), await shop.add("Guides")
    assert (api.path, api.default, api.title) == ("api", True, "API")
    assert (guides.path, guides.default) == ("guides", False)
    structure = await shop.world.admin.send(GetSiteStructure(**shop.at))
    assert structure.type == "siteSpaces"
    assert outline(structure.structure) == ["API", "Guides"]
    twin = await shop.world.admin.send(CreateSpace(organization_id=shop.world.organization, title="API"))
    added = await shop.world.admin.send(AddSiteSpace(**shop.at, space_id=twin.id))
    assert added.path == "api-1"
    with pytest.raises(Conflict):
        await shop.add("API")
    await shop.world.admin.send(DeleteSpace(space_id=shop.spaces["API"].id))
    assert await shop.outline() == ["Guides", "API"]
    assert (await shop.world.admin.send(GetSite(**shop.at))).site_spaces == 2
    await shop.world.admin.send(RestoreSpace(space_id=shop.spaces["API"].id))
    assert await shop.outline() == ["API", "Guides", "API"]


async def test_urls_depend_on_the_default_section_and_space(shop: Shop) -> None:
    api, guides = await shop.add("API"), await shop.add("Guides")
    await shop.world.admin.send(PublishSite(**shop.at))
    top = f"{shop.world.base_url}/docs/{shop.site_id}/"

    async def addresses() -> dict[str, str | None]:
        listed = await shop.world.admin.send(ListSiteSpaces(**shop.at))
        return {item.title: item.urls.published for item in listed.items}

    assert await addresses() == {"API": top, "Guides": f"{top}guides/"}
    await shop.world.admin.send(UpdateSite(**shop.at, default_site_space=guides.id))
    assert await addresses() == {"API": f"{top}api/", "Guides": top}
    await shop.world.admin.send(DeleteSiteSpace(**shop.at, site_space_id=guides.id))
    assert await addresses() == {"API": top}
    first, second = await shop.section("News"), await shop.section("Help")
    assert (first.urls.published, second.urls.published) == (top, f"{top}help/")
    assert {one.id: one.urls.published for one in (*first.site_spaces, *second.site_spaces)} == {
        api.id: top,
        first.site_spaces[1].id: f"{top}news/",
        second.site_spaces[0].id: f"{top}help/",
    }


async def test_first_section_gets_all_site_spaces_and_a_deleted_section_removes_its_own(shop: Shop) -> None:
    await shop.add("API")
    first = await shop.section("News", title="Reference", icon="book")
    assert (first.title, first.path, first.icon, first.default) == ("Reference", "reference", "book", True)
    assert [site_space.default for site_space in first.site_spaces] == [True, False]
    second = await shop.section("Help")
    assert second.title == "Help"
    guides = await shop.add("Guides", section_id=second.id)
    assert guides.section == second.id
    structure = await shop.world.admin.send(GetSiteStructure(**shop.at))
    assert structure.type == "sections"
    assert outline(structure.structure) == [("Reference", ["API", "News"]), ("Help", ["Help", "Guides"])]
    listed = await shop.world.admin.send(ListSiteSpaces(**shop.at))
    assert [item.title for item in listed.items] == ["API", "News", "Help", "Guides"]
    defaults = await shop.world.admin.send(ListSiteSpaces(**shop.at, default=True))
    assert [item.title for item in defaults.items] == ["API", "Help"]
    with pytest.raises(Conflict):
        await shop.section("Guides", title="Twice")
    with pytest.raises(NotFound):
        await shop.world.admin.send(AddSiteSpace(**shop.at, space_id=shop.world.space, section_id="gone"))
    for _ in range(2):
        await shop.world.admin.send(DeleteSection(**shop.at, site_section_id=first.id))
    assert await shop.outline() == [("Help", ["Help", "Guides"])]
    assert (await shop.world.admin.send(ListSections(**shop.at))).items[0].default
    await shop.world.admin.send(DeleteSection(**shop.at, site_section_id=second.id))
    structure = await shop.world.admin.send(GetSiteStructure(**shop.at))
    assert (structure.type, structure.structure) == ("siteSpaces", ())
    assert (await shop.add("API")).default


async def test_items_are_sorted(shop: Shop) -> None:
    api, guides, news = [await shop.add(title) for title in ("API", "Guides", "News")]
    moved = await shop.sort(news, before=api)
    assert (moved.id, moved.object) == (news.id, "site-space")
    assert await shop.outline() == ["News", "API", "Guides"]
    await shop.sort(news, after=guides)
    assert await shop.outline() == ["API", "Guides", "News"]
    await shop.sort(api)
    assert await shop.outline() == ["Guides", "News", "API"]


async def test_items_move_into_other_sections_and_groups(shop: Shop) -> None:
    one, two = await shop.section("API", title="One"), await shop.section("Guides", title="Two")
    three = await shop.section("News", title="Three")
    group = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Group", sections=(two.id,), icon="folder"))
    assert (group.title, [section.id for section in group.sections]) == ("Group", [two.id])
    assert await shop.outline() == [
        ("One", ["API"]),
        ("Three", ["News"]),
        {"Group": [("Two", ["Guides"])]},
    ]
    await shop.sort(three, before=two)
    await shop.sort(one.site_spaces[0], after=two.site_spaces[0])
    assert await shop.outline() == [("One", []), {"Group": [("Three", ["News"]), ("Two", ["Guides", "API"])]}]
    await shop.sort(group, before=one)
    await shop.sort(two, after=one)
    assert await shop.outline() == [{"Group": [("Three", ["News"])]}, ("One", []), ("Two", ["Guides", "API"])]


async def test_invalid_positions_are_refused(shop: Shop) -> None:
    one, two = await shop.section("API", title="One"), await shop.section("Guides", title="Two")
    outer = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Outer"))
    inner = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Inner", parent=outer.id, sections=(two.id,)))
    gone = SiteSection(id="gone")
    wrong: list[tuple[StructureItem, dict[str, StructureItem], type[Exception]]] = [
        (gone, {"before": one}, NotFound),
        (one, {"before": gone}, Refused),
        (one, {"before": one}, Refused),
        (one, {"before": one.site_spaces[0]}, Refused),
        (one, {"before": two, "after": two}, Refused),
        (outer, {"before": inner}, Refused),
        (outer, {"after": two}, Refused),
    ]
    before = await shop.outline()
    for item, where, error in wrong:
        with pytest.raises(error):
            await shop.sort(item, **where)
    assert await shop.outline() == before


async def test_a_site_space_is_updated(shop: Shop) -> None:
    api, guides = await shop.add("API"), await shop.add("Guides")
    where = {**shop.at, "site_space_id": guides.id}
    changed = await shop.world.admin.send(UpdateSiteSpace(**where, path="learn", condition="visitor.claims.beta"))
    assert (changed.path, changed.condition) == ("learn", "visitor.claims.beta")
    other = await shop.world.admin.send(UpdateSiteSpace(**where, condition=None, space_id=shop.spaces["News"].id))
    assert (other.condition, other.space.title, other.path) == (None, "News", "learn")
    for wrong, error in (
        ({"path": "api"}, Conflict),
        ({"path": "a/b"}, Refused),
        ({"space_id": shop.spaces["API"].id}, Conflict),
        ({"space_id": "gone"}, NotFound),
    ):
        with pytest.raises(error):
            await shop.world.admin.send(UpdateSiteSpace(**where, **wrong))
    assert api.path == "api"


async def test_a_section_is_updated(shop: Shop) -> None:
    first, second = await shop.section("API"), await shop.section("Guides")
    news = await shop.add("News", section_id=second.id)
    where = {**shop.at, "site_section_id": second.id}
    changed = await shop.world.admin.send(
        UpdateSection(
            **where, title="Learn", path="learn", description="Slowly", icon="leaf", default_site_space=news.id
        )
    )
    assert (changed.title, changed.path, changed.description, changed.icon) == ("Learn", "learn", "Slowly", "leaf")
    assert [site_space.default for site_space in changed.site_spaces] == [False, True]
    cleared = await shop.world.admin.send(UpdateSection(**where, description=None, icon=None))
    assert (cleared.description, cleared.icon, cleared.title) == (None, None, "Learn")
    await shop.world.admin.send(UpdateSite(**shop.at, default_site_section=second.id))
    sections = (await shop.world.admin.send(ListSections(**shop.at))).items
    assert [(section.title, section.default) for section in sections] == [("API", False), ("Learn", True)]
    for wrong, error in (
        ({"path": first.path}, Conflict),
        ({"default_site_space": first.site_spaces[0].id}, Refused),
        ({"site_section_id": "gone"}, NotFound),
    ):
        with pytest.raises(error):
            await shop.world.admin.send(UpdateSection(**(where | wrong)))


async def test_deleting_a_group_moves_its_items_to_its_position(shop: Shop) -> None:
    one, two, three = [await shop.section(title) for title in ("API", "Guides", "News")]
    outer = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Outer", sections=(two.id,)))
    inner = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Inner", parent=outer.id))
    await shop.sort(outer, before=three)
    renamed = await shop.world.admin.send(
        UpdateSectionGroup(**shop.at, site_section_group_id=inner.id, title="Innermost", icon=None)
    )
    assert renamed.section_group == outer.id
    assert await shop.outline() == [
        ("API", ["API"]),
        {"Outer": [("Guides", ["Guides"]), {"Innermost": []}]},
        ("News", ["News"]),
    ]
    groups = (await shop.world.admin.send(ListSectionGroups(**shop.at))).items
    assert {group.title for group in groups} == {"Outer", "Innermost"}
    for _ in range(2):
        await shop.world.admin.send(DeleteSectionGroup(**shop.at, site_section_group_id=outer.id))
    assert await shop.outline() == [("API", ["API"]), ("Guides", ["Guides"]), {"Innermost": []}, ("News", ["News"])]
    for wrong in ({"parent": "gone"}, {"sections": ("gone",)}):
        with pytest.raises(Refused):
            await shop.world.admin.send(AddSectionGroup(**shop.at, title="x", **wrong))
    assert one.id


async def test_empty_group_is_listed(shop: Shop) -> None:
    await shop.world.admin.send(AddSectionGroup(**shop.at, title="Later"))
    assert await shop.outline() == [{"Later": []}]
    api = await shop.add("API")
    assert {"Later": []} in await shop.outline()
    await shop.world.admin.send(DeleteSiteSpace(**shop.at, site_space_id=api.id))
    section = await shop.section("Guides")
    (placed,) = section.site_spaces
    await shop.world.admin.send(DeleteSiteSpace(**shop.at, site_space_id=placed.id))
    assert await shop.outline() == [{"Later": []}, ("Guides", [])]


async def test_members_see_sections_with_a_space_that_they_see(shop: Shop) -> None:
    first, second, *_ = titles = [*shop.spaces]
    for title in titles[1:]:
        await shop.world.admin.send(UpdateSpace(space_id=shop.spaces[title].id, default_level=None))
    await shop.section(first, title="Open")
    closed = await shop.section(second, title="Closed")
    outer = await shop.world.admin.send(AddSectionGroup(**shop.at, title="Outer"))
    await shop.world.admin.send(AddSectionGroup(**shop.at, title="Inner", sections=(closed.id,), parent=outer.id))
    await shop.world.admin.send(UpdateSite(**shop.at, visibility="visitor-auth"))

    async def shown(role: str) -> tuple[list[str], list[str], list[str]]:
        client = shop.world.clients[role]
        sections = (await client.send(ListSections(**shop.at))).items
        groups = (await client.send(ListSectionGroups(**shop.at))).items
        top = (await client.send(GetSiteStructure(**shop.at))).structure
        return (*([one.title for one in items] for items in (sections, groups, top)),)

    everything = await shown("admin")
    assert everything[0][-2:] == ["Open", "Closed"]
    assert {*everything[1]} == {"Inner", "Outer"}
    for role in ROLES:
        assert await shown(role) == (everything if role in ("admin", "create") else (["Open"], [], ["Open"])), role
    await shop.world.admin.send(PublishSite(**shop.at))
    assert await shown("read") == (["Open"], [], ["Open"])
    await shop.world.admin.send(UpdateSite(**shop.at, visibility="unlisted"))
    assert await shown("read") == everything, "everybody who knows the address of the site reads them"


async def test_items_are_moved_by_their_type(shop: Shop) -> None:
    send = shop.world.admin.send
    first, second = await shop.section("Guides"), await shop.section("API")
    group = await send(AddSectionGroup(**shop.at, title="Group", sections=()))
    before = {"before": {"type": "site-section", "site_section": first.id}}
    moved = await send(MoveSiteSection(**shop.at, site_section_id=second.id, position=before))
    assert moved.id == second.id
    at_first = {"before": {"type": "site-section", "id": second.id}}
    await send(MoveSiteSectionGroup(**shop.at, site_section_group_id=group.id, position=at_first))
    structure = (await send(GetSiteStructure(**shop.at))).structure
    assert [item.id for item in structure] == [group.id, second.id, first.id]
    await send(MoveSiteSection(**shop.at, site_section_id=second.id))
    structure = (await send(GetSiteStructure(**shop.at))).structure
    assert [item.id for item in structure] == [group.id, first.id, second.id]
    with pytest.raises(Refused, match="not found in this site"):
        wrong = {"after": {"type": "site-section", "site_section": "other"}}
        await send(MoveSiteSection(**shop.at, site_section_id=second.id, position=wrong))


async def test_copied_space_is_placed_after_its_original(shop: Shop) -> None:
    send = shop.world.admin.send
    original, last = await shop.add("Guides"), await shop.add("API")
    copy = await send(DuplicateSiteSpace(**shop.at, site_space_id=original.id))
    assert copy.space.id != original.space.id and copy.space.title == "Copy of Guides"
    order = [one.id for one in (await send(ListSiteSpaces(**shop.at))).items]
    assert order[order.index(original.id) :] == [original.id, copy.id, last.id]
    position = {"after": {"type": "site-space", "site_space": last.id}}
    await send(MoveSiteSpace(**shop.at, site_space_id=original.id, position=position))
    order = [one.id for one in (await send(ListSiteSpaces(**shop.at))).items]
    assert order[order.index(copy.id) :] == [copy.id, last.id, original.id]
    with pytest.raises(Refused, match="no drafts"):
        await send(DuplicateSiteSpace(**shop.at, site_space_id=original.id, draft=True))
