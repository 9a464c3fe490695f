"""Converts the edits of the sample, as written in YAML, to content changes of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy.orm import Session

from presscheck.api.comments import Document
from presscheck.api.content_changes import ContentChange, DeletePage, InsertPage, UpdatePage
from presscheck.documents.pages.tree import Page, walk
from presscheck.service.content.revisions import document_texts


class Editing:
    """One group of edits to a page tree; each edit sees the results of the previous ones."""

    def __init__(self, session: Session, tree: list[Page]) -> None:
        self.session = session
        self.pages = {place.page["slug"]: place.page for place in walk(tree) if place.page.get("slug")}
        self.texts: dict[str, str] = {}

    def changes(self, edits: list[dict[str, Any]]) -> Iterator[ContentChange]:
        """The content changes of the edits, in order."""
        for edit in edits:
            if "new" in edit:
                place: dict[str, Any] = {"into": self.pages[edit["in"]]["id"]} if "in" in edit else {}
                place |= {"at": edit["at"]} if "at" in edit else {}
                yield InsertPage(title=edit["new"], document=Document(markdown=edit["text"]), **place)
            elif "drop" in edit:
                yield DeletePage(page=self.pages[edit["page"]]["id"])
            else:
                yield UpdatePage(page=self.pages[edit["page"]]["id"], **self._given(edit))

    def _given(self, edit: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {"title": edit["title"]} if "title" in edit else {}
        if "swap" in edit or "add" in edit:
            given["document"] = Document(markdown=self._text(edit))
        if "move" in edit:
            above = edit["move"]["in"]
            given |= {"into": self.pages[above]["id"] if above else None, "at": edit["move"]["at"]}
        return given

    def _text(self, edit: dict[str, Any]) -> str:
        slug = edit["page"]
        text = self.texts.get(slug)
        if text is None:
            document = self.pages[slug]["documentId"]
            text = document_texts(self.session, [document])[document]
        if "swap" in edit:
            before, after = edit["swap"]
            if text.count(before) != 1:
                raise ValueError(f"{slug}: expected {before!r} once, found it {text.count(before)} times")
            text = text.replace(before, after)
        if "add" in edit:
            text = f"{text.rstrip()}\n\n{edit['add'].rstrip()}\n"
        self.texts[slug] = text
        return text
