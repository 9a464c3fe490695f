"""A small data set in a running service: one organization, a user for every role, one space with pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import ContentUpdate, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token, moment_text, new_id, system_clock
from presscheck.service.models.organizations import MemberRow, OrganizationRow, TokenRow, UserRow
from presscheck.service.models.spaces import SpaceRow

ROLES = ("admin", "create", "edit", "review", "comment", "read")
PAGES = (("Start", "Welcome.\n"), ("Guide", "First.\n\nSecond.\n\nThird.\n"), ("Reference", "All of it.\n"))


@dataclass
class World:
    """Ids of the data set; `users`, `tokens` and `clients` are by role."""

    database_url: str
    base_url: str
    organization: str
    space: str
    users: dict[str, str]
    tokens: dict[str, str]
    clients: dict[str, Client]

    @property
    def admin(self) -> Client:
        return self.clients["admin"]

    async def draft(self, subject: str = "Better", by: str = "admin") -> ChangeRequest:
        return await self.clients[by].send(CreateChangeRequest(space_id=self.space, subject=subject))

    async def edit(self, change_request: ChangeRequest, *changes: Any, by: str = "admin") -> ContentUpdate:
        call = EditChangeRequestContent(
            space_id=self.space, change_request_id=change_request.id, changes=changes, compat=False
        )
        return await self.clients[by].send(call)

    def change(self, **values: Any) -> None:
        """Set columns of the space."""
        self._change(SpaceRow, self.space, values)

    def change_organization(self, **values: Any) -> None:
        """Set columns of the organization."""
        self._change(OrganizationRow, self.organization, values)

    def _change(self, table: type[Any], key: str, values: dict[str, Any]) -> None:
        database = Database(self.database_url)
        with database.writing.begin() as session:
            row = session.get_one(table, key)
            for name, value in values.items():
                setattr(row, name, value)
        database.close()


def insert(title: str, text: str = "Text.\n", **details: Any) -> InsertPage:
    return InsertPage(document=Document(markdown=f"# {title}\n\n{text}"), **details)


def rewrite(page: str, text: str, **details: Any) -> UpdatePage:
    return UpdatePage(page=page, document=Document(markdown=text), **details)


def plant_world(database_url: str, base_url: str, pages: Sequence[tuple[str, str]] = PAGES) -> World:
    database = Database(database_url)
    with database.writing.begin() as session:
        organization, space, users, tokens = _plant(session, pages)
    database.close()
    clients = {role: Client(base_url, token) for role, token in tokens.items()}
    return World(database_url, base_url, organization, space, users, tokens, clients)


def _plant(session: Session, pages: Sequence[tuple[str, str]]) -> tuple[str, str, dict[str, str], dict[str, str]]:
    now = moment_text(system_clock())
    organization = OrganizationRow(id=new_id(), title="Acme", created_at=now)
    session.add(organization)
    users: dict[str, str] = {}
    tokens: dict[str, str] = {}
    for role in (*ROLES, "guest"):
        user = UserRow(id=new_id(), display_name=role.title(), email=f"{role}@example.org", created_at=now)
        member = MemberRow(
            organization_id=organization.id, user_id=user.id, role=None if role == "guest" else role, joined_at=now
        )
        token = tokens[role] = new_id()
        session.add_all((user, member, TokenRow(sha256=hash_token(token), user_id=user.id, created_at=now)))
        users[role] = user.id
    space_id = new_id()
    tree = [
        new_page(title, slug=title.lower(), document=add_document(session, text), page_id=title.lower())
        for title, text in pages
    ]
    revision = add_revision(session, space_id, tree, created_at=now, created_by=users["admin"])
    session.add(
        SpaceRow(
            id=space_id,
            organization_id=organization.id,
            title="Manual",
            revision_id=revision,
            created_at=now,
            updated_at=now,
        )
    )
    return organization.id, space_id, users, tokens
