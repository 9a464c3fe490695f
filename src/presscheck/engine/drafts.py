"""The drafts of a profile: what each is about, where it belongs, and whether that place is still there.

A draft is stored under a key with its kind, with the ids and titles of its place. So the list of drafts needs no
request: it is the same offline, and after the change request is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import GetComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.spaces import GetSpace
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review.pending_review import draft_key
from presscheck.errors import NotFound

if TYPE_CHECKING:
    from presscheck.engine.protocols import Reader, StoredReader
    from presscheck.store.outbox import StoredDraft

REVIEW_DRAFT = "verdict"
"""The start of the names of drafts of reviews; earlier versions stored it too."""
APPROVAL, CHANGES = f"{REVIEW_DRAFT} approved", f"{REVIEW_DRAFT} changes-requested"
"""The names of the drafts of both kinds of review."""
PAGE, BASE = "edit", "base"
"""The names of the drafts with the text of a page, and with the text that it was edited from."""
Fate = Literal["", "merged", "archived", "missing", "page deleted", "comment deleted"]
"""What became of the place of a draft; empty while the draft can be continued there."""
_OF_REQUEST = {
    "whole": "comment on the change request",
    "reply": "reply",
    "message": "edit of a comment",
    "pending": "edit of an unsent comment",
    APPROVAL: "approval",
    CHANGES: "request for changes",
    "subject": "subject of the change request",
    "description": "description of the change request",
    "new page": "title of a new page",
}
PlaceKind = Literal[
    "space", "item", "site", "structure", "access", "adaptive", "files", "inbox", "change", "export", "form", "draft"
]


class DraftPlace(NamedTuple):
    """Where a draft outside of change requests was written.

    Attributes:
        kind: the kind of place.
        target: its id, or the key of an item of the tree; a number or a name for the others.
        command: the command that continues the draft there; empty if opening the place does.
    """

    kind: PlaceKind
    target: str
    command: str = ""


_OTHERS: tuple[tuple[str, str, PlaceKind, str], ...] = (
    (r"inbox comment", "comment on marked change requests", "inbox", "act_on_marked"),
    (r"inbox request changes", "request for changes to marked change requests", "inbox", "act_on_marked"),
    (r"outbox (?P<id>\d+)", "edit of an unsent change", "change", ""),
    (r"form .+", "form", "form", ""),
    (r"export (?P<id>.+)", "name of a file to export to", "export", "export_rows"),
    (r"subject (?P<id>\S+)", "subject of a new change request", "space", "new_request"),
    (r"new page from (?P<id>.+)", "title of a new page", "draft", ""),
    (r"new space (?P<id>\S+)", "title of a new space", "item", "add"),
    (r"new collection (?P<id>\S+)", "title of a new collection", "item", "add"),
    (r"title (?P<id>(space|collection) \S+)", "title", "item", "rename"),
    (r"description (?P<id>collection \S+)", "description of a collection", "item", "rename"),
    (r"replace subject (?P<id>\S+)", "subject of a replacement", "space", "find_replace"),
    (r"replace (?P<id>\S+)", "find and replace", "space", "find_replace"),
    (r"upload (?P<id>\S+)", "file to upload", "files", "add"),
    (r"save \S+", "name of a file to save", "files", ""),
    (r"visitor schema of site (?P<id>\S+)", "visitor schema", "adaptive", ""),
    (r"claim .+ of site (?P<id>\S+)", "claim of a visitor schema", "adaptive", ""),
    (r"claims of audience .+ of site (?P<id>\S+)", "claims of an audience", "adaptive", ""),
    (r"audience .+ of site (?P<id>\S+)", "audience", "adaptive", ""),
    (r"share link of site (?P<id>\S+)", "name of a share link", "access", "add"),
    (r"share link \S+", "name of a share link", "access", ""),
    (r"redirect of site (?P<id>\S+)", "redirect", "access", "add"),
    (r"redirect \S+", "redirect", "access", ""),
    (r"\S+ redirects (?P<id>\S+)", "file of redirects", "access", ""),
    (r"title of a new (section|group) in site (?P<id>\S+)", "title of a new section or group", "structure", "add"),
    (r"\S+ of .+ in site (?P<id>\S+)", "detail of a section, group or space", "structure", ""),
    (r"\S+ of site (?P<id>\S+)", "detail of a site", "site", "rename"),
)
"""Drafts outside of change requests: a pattern of the key, what they are, where they were written, and the command.

Where the pattern has no id, it is stored about the draft, as `site` or `space`.
"""
SCHEMA_BASE = "visitor schema base of site "
"""The start of the keys of schemas that drafts were edited from, which are no drafts themselves."""


@dataclass(frozen=True)
class Draft:
    """A draft.

    Attributes:
        stored: its key, its text, and what is stored about it.
        request: the id of its change request; empty if it belongs to none.
        name: what it is in its change request: the draft's own name, without ids.
        target: the id of the page, the comment or the outbox row that it is about; empty if there is none.
    """

    stored: StoredDraft
    request: str = ""
    name: str = ""
    target: str = ""

    @property
    def text(self) -> str:
        """Its text."""
        return self.stored.text

    @property
    def space(self) -> str:
        """The id of its space; empty if it is not known."""
        return self.stored.about.get("space", "")

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name its change request in a call; empty if it has none, or its space is not known."""
        return {"space_id": self.space, "change_request_id": self.request} if self.space and self.request else {}

    @property
    def is_page(self) -> bool:
        """Whether it is the text of a page."""
        return self.name == PAGE

    @property
    def page_title(self) -> str:
        """The title of its page, as stored; empty if there is none."""
        return self.stored.about.get("page", "")

    @property
    def label(self) -> str:
        """What it is: the title of the page, or such as `comment on Quickstart`; untrusted text."""
        title = self.page_title
        if self.is_page:
            return title or "page without a title"
        if self.name == "page":
            return f"comment on {title or 'a page'}"
        if self.request and self.target and self.name not in _OF_REQUEST:
            return f"{self.name} of {title or 'a page'}"
        if self.request:
            label = _OF_REQUEST.get(self.name, "text")
            return f"{label} to {self.stored.about['author']}" if self.stored.about.get("author") else label
        known = self._other
        label = known[0] if known else "unsent text"
        about = self.stored.about.get("title", "")
        return f"{label}: {about}" if about and label != about else label

    @property
    def place(self) -> DraftPlace | None:
        """Where it was written, outside of change requests; None if that is not known."""
        known = None if self.request else self._other
        return known[1] if known and known[1].target else None

    @property
    def _other(self) -> tuple[str, DraftPlace] | None:
        for pattern, label, kind, command in _OTHERS:
            match = re.fullmatch(pattern, self.stored.key)
            if match:
                target = match.groupdict().get("id") or self.stored.about.get("site") or self.space
                return label, DraftPlace(kind, self.stored.key if kind == "form" else target, command)
        return None

    @property
    def fields(self) -> dict[str, str]:
        """The typed texts of a form by the names of its fields; empty if it is none."""
        try:
            texts: Any = json.loads(self.text) if self.text.startswith("{") else None
        except ValueError:
            return {}
        is_form = isinstance(texts, dict) and self._other is not None
        typed = cast("dict[str, Any]", texts) if is_form else {}
        return typed if all(isinstance(text, str) for text in typed.values()) else {}

    @property
    def readable(self) -> str:
        """Its text; that of a form as a line for each field."""
        fields = self.fields
        return "\n".join(f"{name.replace('_', ' ')}: {text}" for name, text in fields.items()) or self.text

    @property
    def stored_keys(self) -> tuple[str, ...]:
        """All keys that it is stored under: its own first, and for a page that of the text that it was edited from."""
        key, schema = self.stored.key, "visitor schema of site "
        if self.is_page:
            return key, draft_key(self.request, f"{BASE} {self.target}")
        return (key, SCHEMA_BASE + key.removeprefix(schema)) if key.startswith(schema) else (key,)

    def keys_in(self, request: str) -> dict[str, str]:
        """The keys that the draft has in another change request, by those that it has."""
        if not self.is_page:
            own = self.stored.key.removeprefix(draft_key(self.request, ""))
            return {self.stored.key: draft_key(request, own)}
        names = [f"{name} {self.target}" for name in (PAGE, BASE)]
        return {draft_key(self.request, name): draft_key(request, name) for name in names}


def drafts(stored: tuple[StoredDraft, ...]) -> tuple[Draft, ...]:
    """All drafts of a profile, in the order in which they are stored."""
    found = (_draft(each) for each in stored)
    return tuple(draft for draft in found if draft.name != BASE and not draft.stored.key.startswith(SCHEMA_BASE))


def _draft(stored: StoredDraft) -> Draft:
    start, _, rest = stored.key.partition(" ")
    request, _, name = rest.partition(" ")
    if start != "review" or not request:
        return Draft(stored)
    if name in _OF_REQUEST:
        return Draft(stored, request, name)
    name, _, target = name.partition(" ")
    return Draft(stored, request, name, target)


def draft_about(engine: StoredReader, path: Mapping[str, Any], **details: str) -> dict[str, str]:
    """What is stored about a draft in a change request: its place by ids and titles, as far as they are known."""
    about = {"space": str(path["space_id"]), **details}
    space = engine.known(GetSpace(space_id=path["space_id"]))
    if space and space.value:
        about["space_title"] = space.value.title
    request = engine.known(GetChangeRequest(**path))
    if request and request.value:
        about["subject"], about["number"] = request.value.subject, str(request.value.number)
    return {name: value for name, value in about.items() if value}


def fate_of(draft: Draft, status: str | None, pages: frozenset[str] | None) -> Fate:
    """What became of the place of a draft.

    Args:
        draft: the draft.
        status: that of its change request; `missing` if there is none, None if it is not known.
        pages: the ids of the pages of its change request; None if they are not known.
    """
    if status == "missing":
        return "missing"
    if status == "merged":
        return "merged"
    if status == "archived":
        return "archived"
    return "page deleted" if draft.is_page and pages is not None and draft.target not in pages else ""


async def read_fate(reader: Reader, draft: Draft) -> Fate:
    """Ask the service what became of the place of a draft in a change request.

    Raises:
        PresscheckError: it cannot be read.
    """
    try:
        request = await reader.read(GetChangeRequest(**draft.path))
        fate = fate_of(draft, request.status, await page_ids(reader, draft.path) if draft.is_page else None)
    except NotFound:
        return "missing"
    comment = draft.target if draft.name == "reply" else draft.stored.about.get("comment")
    if not fate and comment:
        try:
            await reader.read(GetComment(**draft.path, comment_id=comment))
        except NotFound:
            return "comment deleted"
    return fate


async def page_ids(reader: Reader, path: Mapping[str, Any]) -> frozenset[str]:
    """The ids of all pages of a change request.

    Raises:
        PresscheckError: they cannot be read.
    """
    return frozenset(page.id for page in flatten((await reader.read(ListChangeRequestPages(**path))).pages))
