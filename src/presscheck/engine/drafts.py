"""The drafts of a profile: their subjects, their places, and whether the places still exist.

The key of a draft contains its kind. The ids and titles of its place are stored with the draft, so that listing drafts
needs no request: the list is the same offline, and after the change request is gone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2s
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

LIVE_DRAFT = "live"
"""Prefix of the keys of comment drafts on live content."""
REVIEW_DRAFT = "verdict"
"""Prefix of the names of review drafts. It cannot change, because drafts of earlier versions have it."""
APPROVAL, CHANGES = f"{REVIEW_DRAFT} approved", f"{REVIEW_DRAFT} changes-requested"
"""The draft names of both kinds of review."""
PAGE, BASE = "edit", "base"
"""The draft names of the text of a page, and of the text before the edit."""
FILE_OF = "file of "
"""Prefix of the keys of drafts of the path of a file that fills in a form; the key of the form follows."""
INSTRUCTIONS = "AI instructions "
"""Prefix of the keys of AI instruction drafts; with `BASE`, of the texts before the edit."""
Fate = Literal["", "merged", "archived", "missing", "page deleted", "comment deleted"]
"""Why a draft cannot be continued at its place; empty if it can."""
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
_OF_LIVE = {
    "whole": "comment on the space",
    "reply": "reply",
    "message": "edit of a comment",
    "pending": "edit of an unsent comment",
}
PlaceKind = Literal[
    "space",
    "item",
    "site",
    "sites",
    "structure",
    "access",
    "share links",
    "sign-in",
    "adaptive",
    "customization",
    "files",
    "inbox",
    "change",
    "family",
    "form",
    "settings",
    "instructions",
    "draft",
]
SCHEMA_BASE = "visitor schema base of site "
"""Prefix of the keys under which visitor schemas are stored as they were before an edit. These are not drafts."""
NOTHING: Mapping[str, str] = {}


class DraftPlace(NamedTuple):
    """The place outside of change requests where a draft was written.

    Attributes:
        kind: the kind of place.
        target: the id of the place; for a kind without ids, its key, number or name.
        command: the command that continues the draft; empty if opening the place continues it.
    """

    kind: PlaceKind
    target: str
    command: str = ""


class _Kind(NamedTuple):
    """A kind of draft outside of change requests.

    Attributes:
        start: the prefix of the keys.
        within: a text that the keys contain after the prefix.
        label: the description of the drafts.
        place: the kind of place in which the drafts were written.
        command: the command that continues a draft; empty if opening the place continues it, or if there are several.
        target: the position of the id of the place: the `last` word of the key, the last `two` words, the `rest` after
            the prefix, or `about` for the details stored with the draft.
    """

    start: str
    within: str
    label: str
    place: PlaceKind
    command: str = ""
    target: Literal["last", "two", "rest", "about"] = "last"


_OTHERS = (
    _Kind("inbox comment", "", "comment on marked change requests", "inbox", "act_on_marked"),
    _Kind("inbox approval", "", "approval of marked change requests", "inbox", "act_on_marked"),
    _Kind("inbox request changes", "", "request for changes to marked change requests", "inbox", "act_on_marked"),
    _Kind("outbox ", "", "edit of an unsent change", "change"),
    _Kind("form ", "", "form", "form", target="rest"),
    _Kind(FILE_OF, "", "path of a file to fill in a form", "form", target="rest"),
    _Kind("settings ", "", "form", "settings", target="rest"),
    _Kind("export ", "", "name of a file to export to", "family", "export_rows", "rest"),
    _Kind("import ", "", "path of a file to import", "family", "import_rows", "rest"),
    _Kind("subject ", "", "subject of a new change request", "space", "new_request"),
    _Kind("new page from ", "", "title of a new page", "draft", target="rest"),
    _Kind("folder of space ", "", "folder of a space", "space", "folder"),
    _Kind("new site ", "", "title of a new site", "sites", "add"),
    _Kind("new space ", "", "title of a new space", "item", "add"),
    _Kind("new collection ", "", "title of a new collection", "item", "add"),
    _Kind("title space ", "", "title of a space", "item", "rename", "two"),
    _Kind("title collection ", "", "title of a collection", "item", "rename", "two"),
    _Kind("emoji space ", "", "emoji of a space", "item", "rename", "two"),
    _Kind("description collection ", "", "description of a collection", "item", "rename", "two"),
    _Kind("replace subject ", "", "subject of a replacement", "space", "find_replace"),
    _Kind("replace file ", "", "path of a file that replaces another", "files", target="about"),
    _Kind("replace ", "", "find and replace", "space", "find_replace"),
    _Kind(INSTRUCTIONS, "", "AI instructions", "instructions", "edit", "rest"),
    _Kind("upload ", "", "file to upload", "files"),
    _Kind("save ", "", "name of a file to save", "files", target="about"),
    _Kind("customization ", " of site ", "customization of a site", "customization"),
    _Kind("visitor schema of site ", "", "visitor schema", "adaptive"),
    _Kind("claim ", " of site ", "claim of a visitor schema", "adaptive"),
    _Kind("claims of audience ", " of site ", "claims of an audience", "adaptive"),
    _Kind("audience ", " of site ", "audience", "adaptive"),
    _Kind("share link of site ", "", "name of a share link", "share links", "add"),
    _Kind("share link ", "", "name of a share link", "share links", target="about"),
    _Kind("sign-in ", " of site ", "URL of visitor sign-in", "sign-in"),
    _Kind("redirect of site ", "", "redirect", "access", "add"),
    _Kind("redirect ", "", "redirect", "access", target="about"),
    _Kind("", " redirects ", "file of redirects", "access"),
    _Kind("title of a new ", " in site ", "title of a new section or group", "structure", "add"),
    _Kind("", " in site ", "detail of a section, group or space", "structure"),
    _Kind("", " of site ", "detail of a site", "site", "rename"),
)
"""The kinds of drafts outside of change requests. The first kind that matches a key is used."""


@dataclass(frozen=True)
class Draft:
    """A stored draft, with the parts of its key.

    Attributes:
        stored: the key, the text and the details of the draft.
        request: the id of the change request; empty if the draft does not belong to a change request.
        name: the name of the draft in its change request or on live content, without ids, such as `reply`; empty for
            other drafts.
        target: the id of the page, comment or outbox row; empty if there is none. For a comment on a place in a page,
            a digest of the place follows the id.
        is_live: whether the draft is a comment on live content, outside of change requests.
    """

    stored: StoredDraft
    request: str = ""
    name: str = ""
    target: str = ""
    is_live: bool = False

    @property
    def text(self) -> str:
        """The text of the draft."""
        return self.stored.text

    @property
    def space(self) -> str:
        """The id of the space; empty if unknown."""
        return self.stored.about.get("space", "")

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name the change request in a call; empty if the request or its space is unknown."""
        return {"space_id": self.space, "change_request_id": self.request} if self.space and self.request else {}

    @property
    def is_page(self) -> bool:
        """Whether the draft is the text of a page."""
        return self.name == PAGE

    @property
    def page_title(self) -> str:
        """The stored title of the page; empty if there is none."""
        return self.stored.about.get("page", "")

    @property
    def label(self) -> str:
        """A description of the draft, such as `comment on Quickstart`, or the title of the page; untrusted text."""
        title = self.page_title
        if self.is_page:
            return title or "page without a title"
        if self.name == "page":
            quoted = self.stored.about.get("quote", "")
            return f"comment on {title or 'a page'}" + (f": “{quoted}”" if quoted else "")
        if self.request and self.target and self.name not in _OF_REQUEST:
            return f"{self.name} of {title or 'a page'}"
        if self.request or self.is_live:
            label = (_OF_LIVE if self.is_live else _OF_REQUEST).get(self.name, "text")
            author, by = self.stored.about.get("author"), "by" if self.name == "message" else "to"
            return f"{label} {by} {author}" if author else label
        known = self._other
        label = known[0] if known else "unsent text"
        about = self.stored.about.get("title", "")
        return f"{label}: {about}" if about and label != about else label

    @property
    def place(self) -> DraftPlace | None:
        """The place outside of change requests where the draft was written.

        None for a draft in a change request, or if the place is unknown.
        """
        known = None if self.request else self._other
        return known[1] if known and known[1].target else None

    @property
    def _other(self) -> tuple[str, DraftPlace] | None:
        """The description and the place of a draft outside of change requests; None if its kind is unknown."""
        key, about = self.stored.key, self.stored.about
        kind = next((kind for kind in _OTHERS if key.startswith(kind.start) and kind.within in key), None)
        if kind is None:
            return None
        words = key.split(" ")
        targets = {
            "last": words[-1],
            "two": " ".join(words[-2:]),
            "rest": key.removeprefix(kind.start),
            "about": about.get("site") or about.get("space", ""),
        }
        return kind.label, DraftPlace(kind.place, targets[kind.target], kind.command)

    @property
    def fields(self) -> dict[str, str]:
        """The typed texts of a form by field name; empty if the draft is not a form."""
        try:
            texts: Any = json.loads(self.text) if self.text.startswith("{") else None
        except ValueError:
            return {}
        is_form = isinstance(texts, dict) and self._other is not None
        typed = cast("dict[str, Any]", texts) if is_form else {}
        return typed if all(isinstance(text, str) for text in typed.values()) else {}

    @property
    def readable(self) -> str:
        """The text of the draft; for a form, a line for each field."""
        fields = self.fields
        return "\n".join(f"{name.replace('_', ' ')}: {text}" for name, text in fields.items()) or self.text

    @property
    def stored_keys(self) -> tuple[str, ...]:
        """The keys of all stored rows of the draft: its own key, then the key of the text before the edit, if any."""
        key, schema = self.stored.key, "visitor schema of site "
        if key.startswith(INSTRUCTIONS):
            return key, f"{INSTRUCTIONS}{BASE} {key.removeprefix(INSTRUCTIONS)}"
        if self.is_page:
            return key, draft_key(self.request, f"{BASE} {self.target}")
        return (key, SCHEMA_BASE + key.removeprefix(schema)) if key.startswith(schema) else (key,)

    def keys_in(self, request: str) -> dict[str, str]:
        """Map each key of the draft to its key in another change request.

        For a draft of a page, this includes the key of the page text before the edit.
        """
        if not self.is_page:
            own = self.stored.key.removeprefix(draft_key(self.request, ""))
            return {self.stored.key: draft_key(request, own)}
        names = [f"{name} {self.target}" for name in (PAGE, BASE)]
        return {draft_key(self.request, name): draft_key(request, name) for name in names}


def drafts(stored: tuple[StoredDraft, ...]) -> tuple[Draft, ...]:
    """Return all drafts of a profile, in stored order. The stored texts from before an edit are left out."""
    found = (_draft(each) for each in stored)
    return tuple(draft for draft in found if draft.name != BASE and not draft.stored.key.startswith(SCHEMA_BASE))


def _draft(stored: StoredDraft) -> Draft:
    if stored.key.startswith(f"{INSTRUCTIONS}{BASE} "):
        return Draft(stored, name=BASE)
    start, _, rest = stored.key.partition(" ")
    request, _, name = rest.partition(" ")
    if start == LIVE_DRAFT:
        name, _, target = name.partition(" ")
        return Draft(stored, "", name, target, is_live=True)
    if start != "review" or not request:
        return Draft(stored)
    if name in _OF_REQUEST:
        return Draft(stored, request, name)
    name, _, target = name.partition(" ")
    return Draft(stored, request, name, target)


def draft_about(engine: StoredReader, path: Mapping[str, Any], **details: str) -> dict[str, str]:
    """Return the details to store with a draft in a change request: ids, and titles if they are cached."""
    about = {"space": str(path["space_id"]), **details}
    space = engine.known(GetSpace(space_id=path["space_id"]))
    if space and space.value:
        about["space_title"] = space.value.title
    request = engine.known(GetChangeRequest(**path))
    if request and request.value:
        about["subject"], about["number"] = request.value.subject, str(request.value.number)
    return {name: value for name, value in about.items() if value}


def comment_name(page_id: str, place: str = "", number: int = 0) -> str:
    """Return the name of a draft of a comment on a page, or on a place in the page.

    Args:
        page_id: the id of the page.
        place: the quoted text, or the block or cell if nothing is quoted; empty for the whole page.
        number: the number of lines above with the same text.
    """
    if not place:
        return f"page {page_id}"
    digest = blake2s(place.encode(), digest_size=6).hexdigest()
    return f"page {page_id} {digest}{f'.{number}' if number else ''}"


def live_draft_key(space_id: str, name: str) -> str:
    """Return the key of a draft of a comment on live content. All screens use the same key."""
    return f"{LIVE_DRAFT} {space_id} {name}"


def live_draft_about(space_id: str, title: str, **details: str) -> dict[str, str]:
    """Return the details to store with a draft of a comment on live content."""
    about = {"space": space_id, "space_title": title, **details}
    return {name: value for name, value in about.items() if value}


def fate_of(draft: Draft, status: str | None, pages: frozenset[str] | None) -> Fate:
    """Return why a draft cannot be continued, or an empty string if it can.

    Args:
        draft: the draft.
        status: the status of the change request; `missing` if it does not exist, None if unknown.
        pages: the ids of the pages of the change request; None if unknown.
    """
    if status == "missing":
        return "missing"
    if status == "merged":
        return "merged"
    if status == "archived":
        return "archived"
    return "page deleted" if draft.is_page and pages is not None and draft.target not in pages else ""


async def read_fate(reader: Reader, draft: Draft) -> Fate:
    """Read from the service why a draft in a change request cannot be continued; empty if it can.

    Raises:
        PresscheckError: the state cannot be read.
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
    """Return the ids of all pages of a change request.

    Raises:
        PresscheckError: the pages cannot be read.
    """
    return frozenset(page.id for page in flatten((await reader.read(ListChangeRequestPages(**path))).pages))


def text_of(call: Any) -> str:
    """Return the typed text of a write; empty if it has none."""
    body = getattr(call, "body", None) or getattr(call, "comment", None)
    return (body.markdown or "") if body else ""


def message_id(call: Any) -> str:
    """Return the id of the comment or reply that a write changes."""
    return getattr(call, "comment_reply_id", call.comment_id)
