"""What is known of the content of a space: its links with their states, its files and its reusable content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import ReusableContent, Revision, RevisionFile, RevisionPage
from presscheck.api.links import ContentLocation, Link
from presscheck.api.spaces import Space
from presscheck.documents.markdown.link_report import BY_ID
from presscheck.documents.markdown.links import LinkResolver, find_links, source_path
from presscheck.documents.nodes.references import format_reference
from presscheck.documents.pages.file_urls import address_in_page, unsigned_url
from presscheck.documents.pages.tree import flatten
from presscheck.engine.search.backlinks import Linked
from presscheck.errors import PresscheckError
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


class SpaceContent:
    """The content of a space, on main or in a change request.

    Attributes:
        age: seconds since the content was requested, if it is shown without a connection; else None.
        error: why the content could not be requested.
        links_error: why the links could not be listed.
        is_loaded: whether the first request of the content has ended.
    """

    def __init__(self, space_id: str, change_request_id: str | None) -> None:
        self.space_id, self.change_request_id = space_id, change_request_id
        self.space: Space | None = None
        self.request: ChangeRequest | None = None
        self.revision: Revision | None = None
        self.age: float | None = None
        self.error: PresscheckError | None = None
        self.links_error: PresscheckError | None = None
        self.linked: Linked[Link] | None = None
        self.is_loaded = False
        self.rows: tuple[LinkRow, ...] = ()
        self.counts: Counter[State] = Counter()
        self._users: dict[tuple[str, str], dict[str, RevisionPage]] = {}

    @property
    def space_title(self) -> str:
        """The title of the space, as display text."""
        return sanitize(self.space.title) if self.space else ""

    @property
    def request_name(self) -> str:
        """Number and subject of the change request, as display text; empty on main."""
        if self.request is None:
            return ""
        return f"#{self.request.number} {sanitize(self.request.subject) or '(no subject)'}"

    @property
    def app_address(self) -> str:
        """The web address of the change request, or of the space on main, in the app; empty if it is not known."""
        urls = [shown.urls.app for shown in (self.request, self.space) if shown and shown.urls.app]
        return urls[0] if urls else ""

    @property
    def files(self) -> tuple[RevisionFile, ...]:
        """The files."""
        return self.revision.files if self.revision else ()

    @property
    def reusable_contents(self) -> tuple[ReusableContent, ...]:
        """The reusable content."""
        return self.revision.reusable_contents if self.revision else ()

    def set_links(self, linked: Linked[Link]) -> None:
        """Replace the links."""
        self.linked, self.links_error = linked, None
        rows = rows_of(linked.items)
        self.counts = Counter(row.state for row in rows)
        self.rows = tuple(sorted(rows, key=lambda row: STATES.index(row.state)))
        self._users = {}
        for row in rows:
            if row.page and row.target and (key := _target_key(row.target)):
                self._users.setdefault(key, {})[row.page.id] = row.page

    def pages_with_file(self, file: RevisionFile) -> list[RevisionPage]:
        """The known pages whose text names a file, by its path or its address."""
        found = self._users.get(("file", file.id), {}) | self._users.get(("url", unsigned_url(file.download_url)), {})
        return list(found.values())

    def pages_with_reusable(self, reusable: ReusableContent) -> list[RevisionPage]:
        """The known pages that include a piece of reusable content."""
        return list(self._users.get(("reusable-content", reusable.id), {}).values())

    def written_target(self, text: str, page_id: str, target: ContentLocation) -> str:
        """The target of the first link in the text of a page that leads to a target, as written; empty if none does."""
        content = self.revision or Revision(id="")
        places = LinkResolver.of(content.pages, content.files, content.reusable_contents)
        page = next((page for page in flatten(content.pages) if page.id == page_id), None)
        source, wanted = source_path(page) if page else "", _target_key(target)
        anchor = (target.internal_location.anchor if target.internal_location else None) or ""
        for link in find_links(text):
            to = places.resolve(link.target, source)
            kind = {"snippet": "reusable-content", "web": "url", "broken": "url"}.get(to.kind, to.kind)
            name = to.id or unsigned_url(to.url or link.target)
            is_its_file = bool(target.file) and name == unsigned_url(target.file.download_url if target.file else "")
            if is_its_file or (wanted == (kind, name) and (not anchor or to.anchor == anchor)):
                return link.target
        return ""


def rows_of(links: Iterable[Link]) -> list[LinkRow]:
    """A row for each page of each link."""
    return [
        LinkRow(state_of(link), location.page if location else None, link.target_reference)
        for link in links
        for location in link.location_references or (None,)
    ]


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


def _target_key(target: ContentLocation) -> tuple[str, str] | None:
    thing = target.page or target.file or target.reusable_content
    if thing:
        return target.kind, thing.id
    if target.user:  # a mention has the address as it is written
        return "url", format_reference({"kind": "user", "user": target.user.id})
    return ("url", unsigned_url(target.url)) if target.url else None
