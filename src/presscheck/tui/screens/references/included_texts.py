"""The texts of the reusable content that a page includes, directly or inside other reusable content."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.content import ContentDocument, GetDocument, GetReusableContent, ReusableContent
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.unknown_types import with_known_types
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.terminal.references import Included
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.engine.results import Result
    from presscheck.tui.ui.screen import BaseScreen

MOST_READ = 50
"""Maximum number of pieces of reusable content that are followed from a page."""
MOST_KEPT = 500
"""Maximum number of texts that are kept, to show them at once on the next page."""
LOADING, NOT_CACHED = "Loading …", "Its text is not in the cache, and you are offline."
NO_TEXT = "The service does not tell which document has its text."
INVALID = "Its text cannot be read: the document of the service is not valid."
_included = re.compile(r"\{%-?\s*+include\s++[\"']([^\"'\n]{1,500}+)[\"']", re.IGNORECASE).finditer
_in_space = re.compile(r"/~/spaces/([\w-]+)/~/reusable/([\w-]+)").fullmatch


class Piece(NamedTuple):
    """A piece of reusable content, and the id of its space."""

    space: str
    content: ReusableContent


Find = Callable[[str], Piece | None]
"""Returns the reusable content of this space at an address, or None."""


class IncludedTexts:
    """The texts of the reusable content that a page includes, at any depth.

    Documents never change, so each text is read only once.

    Args:
        screen: subscribes to the calls.
        on_change: called when a text or piece was read, or could not be read.
    """

    def __init__(self, screen: BaseScreen, on_change: Callable[[], None]) -> None:
        self._screen, self._on_change = screen, on_change
        self._texts: dict[tuple[str, str], str] = {}
        """Texts by the ids of space and document."""
        self._pieces: dict[tuple[str, str], ReusableContent] = {}
        """Reusable content of other spaces, by the ids of space and content."""
        self._problems: dict[tuple[str, str], str] = {}
        """Reasons why texts or pieces could not be read, by the ids of the space and of the document or piece."""
        self._watched: frozenset[tuple[str, str]] = frozenset()

    def load(self, markdown: str, find: Find) -> None:
        """Read the texts that a page includes, at any depth. End subscriptions that only the previous page needed."""
        found = self._unread(markdown, find)
        for key in self._watched - set(found):
            self._screen.unsubscribe(_group(key))
        for key in set(found) - self._watched:
            call = found[key]
            known = self._screen.engine.known(call) if isinstance(call, GetDocument) else None
            if known:
                self._start(key, known.value)
                continue
            take = self._take_text if isinstance(call, GetDocument) else self._take_piece
            answers = self._screen.engine.watch(call)
            self._screen.subscribe(answers, partial(take, key), group=_group(key), shows_errors=False)
        self._watched = frozenset(found)

    def leave(self) -> None:
        """End all subscriptions, because no page is shown."""
        for key in self._watched:
            self._screen.unsubscribe(_group(key))
        self._watched = frozenset()

    def included(self, address: str, find: Find) -> Included | None:
        """Return the reusable content at an address; None if there is none.

        If the text of the content is missing, the result has a note with the reason.
        """
        piece = self._piece(address, find)
        if isinstance(piece, tuple) and not isinstance(piece, Piece):
            return Included("", note=self._why(piece))
        if piece is None:
            return None
        title, document = piece.content.title, piece.content.document
        if not document:
            return Included(title, note=NO_TEXT, key=piece.content.id)
        text = self._texts.get((piece.space, document))
        return Included(
            title, text, key=piece.content.id, note="" if text is not None else self._why((piece.space, document))
        )

    def _piece(self, address: str, find: Find) -> Piece | tuple[str, str] | None:
        """Return the piece at an address or, if it is in another space and not loaded, the ids of space and piece."""
        elsewhere = _in_space(address)
        if not elsewhere:
            return find(address)
        key = elsewhere[1], elsewhere[2]
        known = self._pieces.get(key)
        return Piece(key[0], known) if known else key

    def _unread(self, markdown: str, find: Find) -> dict[tuple[str, str], Any]:
        """Return the calls for missing texts and pieces, by the ids of the space and of the document or piece."""
        calls: dict[tuple[str, str], Any] = {}
        addresses, seen = _addresses(markdown), set[str]()
        while addresses and len(seen) < MOST_READ:
            address = addresses.pop(0)
            if address in seen:
                continue
            seen.add(address)
            piece = self._piece(address, find)
            if isinstance(piece, Piece) and piece.content.document:
                key = piece.space, piece.content.document
                if key in self._texts:
                    addresses += _addresses(self._texts[key])
                else:
                    calls[key] = GetDocument(space_id=key[0], document_id=key[1])
            elif piece is not None and not isinstance(piece, Piece):
                calls[piece] = GetReusableContent(space_id=piece[0], reusable_content_id=piece[1])
        return calls

    def _why(self, key: tuple[str, str]) -> str:
        waits = LOADING if self._screen.engine.status.online else NOT_CACHED
        return self._problems.get(key, waits)

    def _take_piece(self, key: tuple[str, str], result: Result[ReusableContent | None]) -> None:
        if result.value is not None:
            self._pieces[key] = result.value
        self._note(key, result)

    def _take_text(self, key: tuple[str, str], result: Result[ContentDocument | None]) -> None:
        if result.value is not None and key not in self._texts:
            self._start(key, result.value)
        else:
            self._note(key, result)

    def _start(self, key: tuple[str, str], document: ContentDocument) -> None:
        self._screen.run(partial(self._read, key, document), group=f"text {key[1]}", exclusive=True)

    async def _read(self, key: tuple[str, str], document: ContentDocument) -> None:
        text = await asyncio.to_thread(document_markdown, document)
        if text is None:
            self._problems[key] = INVALID
        else:
            self._texts[key] = text
            if len(self._texts) > MOST_KEPT:
                self._texts.pop(next(iter(self._texts)))
        self._on_change()

    def _note(self, key: tuple[str, str], result: Result[Any]) -> None:
        """Store the reason why a text or piece is missing, or clear an earlier reason."""
        self._problems.pop(key, None)
        if result.value is None and result.error:
            is_offline = result.state == "offline"
            self._problems[key] = NOT_CACHED if is_offline else f"Not shown: {sanitize(result.error.message)}"
        self._on_change()


def _addresses(markdown: str) -> list[str]:
    return [match[1] for match in _included(markdown)] if "include" in markdown else []


def _group(key: tuple[str, str]) -> str:
    return f"included {key[0]} {key[1]}"


def document_markdown(document: ContentDocument) -> str | None:
    """Return the Markdown of a document for rendering; None if the document is invalid."""
    tree = {"object": "document", "data": document.data, "nodes": list(document.nodes)}
    try:
        return nodes_to_markdown(with_known_types(tree))
    except InvalidNode:
        return None
