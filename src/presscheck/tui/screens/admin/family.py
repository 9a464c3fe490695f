"""Families (kinds of items in an organization) as declarations for tables and forms, and the base of their screens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.organizations import Organization
from presscheck.tui.screens.admin.details import Details, Losses, show_details
from presscheck.tui.screens.admin.facts import Column
from presscheck.tui.screens.admin.records.runs import BUSY
from presscheck.tui.ui.screen import BaseScreen

if TYPE_CHECKING:
    from pydantic import BaseModel

    from presscheck.api.operation import Operation, Page
    from presscheck.text.styled_text import Line

Role = Literal["admin", "create"]


@dataclass(frozen=True)
class Family:
    """A kind of items in an organization, such as teams or invite links.

    Attributes:
        title: the name in the sidebar.
        noun: the name of an item in sentences, such as `team`.
        plural: the plural of `noun`, if it is irregular.
        details: extra content in the details of an item.
        adds: shows a custom dialog that adds items, instead of the form of `add`. Returns a message; empty if nothing
            was done.
        edits_several: whether a form can change all marked items.
        losses: returns the consequences of removing items, and whether they can be removed.
        link: returns the address of an item, which is copied instead of its id; empty if unknown.
        for_everybody: the operations that need no role in the organization.
        listing: the operation that lists the items.
        columns: the columns of the table; the first column names the item.
        path: the path of the id of an item in a row of the listing.
        field: the field of `edit` and `remove` that takes the id.
        add: the operation that creates an item.
        edit: the operation that changes an item.
        remove: the operation that removes an item.
        remove_verb: the verb for removing an item.
        loses: a sentence about the consequences of removing an item.
        parts: the family of an item's parts, such as the members of a team. The enter key lists them instead of
            showing the item.
        head: returns the lines above the parts of an item for a width in cells.
        screen: returns the screen of an item, which the enter key opens instead of the item's details.
        state: the field with the state of an item, which is polled while the service works on the item.
        opens_new: whether the screen of a new item opens at once.
        permission: the organization permission that the listing needs; empty for none.
        role: the role that is required to change items.
        hint: how to create an item, or where items come from; shown in an empty table.
        made_elsewhere: the operation that creates an item in another screen, which `hint` names.
    """

    title: str
    noun: str
    listing: type[Operation[Page[Any]]]
    columns: tuple[Column, ...]
    path: str = "id"
    field: str = ""
    add: type[Operation[Any]] | None = None
    edit: type[Operation[Any]] | None = None
    remove: type[Operation[Any]] | None = None
    remove_verb: str = "Delete"
    loses: str = "It cannot be restored."
    parts: Family | None = None
    permission: str = ""
    role: Role = "admin"
    hint: str = ""
    made_elsewhere: type[Operation[Any]] | None = None
    plural: str = ""
    details: Details | None = None
    head: Callable[[Any, int], Sequence[Line]] | None = None
    screen: Callable[[Organization, Any], BaseScreen] | None = None
    adds: Callable[[OrganizationScreen, Mapping[str, Any]], Awaitable[str]] | None = None
    edits_several: bool = False
    losses: Callable[[OrganizationScreen, Sequence[Any]], Awaitable[Losses]] | None = None
    link: Callable[[Organization, Any], str] | None = None
    for_everybody: tuple[type[Operation[Any]], ...] = ()
    state: str = ""
    opens_new: bool = False

    def is_busy(self, item: Any) -> bool:
        """Return whether the service is working on an item."""
        return bool(self.state) and getattr(item, self.state, "") in BUSY

    @property
    def nouns(self) -> str:
        """The plural of the noun."""
        return self.plural or f"{self.noun}s"


class OrganizationScreen(BaseScreen):
    """The base of screens about an organization.

    Args:
        organization: the organization; None until it is loaded.
    """

    SCOPE = "admin"

    def __init__(self, organization: Organization | None = None) -> None:
        super().__init__()
        self.organization = organization

    def open_item(self, family: Family, given: dict[str, Any], item: BaseModel, name: str) -> None:
        """Open the screen of an item, or its details.

        Args:
            family: the family of the item.
            given: the arguments of the listing that contains the item.
            item: the item.
            name: the name of the item, as display text.
        """
        if family.screen and self.organization:
            self.app_context.push_screen(family.screen(self.organization, item))
        else:
            show_details(self, self.organization, family.details, item, f"{family.noun}: {name}")
