"""What can be done to a site: publish it, make one, name it, fill it, put its parts in order, throw it away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from presscheck.api.site_structure import (
    AddSiteSpace,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SortSiteStructure,
    StructureItem,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.sites import CreateSite, DeleteSite, PublishSite, Site, UnpublishSite, UpdateSite
from presscheck.api.spaces import ListSpaces
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span
from presscheck.errors import PresscheckError
from presscheck.tui.screens.publish_structure import every, moved, pointer, title_of
from presscheck.tui.widgets.entry import Entry
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.publish import Publish

TITLE = (2, 128)
"""Characters that a title may have."""
SEEN_BY = {
    "public": "anybody, and by search engines",
    "unlisted": "anybody who has the address",
    "share-link": "those who have the secret link",
    "visitor-auth": "those who sign in",
}


async def publish(place: Publish, site: Site) -> None:
    """Put the site live, or take it away, after asking."""
    act = "Unpublish" if site.published else "Publish"
    if not await place.ask(Sheet(f"{act} {display_text(site.title)}?", _facts(site), act, place.style_for)):
        return
    if site.published:
        await place.desk.write(UnpublishSite(**_of(site, place))).landed()
        place.notify(f"{display_text(site.title)} is no longer published")
        return
    answer = await place.desk.write(PublishSite(**_of(site, place))).landed()
    if isinstance(answer, Site):
        where = display_text(answer.urls.published or "") or "the service does not say where"
        place.notify(f"{display_text(answer.title)} is live: {where}")
    else:
        place.notify("the service asks for a payment first: o opens the site in the browser")


async def add_site(place: Publish) -> None:
    """Make a site of one or several spaces."""
    least, most = TITLE
    title = await place.ask(Entry("What is the new site called?", "", place.style_for, least=least, most=most))
    if title is None:
        return
    spaces = await place.ask(Picker("What does it show?", _spaces(place, ()), place.style_for, many=True))
    if spaces is not None:
        call = CreateSite(organization_id=place.organization_id, title=title, spaces=spaces)
        made = await place.desk.write(call).landed()
        if made is None:
            return  # sent by another presscheck
        place.open_site(made.id)
        place.notify(f"{display_text(made.title)} is made, and not published yet: P publishes it")


async def add_space(place: Publish, site: Site) -> None:
    """Put another space into the site; beside the item under the cursor, where that is in a section."""
    held = [item.space.id for item in every(place.site.items) if isinstance(item, SiteSpace)]
    choices = _spaces(place, held)
    if not choices:
        place.notify("every space of the organization is in this site already")
        return
    chosen = await place.ask(Picker(f"Add to {display_text(site.title)}", choices, place.style_for))
    if chosen:
        item = place.site.item
        section = item.section if isinstance(item, SiteSpace) else item.id if isinstance(item, SiteSection) else None
        given = _of(site, place) | ({"section_id": section} if section else {})
        await place.desk.write(AddSiteSpace(**given, space_id=chosen[0])).landed()


async def rename_site(place: Publish, site: Site) -> None:
    """Give the site another title."""
    least, most = TITLE
    title = await place.ask(Entry("Title of the site", site.title, place.style_for, least=least, most=most))
    if title is not None and title != site.title:
        await place.desk.write(UpdateSite(**_of(site, place), title=title)).landed()


async def rename_item(place: Publish, site: Site, item: StructureItem) -> None:
    """Give a section or a group another title; a space in a site has a path instead."""
    given = _of(site, place)
    if isinstance(item, SiteSpace):
        path = await place.ask(Entry(f"Path of {title_of(item)}", item.path, place.style_for, most=100))
        call: Operation[Any] | None = (
            UpdateSiteSpace(**given, site_space_id=item.id, path=path) if path and path != item.path else None
        )
    else:
        title = await place.ask(Entry(f"Title of {title_of(item)}", item.title, place.style_for, least=2, most=100))
        is_new = title is not None and title != item.title
        if is_new and isinstance(item, SiteSection):
            call = UpdateSection(**given, site_section_id=item.id, title=title)
        elif is_new and isinstance(item, SiteSectionGroup):
            call = UpdateSectionGroup(**given, site_section_group_id=item.id, title=title)
        else:
            call = None
    if call:
        await place.desk.write(cast("Operation[Any]", call)).landed()


async def delete_site(place: Publish, site: Site) -> None:
    """Throw a site away, once its title is typed."""
    title = display_text(site.title)
    lines: list[Line] = [(Span("Its structure, settings and address are gone for good. Its spaces stay."),)]
    if site.published:
        lines.insert(0, (Span("It is live: readers lose it at once.", "waiting"),))
    if await place.ask(Sheet(f"Delete {title}?", lines, "Delete", place.style_for, type_to_confirm=title)):
        await place.desk.write(DeleteSite(**_of(site, place))).landed()


async def remove_item(place: Publish, site: Site, item: StructureItem) -> None:
    """Take an item out of the site."""
    given = _of(site, place)
    if isinstance(item, SiteSpace):
        call, then = DeleteSiteSpace(**given, site_space_id=item.id), "The space itself stays, with all its pages."
    elif isinstance(item, SiteSection):
        call, then = DeleteSection(**given, site_section_id=item.id), "Its spaces leave the site with it, and stay."
    elif isinstance(item, SiteSectionGroup):
        call, then = DeleteSectionGroup(**given, site_section_group_id=item.id), "Its sections stay in the site."
    else:
        place.notify("this kind of item can only be removed in the browser")
        return
    lines: list[Line] = [(Span(then),)]
    if await place.ask(Sheet(f"Take {title_of(item)} out of the site?", lines, "Take out", place.style_for)):
        await place.desk.write(cast("Operation[None]", call)).landed()


async def move(place: Publish, site: Site, item: StructureItem, by: Literal[1, -1]) -> None:
    """Move an item among its siblings: seen at once, and taken back where the service refuses."""
    before = place.site.items
    found = moved(before, f"{item.object} {item.id}", by)
    if found is None:
        place.notify("it is the last one here" if by > 0 else "it is the first one here")
        return
    call = SortSiteStructure(**_of(site, place), item=pointer(item), position=found[1])
    place.site.show_items(site, found[0])
    try:
        with place.site.own_order():
            await place.desk.write(call).landed()
    except PresscheckError:
        place.site.show_items(site, before)
        raise


def _of(site: Site, place: Publish) -> dict[str, Any]:
    return {"organization_id": place.organization_id, "site_id": site.id}


def _spaces(place: Publish, without: tuple[str, ...] | list[str]) -> list[Choice]:
    found = place.desk.window(ListSpaces(organization_id=place.organization_id), 0, 10_000).items
    return [Choice(space.id, display_text(space.title)) for space in found if space.id not in without]


def _facts(site: Site) -> list[Line]:
    if site.published:
        where = display_text(site.urls.published or "")
        return [(Span(f"Readers can open {where} until then, and not afterwards."),)]
    spaces = "1 space, as it is" if site.site_spaces == 1 else f"{site.site_spaces} spaces, as they are"
    return [
        (Span(f"It will be seen by {SEEN_BY.get(site.visibility, display_text(site.visibility))}."),),
        (Span(f"It holds {spaces} now; what is merged later shows at once.", "quiet"),),
    ]
