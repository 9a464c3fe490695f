"""The sample workspace: a small company at work, good enough for a screenshot.

Pages are written down; everything else is what people did to them, said by each in the calls of the api, each at its
time. So the sample can hold nothing that the service would not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy.orm import Session

from presscheck.api import change_requests as requests
from presscheck.api import comments, sites
from presscheck.api.changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.comments import Document
from presscheck.api.operation import Operation
from presscheck.service.content import add_document, add_revision, document_texts, new_page
from presscheck.service.content_tables import ChangeRequestRow, RevisionRow
from presscheck.service.handlers import all_handlers
from presscheck.service.handling import Context
from presscheck.service.identity import Clock, moment_text
from presscheck.service.page_lookup import Page, walk
from presscheck.service.tables import CollectionRow, MemberRow, OrganizationRow, SpaceRow, UserRow

AGE = timedelta(days=120)
"""How long ago the company began."""


def plant(session: Session, clock: Clock) -> None:
    """Put the sample workspace into an empty database; its owner is the first admin."""
    Plant(session, clock).all()


@dataclass
class Plant:
    """One planting: the transaction, and the moment that is now."""

    session: Session
    clock: Clock

    def all(self) -> None:
        """People, then pages, then what was done to them."""
        described = _read("people.yaml")
        self._people(described)
        pages = _read("pages.yaml")
        for position, space in enumerate(described["spaces"]):
            self._space(space, position, pages[space["id"]])
        self.session.flush()
        for change in _read("changes.yaml"):
            self._change(change)
        for site in described["sites"]:
            self._site(site)

    def _site(self, site: dict[str, Any]) -> None:
        made = self._do(
            "robin",
            24 * 60,
            sites.CreateSite(
                organization_id="fernway",
                title=site["title"],
                visibility=site["visibility"],
                spaces=tuple(site["spaces"]),
            ),
        )
        if site["published"]:
            self._do("robin", 24 * 59, sites.PublishSite(organization_id="fernway", site_id=made.id))

    def _people(self, described: dict[str, Any]) -> None:
        began = moment_text(self.clock() - AGE)
        self.session.add(OrganizationRow(id="fernway", title=described["organization"], created_at=began))
        for number, person in enumerate(described["people"]):
            joined = moment_text(self.clock() - AGE + timedelta(hours=number))
            email = f"{person['id']}@fernway.example"
            self.session.add(UserRow(id=person["id"], display_name=person["name"], email=email, created_at=joined))
            self.session.add(
                MemberRow(organization_id="fernway", user_id=person["id"], role=person["role"], joined_at=joined)
            )
        for position, one in enumerate(described["collections"]):
            self.session.add(
                CollectionRow(
                    id=one["id"],
                    organization_id="fernway",
                    parent_id=one.get("parent"),
                    position=position,
                    title=one["title"],
                    created_at=began,
                )
            )

    def _space(self, space: dict[str, Any], position: int, pages: list[dict[str, Any]]) -> None:
        began = moment_text(self.clock() - AGE)
        revision = add_revision(
            self.session, space["id"], self._tree(pages, began), created_at=began, created_by="robin"
        )
        self.session.add(
            SpaceRow(
                id=space["id"],
                organization_id="fernway",
                parent_id=space["parent"],
                position=position,
                title=space["title"],
                emoji=space["emoji"],
                created_by="robin",
                created_at=began,
                updated_at=began,
                revision_id=revision.id,
            )
        )

    def _tree(self, pages: list[dict[str, Any]], began: str) -> list[Page]:
        tree: list[Page] = []
        by_slug: dict[str, Page] = {}
        for page in pages:
            made = new_page(
                page["title"],
                slug=page["slug"],
                document=add_document(self.session, page["text"]),
                created_at=began,
                kind="document",
            )
            by_slug[page["slug"]] = made
            (by_slug[page["in"]]["pages"] if "in" in page else tree).append(made)
        return tree

    def _do(self, person: str, hours: float, call: Operation[Any]) -> Any:
        """Somebody says a call, at a time."""
        moment = self.clock() - timedelta(hours=hours)
        user = self.session.get_one(UserRow, person)
        answer = all_handlers()[type(call)](Context(self.session, user, "", lambda: moment, Path()), call)
        self.session.flush()
        return answer

    def _change(self, change: dict[str, Any]) -> None:
        space, author, hours = change["space"], change.get("as", change["by"]), change["hours"]
        request = self._do(author, hours, requests.CreateChangeRequest(space_id=space, subject=change["subject"]))
        place: dict[str, Any] = {"space_id": space, "change_request_id": request.id}
        for edit in self._edits(request.id, change["edits"]):
            self._do(author, hours, EditChangeRequestContent(**place, changes=(edit,)))
        if change["status"] != "draft":
            self._do(author, hours, requests.UpdateChangeRequest(**place, status="open"))
        if change.get("ask"):
            self._do(author, hours, requests.RequestReviewers(**place, users=tuple(change["ask"])))
        self._talk(place, change)
        if change["status"] == "archived":
            self._do(author, hours, requests.UpdateChangeRequest(**place, status="archived"))
        if change["status"] == "merged":
            self._do("robin", hours, requests.MergeChangeRequest(**place))

    def _talk(self, place: dict[str, Any], change: dict[str, Any]) -> None:
        events = [(one["hours"], "say", one) for one in change.get("say", ())]
        events += [(one["hours"], "review", one) for one in change.get("reviews", ())]
        for hours, kind, one in sorted(events, key=lambda event: -event[0]):
            if kind == "review":
                self._do(one["by"], hours, requests.SubmitReview(**place, status=one["as"]))
            else:
                self._say(place, one)

    def _say(self, place: dict[str, Any], one: dict[str, Any]) -> None:
        page = self._page_id(place["change_request_id"], one["page"]) if "page" in one else None
        given: dict[str, Any] = {"page": page} if page else {}
        posted = self._do(
            one["by"], one["hours"], comments.PostComment(**place, body=Document(markdown=one["text"]), **given)
        )
        for reply in one.get("replies", ()):
            body = Document(markdown=reply["text"])
            self._do(reply["by"], reply["hours"], comments.PostReply(**place, comment_id=posted.id, body=body))
        for emoji, people in one.get("react", {}).items():
            for person in people:
                update = comments.UpdateComment(**place, comment_id=posted.id, added_reactions=(emoji,))
                self._do(person, one["hours"], update)
        if one.get("resolved"):
            self._do(one["by"], one["hours"], comments.UpdateComment(**place, comment_id=posted.id, resolved=True))

    def _edits(self, request: str, edits: list[dict[str, Any]]) -> Iterator[InsertPage | UpdatePage | DeletePage]:
        for edit in edits:
            if "new" in edit:
                into: dict[str, Any] = {"into": self._page_id(request, edit["in"])} if "in" in edit else {}
                yield InsertPage(title=edit["new"], document=Document(markdown=edit["text"]), **into)
                continue
            page = self._page(request, edit["page"])
            if edit.get("drop"):
                yield DeletePage(page=page["id"])
            elif "title" in edit:
                yield UpdatePage(page=page["id"], title=edit["title"])
            else:
                text = document_texts(self.session, [page["documentId"]])[page["documentId"]]
                new = text.replace(*edit["swap"]) if "swap" in edit else f"{text.rstrip()}\n\n{edit['add']}\n"
                yield UpdatePage(page=page["id"], document=Document(markdown=new))

    def _page(self, request: str, slug: str) -> Page:
        row = self.session.get_one(ChangeRequestRow, request)
        tree = self.session.get_one(RevisionRow, row.revision).tree
        return next(place.page for place in walk(tree) if place.page.get("slug") == slug)

    def _page_id(self, request: str, slug: str) -> str:
        return self._page(request, slug)["id"]


def _read(name: str) -> Any:
    return yaml.safe_load(files("presscheck.service.sample").joinpath(name).read_text("utf-8"))
