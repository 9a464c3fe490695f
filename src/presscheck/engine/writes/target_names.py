"""The names of what a write changes, for writes that have only ids.

They are read from the cache when the write is made, and stored with it: after a deletion, no response has them any
more.
"""

from __future__ import annotations

from typing import Any

from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.operation import Operation
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import StoredResources
from presscheck.engine.shared_calls import at
from presscheck.engine.writes.page_merge import page_edit
from presscheck.text.phrases import count

MOST = 2
"""Maximum number of names; the others are counted."""
LONGEST = 40
"""Maximum number of characters of a name in a description."""
_IN_STRUCTURE = ("site_space_id", "site_section_id", "site_section_group_id", "site_external_link_id")
"""The arguments that are ids of items in the structure of a site."""
_RESOURCES = {
    "user_id": ("member", "user"),
    "team_id": ("team", "title"),
    "site_redirect_id": ("site-redirect", "source"),
    "share_link_id": ("share-link", "name"),
}
"""For arguments that are ids of other resources: the type of the resource (its `object`), and its field with a name."""


def target_names(call: Operation[Any], stored: StoredResources) -> str | None:
    """Return the names of what a write changes, such as `“Ship” with 6 subpages`; None if the cache does not have them.

    The names are text of others, and not display text.
    """
    if isinstance(call, EditChangeRequestContent):
        # an edit of a text has the title of the page elsewhere
        return None if page_edit(call) else _pages(call, stored)
    if hasattr(call, "site_id"):
        item = getattr(call, "item", None)
        ids = [getattr(call, name) for name in _IN_STRUCTURE if hasattr(call, name)]
        if item is not None or ids:
            return _item_of_site(call, item.id if item is not None else ids[0], stored)
    for name, (kind, field) in _RESOURCES.items():
        if hasattr(call, name):
            value: Any = stored.resource(kind, getattr(call, name)).get(field)
            title = value.get("displayName") if isinstance(value, dict) else value
            return _quoted(title) if title else None
    return None


def _pages(call: EditChangeRequestContent, stored: StoredResources) -> str | None:
    ids: list[str] = [change.page for change in call.changes if hasattr(change, "page")]
    known = stored.known(at(ListChangeRequestPages, call))
    pages = {page.id: page for page in flatten(known.value.pages)} if known else {}
    changed = [pages[page] for page in dict.fromkeys(ids) if page in pages]
    if not changed:
        return None
    names = ", ".join(_quoted(page.title) for page in changed[:MOST])
    if len(changed) > MOST:
        return f"{names} and {len(changed) - MOST} more"
    if len(call.changes) == 1 and call.changes[0].operation == "delete_page":
        below = sum(1 for _ in flatten(changed[0].pages))
        return f"{names} with {count(below, 'subpage')}" if below else names
    return names


def _item_of_site(call: Any, identity: str, stored: StoredResources) -> str | None:
    from presscheck.api.site_structure import GetSiteStructure  # 5 ms, only for sites

    known = stored.known(at(GetSiteStructure, call))
    items: list[Any] = [*known.value.structure] if known else []
    for item in items:  # which grows
        if item.id == identity:
            title = item.title or getattr(getattr(item, "space", None), "title", "")
            return _quoted(title) if title else None
        items += (*getattr(item, "children", ()), *getattr(item, "sections", ()), *getattr(item, "site_spaces", ()))
    return None


def _quoted(name: str) -> str:
    return f"“{short(name)}”"


def short(text: str) -> str:
    """Return a text in a single line, with at most `LONGEST` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1].rstrip()}…"
