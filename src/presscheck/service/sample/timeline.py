"""The history of the sample: change requests step by step, and comments on live pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from presscheck.api import change_requests as requests
from presscheck.api import comments
from presscheck.api.comments import Document
from presscheck.api.content_changes import ContentChange, DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.documents.pages.tree import Page, walk
from presscheck.service.content.revisions import document_texts
from presscheck.service.models.content import ChangeRequestRow, RevisionRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sample.builder import Happening, Planting, ago, read


def happenings(planting: Planting) -> Iterator[Happening]:
    """Yield the actions in the history of the sample, in any order."""
    for change in read("changes.yaml"):
        yield from _Work(planting, change).happenings()
    for thread in planting.workspace["said"]:
        yield from _Thread(planting, thread["space"], None, thread, thread["by"]).happenings()


class _Work:
    """The steps of one change request."""

    def __init__(self, planting: Planting, change: dict[str, Any]) -> None:
        self.planting = planting
        self.change = change
        self.place: dict[str, Any] = {"space_id": change["space"]}

    def happenings(self) -> Iterator[Happening]:
        yield Happening(ago(self.change["ago"]), self._begin)
        for step in self.change["steps"]:
            by = step.get("by", self.change["by"])
            past = ago(step["ago"])
            if "say" in step:
                yield from _Thread(
                    self.planting, self.change["space"], self.place, step, self.change["by"]
                ).happenings()
            else:
                yield Happening(past, lambda step=step, by=by, past=past: self._do(step, by, past))

    def _begin(self) -> None:
        call = requests.CreateChangeRequest(space_id=self.change["space"], subject=self.change["subject"])
        created = self.planting.does(self.change["by"], ago(self.change["ago"]), call)
        self.place["change_request_id"] = created.id

    def _do(self, step: dict[str, Any], by: str, past: timedelta) -> None:
        for call in self._calls(step):
            self.planting.does(by, past, call)

    def _calls(self, step: dict[str, Any]) -> Iterator[Any]:
        at = self.place
        if "edit" in step:
            session = self.planting.session
            row = session.get_one(ChangeRequestRow, at["change_request_id"])
            editing = _Editing(session, session.get_one(RevisionRow, row.revision).tree)
            yield EditChangeRequestContent(**at, changes=tuple(editing.changes(step["edit"])))
        if "open" in step:
            yield requests.UpdateChangeRequest(**at, status="open")
        if "ask" in step:
            yield requests.RequestReviewers(**at, users=tuple(step["ask"]))
        if "review" in step:
            text: dict[str, Any] = {"comment": Document(markdown=step["text"])} if "text" in step else {}
            yield requests.SubmitReview(**at, **text, status=step["review"])
        if "archive" in step:
            yield requests.UpdateChangeRequest(**at, status="archived")
        if "update" in step:
            yield requests.PullChangeRequest(**at)
        if "merge" in step:
            yield requests.MergeChangeRequest(**at)


class _Thread:
    """A comment with its replies and reactions. `place` identifies its change request; None for a live page."""

    def __init__(
        self, planting: Planting, space: str, place: dict[str, Any] | None, thread: dict[str, Any], author: str
    ) -> None:
        self.planting = planting
        self.space = space
        self.place = place
        self.thread = thread
        self.author = author
        self.comment = ""

    def happenings(self) -> Iterator[Happening]:
        by, past = self.thread.get("by", self.author), ago(self.thread["ago"])
        yield Happening(past, lambda: self._post_comment(by, past))
        for reply in self.thread.get("replies", ()):
            yield self._later(
                reply, lambda reply=reply: self._call_on_comment("PostReply", body=Document(markdown=reply["text"]))
            )
        for emoji, people in self.thread.get("react", {}).items():
            for person in people:
                reaction = {"by": person, "ago": self.thread["ago"]}
                yield self._later(
                    reaction, lambda emoji=emoji: self._call_on_comment("UpdateComment", added_reactions=(emoji,))
                )
        if "resolved" in self.thread:
            yield self._later(self.thread["resolved"], lambda: self._call_on_comment("UpdateComment", resolved=True))

    def _later(self, step: dict[str, Any], call: Callable[[], Any]) -> Happening:
        by, past = step.get("by", self.author), ago(step["ago"])
        return Happening(past, lambda: self.planting.does(by, past, call()))

    def _post_comment(self, by: str, past: timedelta) -> None:
        quote = f"> {self.thread['about']}\n\n" if "about" in self.thread else ""
        page = {"page": self._page(self.thread["page"])["id"]} if "page" in self.thread else {}
        text = self.thread["say"] if self.place else self.thread["text"]
        call = self._operation("PostComment")(**self._at(), body=Document(markdown=quote + text), **page)
        self.comment = self.planting.does(by, past, call).id

    def _call_on_comment(self, name: str, **given: Any) -> Any:
        return self._operation(name)(**self._at(), comment_id=self.comment, **given)

    def _operation(self, name: str) -> Any:
        """Return the operation for a change request, or its counterpart for a live space."""
        if self.place:
            return getattr(comments, name)
        return getattr(comments, name.replace("Post", "PostSpace").replace("Update", "UpdateSpace"))

    def _at(self) -> dict[str, Any]:
        return self.place or {"space_id": self.space}

    def _page(self, slug: str) -> Page:
        session = self.planting.session
        if self.place:
            revision = session.get_one(ChangeRequestRow, self.place["change_request_id"]).revision
        else:
            revision = session.get_one(SpaceRow, self.space).revision_id
        tree = session.get_one(RevisionRow, revision).tree
        return next(node.page for node in walk(tree) if node.page.get("slug") == slug)


class _Editing:
    """A group of edits to a page tree; each edit sees the results of the preceding edits."""

    def __init__(self, session: Session, tree: list[Page]) -> None:
        self.session = session
        self.pages = {place.page["slug"]: place.page for place in walk(tree) if place.page.get("slug")}
        self.texts: dict[str, str] = {}

    def changes(self, edits: list[dict[str, Any]]) -> Iterator[ContentChange]:
        """Yield the content changes of the edits, in order."""
        for edit in edits:
            if "new" in edit:
                place: dict[str, Any] = {"into": self.pages[edit["in"]]["id"]} if "in" in edit else {}
                place |= {"at": edit["at"]} if "at" in edit else {}
                yield InsertPage(title=edit["new"], document=Document(markdown=edit["text"]), **place)
            elif "drop" in edit:
                yield DeletePage(page=self.pages[edit["page"]]["id"])
            else:
                yield UpdatePage(page=self.pages[edit["page"]]["id"], **self._fields(edit))

    def _fields(self, edit: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {"title": edit["title"]} if "title" in edit else {}
        if "swap" in edit or "add" in edit:
            fields["document"] = Document(markdown=self._text(edit))
        if "move" in edit:
            above = edit["move"]["in"]
            fields |= {"into": self.pages[above]["id"] if above else None, "at": edit["move"]["at"]}
        return fields

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
