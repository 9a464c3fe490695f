"""The structure of a site as the service has it now: read before a write, so that no work of others is overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.site_structure import GetSiteStructure, StructureItem
from presscheck.engine.publish.site_structure import key_of, kind_of, title_of
from presscheck.errors import ChecksFailed
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.sites.writes import lacks_role, write_reason

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.structure.context import StructureContext
    from presscheck.tui.screens.sites.structure.model import SiteTree

T = TypeVar("T", bound=StructureItem)
NO_ITEM = "nothing is here yet: a adds a space or a section"


async def read_again(screen: StructureContext, model: SiteTree) -> None:
    """Read the structure of a site again, and show it.

    Raises:
        PresscheckError: it cannot be read.
    """
    model.take(await screen.engine.read(GetSiteStructure(**model.path)))
    screen.redraw()


async def present(screen: StructureContext, model: SiteTree, item: T, verb: str) -> T:
    """An item as the service has it now.

    Args:
        screen: the screen.
        model: the structure of the site, which is shown as it is now.
        item: the item as it was shown.
        verb: what was to be done, such as `removed`, for the error.

    Raises:
        ChecksFailed: it is not there any more.
        PresscheckError: the structure cannot be read.
    """
    await read_again(screen, model)
    found = model.items.get(key_of(item))
    if not isinstance(found, type(item)):
        raise ChecksFailed(f"Not {verb}: somebody else removed the {kind_of(item)} {title_of(item)}")
    return found


def change_reason(screen: StructureContext, operation: type[Operation[Any]], *, shows_more: bool = False) -> str | None:
    """Why the structure cannot be changed now; None if it can.

    Args:
        screen: the screen.
        operation: the change.
        shows_more: whether visitors of a live site see more after it, which is like publishing.
    """
    site = screen.model.site
    if reason := write_reason(screen, operation, site, "create"):
        return reason
    if shows_more and site.published and (reason := lacks_role(site, "admin")):
        return f"{reason}: the site is live"
    if screen.model.is_loaded:
        return None
    error = screen.model.error
    return sanitize(error.message) if error else "the structure is not loaded yet"
