"""The links of a space as rows, with their states and the names of their targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from presscheck.api.content import RevisionFile, RevisionPage
from presscheck.api.links import ContentLocation, Link
from presscheck.documents.markdown.link_report import BY_ID
from presscheck.documents.nodes.references import format_reference
from presscheck.documents.pages.file_urls import address_in_page, unsigned_url
from presscheck.text.sanitize import display_url, sanitize

State = Literal["broken", "in app", "external", "ok"]
STATES: tuple[State, ...] = ("broken", "in app", "external", "ok")
"""The states of links in list order. Targets *in app* are visible to members, but not to readers."""
SIGNS: dict[State, tuple[str, str]] = {
    "broken": ("✗", "removed"),
    "in app": ("⚠", "waiting"),
    "external": ("↗", "link"),
    "ok": ("✓", "added"),
}
"""The sign and style of each state."""
KINDS = {"url": "address", "reusable-content": "reusable content", "openapi": "specification", "user": "person"}
"""Display names of kinds whose names in the API are unclear."""


class LinkRow(NamedTuple):
    """A link: its state, the page that contains it, and its target. The page or the target may be unknown."""

    state: State
    page: RevisionPage | None
    target: ContentLocation | None


def rows_of(links: Iterable[Link]) -> list[LinkRow]:
    """Return a row for each page that contains a link, ordered by state. A link without pages has a row too."""
    rows = [
        LinkRow(state_of(link), location.page if location else None, link.target_reference)
        for link in links
        for location in link.location_references or (None,)
    ]
    return sorted(rows, key=lambda row: STATES.index(row.state))


def state_of(link: Link) -> State:
    """Return the state of a link. The API has no state for external addresses, so they are recognized here."""
    if link.status == "broken" or link.target_reference is None:
        return "broken"
    if link.status == "in-app":
        return "in app"
    address = link.target_reference.url or ""
    return "external" if link.target_reference.kind == "url" and not address.startswith(BY_ID) else "ok"


def target_name(target: ContentLocation | None) -> str:
    """Return the title, name or address of a target, as display text."""
    if target is None:
        return "(unknown)"
    if target.url:
        return display_url(target.url) if "://" in target.url else sanitize(target.url)
    anchor = target.internal_location.anchor if target.internal_location else None
    if target.page:
        title = sanitize(target.page.title or target.page.link_title or "") or "(no title)"
        return f"{title} #{sanitize(anchor)}" if anchor else title
    if target.file:
        return sanitize(target.file.name) or "(no name)"
    if target.user:
        return f"@{sanitize(target.user.display_name) or sanitize(target.user.id)}"
    named = target.reusable_content or target.space or target.collection
    return (sanitize(named.title) if named else "") or "(no title)"


def addresses_elsewhere(space_id: str, target: ContentLocation) -> frozenset[str]:
    """Return the addresses with which other spaces refer to a file or reusable content; empty for other targets."""
    if target.file:
        by_id = format_reference({"kind": "file", "file": target.file.id})
        return frozenset((by_id, unsigned_url(target.file.download_url))) - {""}
    if target.reusable_content:
        piece = {"kind": "reusable-content", "reusableContent": target.reusable_content.id, "space": space_id}
        return frozenset((format_reference(piece),))
    return frozenset()


def target_kind(target: ContentLocation | None) -> str:
    """Return the kind of a target, as display text."""
    return KINDS.get(target.kind, sanitize(target.kind)) if target else ""


def markdown_of(file: RevisionFile) -> str:
    """Return the Markdown for a file: an image, or a link for other types of files.

    The download address expires, so the Markdown contains the path of the file from the root of the space.
    """
    name = sanitize(file.name).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"{'!' if file.content_type.startswith('image/') else ''}[{name}]({address_in_page(file)})"


def target_key(target: ContentLocation) -> tuple[str, str] | None:
    """Return the kind and id, or the address, of a target; None if it has neither."""
    thing = target.page or target.file or target.reusable_content
    if thing:
        return target.kind, thing.id
    if target.user:  # mentions are identified by their address
        return "url", format_reference({"kind": "user", "user": target.user.id})
    return ("url", unsigned_url(target.url)) if target.url else None
