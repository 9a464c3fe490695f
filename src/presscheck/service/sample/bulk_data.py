"""Many change requests for benchmarks, as rows written in bulk instead of API calls."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import Page
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.ids import Clock, counted_ids, moment_text, new_id, system_clock
from presscheck.service.models.content import (
    ChangeRequestRow,
    CommentRow,
    ContributorRow,
    RequestedReviewerRow,
    ReviewRow,
)
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.table import Table

AT_ONCE = 1000
PAGES, BRANCHES = 12, 20
"""Number of pages in the space, and number of distinct revisions that the change requests share."""
SUBJECTS = ("Explain", "Shorten", "Rename", "Move", "Correct", "Translate", "Illustrate")
THINGS = ("tokens", "labels", "returns", "customs", "routes", "addresses", "limits", "events")


def plant_many(session: Session, count: int, clock: Clock = system_clock) -> str:
    """Create an organization with one space and many open change requests that request a review from the owner.

    The owner is the first existing admin, or a new user.

    Returns:
        The id of the space.
    """
    with counted_ids():
        return _Many(session, count, clock).all()


class _Many:
    """Creates the rows. The prefix of their ids prevents conflicts with the sample."""

    def __init__(self, session: Session, count: int, clock: Clock) -> None:
        self.session = session
        self.count = count
        self.present = clock()
        self.owner = self._first_admin() or self._person("many-owner", "Owner")
        self.others = [self._person(f"many-{number}", f"Writer {number}") for number in range(5)]

    def all(self) -> str:
        """Write everything and return the id of the space."""
        self._organization()
        live, branches = self._revisions()
        began = self._ago(10 * self.count)
        self.session.add(
            SpaceRow(
                id="many-space",
                organization_id="many",
                title=f"{self.count:,} change requests",
                revision_id=live,
                numbered=self.count,
                created_by=self.owner,
                created_at=began,
                updated_at=began,
            )
        )
        self.session.flush()
        numbers = range(1, self.count + 1)
        self._write(ChangeRequestRow, (self._request(number, live, branches) for number in numbers))
        self._write(RequestedReviewerRow, (self._requested_reviewer(number, branches) for number in numbers))
        self._write(ContributorRow, (self._contributor(number) for number in numbers))
        self._write(ReviewRow, (self._review(number, branches) for number in numbers if number % 3 == 0))
        self._write(CommentRow, (self._comment(number, branches) for number in numbers if number % 4 == 0))
        return "many-space"

    def _organization(self) -> None:
        began = self._ago(20 * self.count)
        self.session.add(OrganizationRow(id="many", title="Many", created_at=began))
        for person in (self.owner, *self.others):
            role = "admin" if person == self.owner else "edit"
            self.session.add(MemberRow(organization_id="many", user_id=person, role=role, joined_at=began))

    def _revisions(self) -> tuple[str, list[str]]:
        """Add the live revision and the revisions that the change requests share."""
        began = self._ago(20 * self.count)
        live = self._revision(self._tree(None), began, [])
        return live, [self._revision(self._tree(number), began, [live]) for number in range(BRANCHES)]

    def _revision(self, tree: list[Page], began: str, parents: list[str]) -> str:
        return add_revision(
            self.session,
            "many-space",
            tree,
            created_at=began,
            created_by=self.owner,
            parents=parents,
            revision_id=f"many-{new_id()}",
        )

    def _tree(self, edited: int | None) -> list[Page]:
        return [
            new_page(
                f"Page {number}",
                slug=f"page-{number}",
                page_id=f"many-page-{number}",
                document=add_document(self.session, self._text(number, edited)),
            )
            for number in range(PAGES)
        ]

    def _text(self, number: int, edited: int | None) -> str:
        lines = [f"Sentence {line} of page {number}." for line in range(30)]
        if edited is not None and edited % PAGES == number:
            lines[edited] = f"Sentence {edited}, edited."
        return "\n\n".join(lines) + "\n"

    def _request(self, number: int, live: str, branches: list[str]) -> dict[str, Any]:
        subject = f"{SUBJECTS[number % len(SUBJECTS)]} {THINGS[number % len(THINGS)]}, part {number}"
        return {
            "id": f"many-{number:07}",
            "space_id": "many-space",
            "number": number,
            "status": "open",
            "subject": subject,
            "created_by": self._author(number),
            "created_at": self._moment(number),
            "updated_at": self._moment(number),
            "revision": branches[number % BRANCHES],
            "revision_initial": live,
        }

    def _requested_reviewer(self, number: int, branches: list[str]) -> dict[str, Any]:
        return self._in_change_request(number) | {
            "user_id": self.owner,
            "requested_by": self._author(number),
            "revision": branches[number % BRANCHES],
            "created_at": self._moment(number),
        }

    def _contributor(self, number: int) -> dict[str, Any]:
        return self._in_change_request(number) | {
            "user_id": self._author(number),
            "action": "edit",
            "count": 1,
            "updated_at": self._moment(number),
        }

    def _review(self, number: int, branches: list[str]) -> dict[str, Any]:
        return self._in_change_request(number) | {
            "id": f"many-review-{number:07}",
            "reviewer": self._author(number + 1),
            "revision": branches[number % BRANCHES],
            "status": "approved" if number % 2 else "changes-requested",
            "outdated": False,
            "created_at": self._moment(number),
        }

    def _comment(self, number: int, branches: list[str]) -> dict[str, Any]:
        return self._in_change_request(number) | {
            "id": f"many-comment-{number:07}",
            "space_id": "many-space",
            "revision": branches[number % BRANCHES],
            "body": {"markdown": f"What about sentence {number % 30}?"},
            "posted_by": self._author(number + 2),
            "posted_at": self._moment(number),
        }

    def _in_change_request(self, number: int) -> dict[str, Any]:
        return {"change_request_id": f"many-{number:07}"}

    def _author(self, number: int) -> str:
        return self.others[number % len(self.others)]

    def _moment(self, number: int) -> str:
        return self._ago(10 * (self.count - number))

    def _ago(self, minutes: int) -> str:
        return moment_text(self.present - timedelta(minutes=minutes))

    def _write(self, table: type[Table], rows: Iterator[dict[str, Any]]) -> None:
        while part := list(islice(rows, AT_ONCE)):
            self.session.execute(insert(table), part)

    def _first_admin(self) -> str | None:
        admins = select(UserRow.id).join(MemberRow, MemberRow.user_id == UserRow.id).where(MemberRow.role == "admin")
        return self.session.scalars(admins.order_by(UserRow.created_at, UserRow.id)).first()

    def _person(self, user_id: str, name: str) -> str:
        self.session.add(UserRow(id=user_id, display_name=name, created_at=self._ago(20 * self.count)))
        return user_id
