"""The builder of the sample: creates users, collections and pages, and makes API calls as a user at a past time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from sqlalchemy.orm import Session

from presscheck.api.operation import Operation
from presscheck.documents.git_format.repository import read_repository
from presscheck.service.audit import perform
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.revisions import add_revision
from presscheck.service.db.ids import moment_text
from presscheck.service.git_import.importer import stored_content
from presscheck.service.handlers import all_handlers
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow

HERE = Path(__file__).parent
NO_FILES = StagedFiles(DiskBlobStore(HERE))
"""The store for calls that use no files."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LENGTHS = {"d": "days", "h": "hours", "min": "minutes"}


class Happening(NamedTuple):
    """An action in the sample, and how long ago it happened."""

    ago: timedelta
    act: Callable[[], None]


class Planting:
    """A builder of the sample in one transaction. All times are relative to `present`."""

    def __init__(self, session: Session, present: datetime, files: StagedFiles = NO_FILES) -> None:
        self.session = session
        self.present = present
        self.files = files
        self.workspace: dict[str, Any] = read("workspace.yaml")
        self.organization: str = self.workspace["organization"]["id"]
        self.owner: str = self.workspace["people"][0]["id"]
        self.handlers = all_handlers()

    def begin(self) -> None:
        """Create the organization with its initial content."""
        self._people()
        self._collections()
        for position, space in enumerate(self.workspace["spaces"]):
            self._space(space, position)
        self.session.flush()

    def does(self, person: str, past: timedelta, call: Operation[Any]) -> Any:
        """Run an operation as a user at a time in the past and return its response."""
        moment = self.present - past
        user = self.session.get_one(UserRow, person)
        context = Context(self.session, user, "", lambda: moment, self.files)
        return perform(context, call, self.handlers[type(call)])

    def moment(self, past: timedelta) -> str:
        """Return a time in the past in stored form."""
        return moment_text(self.present - past)

    def _people(self) -> None:
        described = self.workspace["organization"]
        self.session.add(
            OrganizationRow(id=described["id"], title=described["title"], created_at=self.moment(ago(described["ago"])))
        )
        for person in self.workspace["people"]:
            joined = self.moment(ago(person["joined"]))
            email = f"{person['id']}@{self.organization}.example"
            member = MemberRow(
                organization_id=self.organization, user_id=person["id"], role=person["role"], joined_at=joined
            )
            self.session.add(UserRow(id=person["id"], display_name=person["name"], email=email, created_at=joined))
            self.session.add(member)

    def _collections(self) -> None:
        for position, collection in enumerate(self.workspace["collections"]):
            self.session.add(
                CollectionRow(
                    id=collection["id"],
                    organization_id=self.organization,
                    parent_id=collection.get("in"),
                    position=position,
                    title=collection["title"],
                    description=collection["description"],
                    created_at=self._began(),
                )
            )

    def _space(self, space: dict[str, Any], position: int) -> None:
        began, space_id = self._began(), space["id"]
        repository = read_repository(HERE / "pages" / space_id)
        content = stored_content(self.session, repository, began, [], [])
        revision = add_revision(self.session, space_id, content.tree, created_at=began, created_by=self.owner)
        rules = space.get("rules")
        self.session.add(
            SpaceRow(
                id=space_id,
                organization_id=self.organization,
                parent_id=space["in"],
                position=position,
                title=space["title"],
                emoji=space["emoji"],
                merge_rules={"type": "rules", "rules": [{"rule": rule} for rule in rules]} if rules else None,
                created_by=self.owner,
                created_at=began,
                updated_at=began,
                revision_id=revision,
            )
        )

    def _began(self) -> str:
        return self.moment(ago(self.workspace["organization"]["ago"]))


def ago(words: str) -> timedelta:
    """Parse a duration such as ``2d 6h``: days (d), hours (h) and minutes (min)."""
    parts = [re.fullmatch(r"(\d+)(d|h|min)", word) for word in words.split()]
    if not parts or not all(parts):
        raise ValueError(f"{words!r} is not a duration")
    return sum((timedelta(**{_LENGTHS[part[2]]: int(part[1])}) for part in parts if part), timedelta())


def read(name: str) -> Any:
    """Read a YAML file of the sample."""
    return yaml.load((HERE / name).read_text("utf-8"), Loader=_LOADER)  # noqa: S506  # a safe loader, in C if available
