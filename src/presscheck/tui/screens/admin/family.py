"""A family of things that an organization has, declared for tables and forms, and the base of screens that list one."""

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
    """A kind of things.

    Attributes:
        title: its name.
        noun: what one of it is called, such as `team`.
        plural: what several are called, where that is not the noun with an s.
        details: reads what is shown of one besides its fields.
        adds: chooses and adds, instead of the form of `add`; returns what was done, empty for nothing.
        edits_several: whether one form changes all marked things.
        losses: reads what removing some takes away, and whether they can be removed.
        link: the address of one, which is copied instead of its id; empty if it is not known.
        for_everybody: the operations that need no role in the organization.
        listing: lists it.
        columns: the columns of its table; the first names a thing.
        path: where the id of an item stands that goes into the paths of other operations.
        field: the field of other operations with this id.
        add: makes one.
        edit: changes one.
        remove: removes one.
        remove_verb: what removing is called.
        loses: what is lost with one, a sentence.
        parts: the family that enter lists for one; without it, enter shows its details.
        head: what stands above the parts of one, for a width.
        screen: makes the screen that enter opens for one in an organization, in place of its details.
        state: where its state stands, which is asked for again while the service works on one.
        opens_new: whether the screen of a new one opens at once.
        permission: the permission of the organization that the listing needs; empty if it needs none.
        role: the role that a change needs.
        hint: what to do if there is none, or where they come from.
        made_elsewhere: makes one in another screen, which the hint names.
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
        """Whether the service is working on one."""
        return bool(self.state) and getattr(item, self.state, "") in BUSY

    @property
    def nouns(self) -> str:
        """What several are called."""
        return self.plural or f"{self.noun}s"


class OrganizationScreen(BaseScreen):
    """A screen about an organization.

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
            family: what the item is.
            given: the arguments of the listing that has it.
            item: the item.
            name: its name, as display text.
        """
        if family.screen and self.organization:
            self.app_context.push_screen(family.screen(self.organization, item))
        else:
            show_details(self, self.organization, family.details, item, f"{family.noun}: {name}")
