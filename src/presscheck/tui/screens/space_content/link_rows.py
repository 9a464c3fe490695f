"""The links of a space as rows: their states, and their targets in words."""

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
"""The states of links in the order of the list; *in app* works for members, but not for readers."""
SIGNS: dict[State, tuple[str, str]] = {
    "broken": ("✗", "removed"),
    "in app": ("⚠", "waiting"),
    "external": ("↗", "link"),
    "ok": ("✓", "added"),
}
"""The sign of each state, and its style."""
KINDS = {"url": "address", "reusable-content": "reusable content", "openapi": "specification", "user": "person"}
"""The kinds of targets whose name on the wire says too little."""


class LinkRow(NamedTuple):
    """A target, and one page that links to it."""

    state: State
    page: RevisionPage | None
    target: ContentLocation | None


def rows_of(links: Iterable[Link]) -> list[LinkRow]:
    """A row for each page of each link, in the order of their states."""
    rows = [
        LinkRow(state_of(link), location.page if location else None, link.target_reference)
        for link in links
        for location in link.location_references or (None,)
    ]
    return sorted(rows, key=lambda row: STATES.index(row.state))


def state_of(link: Link) -> State:
    """The state of a link; the API has no state for addresses outside of the service."""
    if link.status == "broken" or link.target_reference is None:
        return "broken"
    if link.status == "in-app":
        return "in app"
    address = link.target_reference.url or ""
    return "external" if link.target_reference.kind == "url" and not address.startswith(BY_ID) else "ok"


def target_name(target: ContentLocation | None) -> str:
    """The title of a page, the name of a file, or an address, as display text."""
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
    """The addresses by which pages of other spaces name a file or reusable content of a space."""
    if target.file:
        by_id = format_reference({"kind": "file", "file": target.file.id})
        return frozenset((by_id, unsigned_url(target.file.download_url))) - {""}
    if target.reusable_content:
        piece = {"kind": "reusable-content", "reusableContent": target.reusable_content.id, "space": space_id}
        return frozenset((format_reference(piece),))
    return frozenset()


def target_kind(target: ContentLocation | None) -> str:
    """What a target is, as display text."""
    return KINDS.get(target.kind, sanitize(target.kind)) if target else ""


def markdown_of(file: RevisionFile) -> str:
    """The Markdown that shows an image, or links to another file.

    An address that expires cannot stand in a page: the path of the file does, from the root of the space.
    """
    name = sanitize(file.name).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"{'!' if file.content_type.startswith('image/') else ''}[{name}]({address_in_page(file)})"


def target_key(target: ContentLocation) -> tuple[str, str] | None:
    """Kind and id of a target, or its address; None if it has neither."""
    thing = target.page or target.file or target.reusable_content
    if thing:
        return target.kind, thing.id
    if target.user:  # a mention has the address as it is written
        return "url", format_reference({"kind": "user", "user": target.user.id})
    return ("url", unsigned_url(target.url)) if target.url else None
