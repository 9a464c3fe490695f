"""The owners of the changed pages, for the choice of reviewers and for the merge requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from presscheck.config.owners_file import OwnersFile
from presscheck.engine.members import Person, people_in
from presscheck.engine.review.merge_readiness import join_names
from presscheck.engine.review.owners import (
    NOT_REVIEWED,
    OwnerReview,
    PageOwner,
    find_owners,
    named_owners,
    owned_pages,
    owner_review,
    shares_by_user,
)
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.ui.screen import BaseScreen

REVIEW_WORDS: dict[OwnerReview, str] = {
    "": "no review",
    "asked": "review requested",
    "stale": "approved an older revision",
    "approved": "approved",
    "changes-requested": "requested changes",
    "author": "the author",
}
"""Descriptions of an owner's review."""


class PageOwners:
    """The owners of the changed pages, according to the owners file. The file is read again after it changes.

    Args:
        model: the change request.
        screen: the screen that shows errors in the file.
    """

    def __init__(self, model: ReviewModel, screen: BaseScreen) -> None:
        self._model, self._screen = model, screen
        self._reported: tuple[str, ...] = ()
        self.owners: tuple[PageOwner, ...] = ()
        """The owners found by the last `load`, ordered by number of owned pages, highest first."""

    async def load(self, space: Space, people: Iterable[Person] | None = None) -> tuple[PageOwner, ...]:
        """Find the owners of the changed pages, and report the first error in the owners file once.

        Args:
            space: the space of the change request.
            people: the users who can be owners; by default, they are read if the file names owners.
        """
        owners = self._file.read()
        errors = tuple(str(error) for error in owners.errors)
        if errors and errors != self._reported:
            self._screen.notify(sanitize(f"owners: {errors[0]}"))
        self._reported = errors
        counted = named_owners(owned_pages(owners, space, self._model.all_items))
        if counted:
            engine, organization = self._screen.engine, space.organization or ""
            if people is None:
                try:
                    people = await people_in(engine, organization, self._model.people())
                except PresscheckError:  # such as offline: owners are shown with their names in the file
                    people = [Person(user, "") for user in self._model.people() if user]
            counted = await find_owners(engine, organization, counted, people)
        self.owners = counted
        return counted

    async def choices(self, space: Space, people: Sequence[Person]) -> list[Choice]:
        """Return the choices of reviewers: owners of changed pages first, with their share of the pages."""
        shares = shares_by_user(await self.load(space, people))
        order = {user_id: number for number, user_id in enumerate(shares)}
        ordered = sorted(people, key=lambda person: order.get(person.user.id, len(order)))
        choices: list[Choice] = []
        for person in ordered:
            role = f"role {person.role}" if person.role else ""
            details = " · ".join(filter(None, (sanitize(shares.get(person.user.id, "")), role)))
            choices.append(Choice(person.user.id, sanitize(person.user.display_name), details))
        return choices

    def missing(self) -> Iterator[tuple[PageOwner, OwnerReview]]:
        """Yield the owners who have not reviewed the newest revision, each with the state of the review."""
        request = self._model.request
        author = request.created_by.id if request and request.created_by else None
        for owner in self.owners:
            review = owner_review(owner, self._model.reviewers() or (), author)
            if review in NOT_REVIEWED:
                yield owner, review

    @cached_property
    def _file(self) -> OwnersFile:
        app = self._screen.app_context
        return OwnersFile(app.settings_file, app.profile.owners)


def missing_text(owners: Sequence[PageOwner]) -> str:
    """Return a sentence that names the owners who have not reviewed, or states that all have reviewed."""
    names = join_names([sanitize(owner.title) for owner in owners])
    if not names:
        return "all owners of the changed pages reviewed"
    return f"{names} {'has' if len(owners) == 1 else 'have'} not reviewed; not required to merge"
