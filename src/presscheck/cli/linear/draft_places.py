"""The list of drafts in change requests. A draft is continued with the verb that began it."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from presscheck.api.change_requests import GetChangeRequest
from presscheck.cli.linear.page_place import PagePlace
from presscheck.cli.linear.place import Linear, Place, pick
from presscheck.cli.linear.request_model import read_model
from presscheck.cli.linear.request_places import RequestPlace
from presscheck.cli.linear.thread_places import ThreadPlace
from presscheck.cli.linear.words import drafts_of, excerpt
from presscheck.engine.drafts import APPROVAL, CHANGES, Draft
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize


class DraftsPlace(Place):
    """The drafts of texts in change requests, newest first."""

    def __init__(self, linear: Linear) -> None:
        super().__init__(linear)
        self._drafts: Sequence[Draft] = ()

    @property
    @override
    def name(self) -> str:
        return "drafts"

    @override
    async def load(self) -> Sequence[str]:
        self._drafts = drafts_of(self.engine)
        rows = [f"{number}. {_row(draft)}" for number, draft in enumerate(self._drafts, 1)]
        hint = ["A number opens the place of a draft: the verb that began it continues it."] if rows else []
        return [f"{count(len(rows), 'draft')} in change requests.", *rows, *hint]

    @override
    async def open(self, number: int) -> Place:
        draft = pick(self._drafts, str(number), "draft")
        if draft.name == "reply":
            return ThreadPlace(self.linear, draft.space, draft.request, draft.target, ())
        if draft.name == "page":
            model, _ = await read_model(self.session, draft.space, draft.request)
            if item := next((item for item in model.items if item.id == draft.target.split(" ")[0]), None):
                return PagePlace(self.linear, model, item)
        return RequestPlace(self.linear, await self.session.read(GetChangeRequest(**draft.path)))


def _row(draft: Draft) -> str:
    number = draft.stored.about.get("number", "")
    is_continued = draft.name in ("whole", "reply", "page", APPROVAL, CHANGES)
    where = f" in #{sanitize(number)} {sanitize(draft.stored.about.get('subject', ''))}" if number else ""
    app = "" if is_continued else ", continued in the app"
    return f"{sanitize(draft.label)}{where}{app}: {excerpt(draft.readable)}"
