"""The texts of pages before and after, fetched when they are looked at, the next one beforehand, and compared."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from presscheck.desk.asking import NEXT
from presscheck.desk.page_questions import changed_page, page_in
from presscheck.documents.differences import compare
from presscheck.errors import NotFound, PresscheckError
from presscheck.tui.screens.review_changes import Changed, Words
from presscheck.tui.screens.review_page import Page

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.review import Review

LARGE = 20_000
"""Characters from which two texts are compared beside the screen, not before it."""


class Bodies:
    """The pages of one review."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self._pages: dict[tuple[str, str], Page] = {}
        self._wanted: set[tuple[str, str]] = set()

    def page(self, thing: Changed) -> Page:
        """What is known of a page; what is not is fetched, and the page after it too."""
        things = self.review.known.things
        after = things.index(thing) + 1
        for one in (thing, *things[after : after + 1]):
            self._want(one, is_seen=one is thing)
        return self._pages.get(self._key(thing), Page())

    def words(self, thing: Changed) -> Words | None:
        """How many words changed, where both texts are here."""
        found = self._pages.get(self._key(thing))
        return Words(found.difference.added, found.difference.removed) if found and found.difference else None

    def again(self) -> None:
        """Ask again for what could not be had."""
        for key in [key for key, page in self._pages.items() if page.trouble]:
            del self._pages[key]
            self._wanted.discard(key)

    def _key(self, thing: Changed) -> tuple[str, str]:
        request = self.review.known.request
        return (thing.id, f"{request.revision} {request.revision_merged_ancestor}" if request else "")

    def _want(self, thing: Changed, *, is_seen: bool) -> None:
        key = self._key(thing)
        if key in self._wanted or not thing.has_text or self.review.known.request is None:
            return
        self._wanted.add(key)
        before, after = self._questions(thing)
        stored = [self.review.desk.known(one) if one else None for one in (before, after)]
        if is_seen and all(one is None or found for one, found in zip((before, after), stored, strict=True)):
            texts = [found.value.markdown or "" if found else "" for found in stored]
            if sum(map(len, texts)) < LARGE:
                self._pages[key] = Page(compare(*texts), texts[1])
        self.review.run(self._fetch(key, before, after), group=f"body-{thing.id}", exclusive=True)

    def _questions(self, thing: Changed) -> tuple[Operation[Any] | None, Operation[Any] | None]:
        request = self.review.known.request
        if request is None:
            return None, None
        before = after = None
        if "added" not in thing.kinds:
            revision = request.revision_merged_ancestor or request.revision_initial
            before = page_in(request.space, revision, thing.id)
        if "deleted" not in thing.kinds:
            after = changed_page(request.space, request.id, thing.id)
        return before, after

    async def _fetch(self, key: tuple[str, str], before: Operation[Any] | None, after: Operation[Any] | None) -> None:
        try:
            texts = [await self._text(one) for one in (before, after)]
        except PresscheckError as error:
            if key not in self._pages:
                self._pages[key] = Page(trouble=f"{error.message} · ctrl+r asks again")
        else:
            difference = await asyncio.to_thread(compare, *texts)
            self._pages[key] = Page(difference, texts[1])
        self.review.redraw()

    async def _text(self, question: Operation[Any] | None) -> str:
        if question is None:
            return ""
        try:
            return (await self.review.desk.read(question, priority=NEXT)).markdown or ""
        except NotFound:
            return ""  # it was made or removed since
