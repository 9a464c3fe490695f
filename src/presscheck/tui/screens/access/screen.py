"""The permissions screen: people and teams of a collection, space or site, or places and teams of a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.organizations import OrganizationMember
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.access.person import PersonAccess, PlaceList, TeamRoleList
from presscheck.tui.screens.access.place import PeopleList, PlaceAccess, TeamList
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.engine.access import Container
    from presscheck.tui.screens.access.session import AccessSession


class AccessScreen(TabScreen):
    """The levels of people and teams, and the reason for each level.

    Args:
        organization: the organization.
        thing: the collection, space, site or person.
    """

    SCOPE = "admin"

    def __init__(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        super().__init__()
        self.session: AccessSession
        if isinstance(thing, OrganizationMember):
            self.session = person = PersonAccess(self, organization, thing)
            self.lists = Tabs(self, (PlaceList(person), TeamRoleList(person)))
        else:
            self.session = place = PlaceAccess(self, organization, thing)
            self.lists = Tabs(self, (PeopleList(place), TeamList(place)))

    @override
    def title_line(self) -> Line:
        title = sanitize(self.session.organization.title)
        return (Span(f" {title} › Permissions › ", "quiet"), Span(self.session.title, "title"))

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists, self.session)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.lists.draw()
        self.session.reload()

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.session.is_stale:
            self.session.reload()

    @override
    def notes(self) -> Line:
        error = self.session.error
        if error and self.lists.tab.total is not None:
            return (Span(f"not up to date: {sanitize(error.message)}", "waiting"),)
        return ()

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.session.reload()

    async def command_unsend(self) -> None:
        """Undo the last change of these permissions, after a confirmation."""
        await undo_last_sent(self, self.session.is_here)
        self.session.reload()
