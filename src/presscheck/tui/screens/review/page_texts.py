"""The texts of pages before and after: first what is looked at, then the next, then what else the list shows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.desk.asking import BACKGROUND, EYE, NEXT
from presscheck.desk.page_questions import changed_nodes, changed_page, page_in
from presscheck.desk.review.changes import Changed, Words
from presscheck.documents.differences import compare
from presscheck.errors import NetworkError, NotFound, PresscheckError
from presscheck.tui.screens.review.change_renderer import Page

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.operation import Operation
    from presscheck.client.errand import Priority
    from presscheck.tui.screens.review.screen import Review

LARGE = 20_000
"""Characters from which two texts are compared beside the screen, not before it."""


class Bodies:
    """The pages of one review."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self._pages: dict[tuple[str, str], Page] = {}
        self._wanted: dict[tuple[str, str], Priority] = {}
        self._documents: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._left: list[Changed] = []
        self._is_filling = False

    def page(self, thing: Changed) -> Page:
        """What is known of a page; what is not is fetched, and the page after it too."""
        things = self.review.known.things
        after = things.index(thing) + 1
        for one in (thing, *things[after : after + 1]):
            self._want(one, EYE if one is thing else NEXT)
        return self._pages.get(self._key(thing), Page())

    def known(self, thing: Changed) -> Page:
        """What is known of a page, without asking for it."""
        return self._pages.get(self._key(thing), Page())

    def document(self, thing: Changed) -> Mapping[str, Any] | None:
        """The nodes of a page as the change request has it, where they are known; they are asked for else."""
        key, request = self._key(thing), self.review.known.request
        if request and key not in self._documents:
            self._documents[key] = None
            self.review.run(self._fetch_document(key, changed_nodes(request.space, request.id, thing.id)))
        return self._documents.get(key)

    async def _fetch_document(self, key: tuple[str, str], question: Operation[RevisionPage]) -> None:
        try:
            self._documents[key] = (await self.review.desk.read(question, priority=NEXT)).document or {}
        except NetworkError:
            del self._documents[key]  # asked for again with the next news
        except PresscheckError:
            return  # its threads stand above the page
        else:
            self.review.redraw()

    def words(self, thing: Changed) -> Words | None:
        """How many words changed, where both texts are here."""
        found = self._pages.get(self._key(thing))
        return Words(found.difference.added, found.difference.removed) if found and found.difference else None

    def fill(self, things: Iterable[Changed]) -> None:
        """Fetch these too, one after another, when there is nothing else to do; no longer those before."""
        self._left = [*things]
        if not self._is_filling and not self.review.is_leaving:
            self._is_filling = True
            self.review.run(self._fill())

    async def _fill(self) -> None:
        try:
            while self._left:
                thing = self._left.pop(0)
                key = self._key(thing)
                if thing.has_text and key not in self._wanted and key not in self._pages:
                    await self._fetch(key, self._questions(thing), BACKGROUND)
        finally:
            self._is_filling = False

    def again(self) -> None:
        """Ask again for what could not be had."""
        for key in [key for key, document in self._documents.items() if document is None]:
            del self._documents[key]
        for key in [key for key, page in self._pages.items() if page.trouble]:
            del self._pages[key]
            self._wanted.pop(key, None)

    def _key(self, thing: Changed) -> tuple[str, str]:
        request = self.review.known.request
        return (thing.id, f"{request.revision} {self.review.known.base}" if request else "")

    def _want(self, thing: Changed, priority: Priority) -> None:
        key = self._key(thing)
        is_under_way = key in self._pages or self._wanted.get(key, BACKGROUND) <= priority
        if is_under_way or not thing.has_text or self.review.known.request is None:
            return
        self._wanted[key] = priority
        before, after = self._questions(thing)
        stored = [self.review.desk.known(one) if one else None for one in (before, after)]
        if priority is EYE and all(one is None or found for one, found in zip((before, after), stored, strict=True)):
            texts = [found.value.markdown or "" if found else "" for found in stored]
            if sum(map(len, texts)) < LARGE:
                self._pages[key] = Page(compare(*texts), texts[1])
        fetch = partial(self._fetch, key, (before, after), priority)
        self.review.run(fetch, group=f"body-{thing.id}", exclusive=True)

    def _questions(self, thing: Changed) -> tuple[Operation[Any] | None, Operation[Any] | None]:
        request = self.review.known.request
        if request is None:
            return None, None
        before = after = None
        if "added" not in thing.kinds:
            base = self.review.known.base or ""
            before = page_in(request.space, base, thing.id)
        if "deleted" not in thing.kinds:
            after = changed_page(request.space, request.id, thing.id)
        return before, after

    async def _fetch(
        self, key: tuple[str, str], questions: tuple[Operation[Any] | None, ...], priority: Priority
    ) -> None:
        try:
            texts = [await self._text(one, priority) for one in questions]
        except PresscheckError as error:
            if key not in self._pages:
                self._pages[key] = Page(trouble=f"{error.message} · ctrl+r asks again")
        else:
            difference = await asyncio.to_thread(compare, *texts)
            self._pages[key] = Page(difference, texts[1])
        self.review.redraw()

    async def _text(self, question: Operation[Any] | None, priority: Priority) -> str:
        if question is None:
            return ""
        try:
            return (await self.review.desk.read(question, priority=priority)).markdown or ""
        except NotFound:
            return ""  # it was made or removed since
