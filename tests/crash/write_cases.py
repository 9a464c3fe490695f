"""The kinds of write of the grid: the calls of a run, and the expected state of the service after each call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from presscheck.api import change_requests as cr
from presscheck.api import comments
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.operation import Operation
from presscheck.client.client import Client
from presscheck.documents.pages.page_order import PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.writes.page_merge import page_base
from presscheck.engine.writes.tree_merge import tree_base


@dataclass
class Run:
    """The writes of a case and how to check them.

    Attributes:
        writes: the calls, in order.
        states: the expected result of `look` after 0, 1, 2, … writes.
        look: reads the state from the service.
        waits: False if these writes cannot wait in the outbox; then `states` has only the last state.
        bases: for edits, what was loaded before each of them.
    """

    writes: list[Operation[Any]]
    states: list[Any]
    look: Callable[[], Awaitable[Any]]
    waits: bool = field(default=True)
    bases: list[dict[str, Any]] = field(default_factory=list)


class Making:
    """Creates runs, each in a change request of its own.

    Args:
        client: a client that is connected to the service without a proxy.
        space: id of the space with the change requests.
        me: id of the client's user.
        mark: a name that no other run has.
    """

    def __init__(self, client: Client, space: str, me: str, mark: str) -> None:
        self.client, self.space, self.me, self.mark, self.path = client, space, me, mark, {"space_id": space}

    async def begin(self) -> Making:
        request = await self.client.send(cr.CreateChangeRequest(space_id=self.space, subject=f"run {self.mark}"))
        self.path = {"space_id": self.space, "change_request_id": request.id}
        return self

    async def comment(self, text: str) -> str:
        return (await self.client.send(comments.PostComment(**self.path, body=body(text)))).id

    async def comments(self) -> list[Any]:
        listing = comments.ListComments(**self.path, order="asc", format="markdown", limit=1000)
        return list((await self.client.send(listing)).items)

    async def texts(self) -> list[str]:
        return [(comment.body.markdown or "").strip() for comment in await self.comments()]

    async def request(self) -> cr.ChangeRequest:
        return await self.client.send(cr.GetChangeRequest(**self.path))

    async def comment_run(self) -> Run:
        texts = ["Same words", "Same words", "Other words"]
        return Run([comments.PostComment(**self.path, body=body(text)) for text in texts], prefixes(texts), self.texts)

    async def reply_run(self) -> Run:
        path = {**self.path, "comment_id": await self.comment("A question")}
        texts = ["Yes", "Yes", "No"]

        async def look() -> list[str]:
            listing = comments.ListReplies(**path, format="markdown", limit=1000)
            return [(reply.body.markdown or "").strip() for reply in (await self.client.send(listing)).items]

        return Run([comments.PostReply(**path, body=body(text)) for text in texts], prefixes(texts), look)

    async def edit_run(self) -> Run:
        path, texts = {**self.path, "comment_id": await self.comment("v0")}, ["v1", "v2", "v3"]
        calls = [comments.UpdateComment(**path, body=body(text)) for text in texts]
        return Run(list(calls), [["v0"], *([text] for text in texts)], self.texts)

    async def review_run(self) -> Run:
        statuses = ["approved", "changes-requested", "changes-requested"]

        async def look() -> list[str]:
            reviews = await self.client.send(cr.ListReviews(**self.path, limit=1000))
            return [review.status for review in reversed(reviews.items)]

        calls: list[Operation[Any]] = [
            cr.SubmitReview(**self.path, status="approved"),
            cr.SubmitReview(**self.path, status="changes-requested", comment=body("Not *yet*")),
            cr.SubmitReview(**self.path, status="changes-requested", comment=body("Not *yet*")),
        ]
        return Run(calls, prefixes(statuses), look)

    async def create_run(self) -> Run:
        subjects = [f"{self.mark} {letter}" for letter in "abc"]

        async def look() -> list[str]:
            requests: list[Any] = []
            for status in ("draft", "open"):
                listing = cr.ListChangeRequests(space_id=self.space, status=status, limit=1000)
                requests += [item async for item in self.client.every(listing)]
            return [
                request.subject
                for request in sorted(requests, key=lambda request: request.number)
                if request.subject in subjects
            ]

        calls = [cr.CreateChangeRequest(space_id=self.space, subject=subject) for subject in subjects]
        return Run(list(calls), [subjects], look, waits=False)

    async def resolve_run(self) -> Run:
        path = {**self.path, "comment_id": await self.comment("To be done")}
        calls = [comments.UpdateComment(**path, resolved=is_resolved) for is_resolved in (True, False, True)]

        async def look() -> str:
            return (await self.comments())[0].status

        return Run(list(calls), ["open", "resolved", "open", "resolved"], look)

    async def archive_run(self) -> Run:
        statuses = ("archived", "open", "archived")

        async def look() -> str:
            return (await self.request()).status

        return Run(
            [cr.UpdateChangeRequest(**self.path, status=status) for status in statuses], ["draft", *statuses], look
        )

    async def reaction_run(self) -> Run:
        path = {**self.path, "comment_id": await self.comment("Good?")}
        calls: list[Operation[Any]] = [
            comments.UpdateComment(**path, added_reactions=("1f44d",)),
            comments.UpdateComment(**path, added_reactions=("1f389",)),
            comments.UpdateComment(**path, removed_reactions=("1f44d",)),
        ]

        async def look() -> list[tuple[str, int]]:
            return sorted((reaction.emoji, reaction.count) for reaction in (await self.comments())[0].reactions)

        up, party = ("1f44d", 1), ("1f389", 1)
        return Run(calls, [[], [up], [party, up], [party]], look)

    async def reviewers_run(self) -> Run:
        request = cr.RequestReviewers(**self.path, users=(self.me,))
        calls = [request, request, cr.RemoveRequestedReviewer(**self.path, user_id=self.me)]

        async def look() -> list[str]:
            reviewers = await self.client.send(cr.ListRequestedReviewers(**self.path, limit=1000))
            return sorted(reviewer.user.id if reviewer.user else "" for reviewer in reviewers.items)

        return Run(calls, [[], [self.me], [self.me], []], look)

    async def subject_run(self) -> Run:
        subjects = ("One", "Two", "Three")

        async def look() -> str:
            return (await self.request()).subject

        calls = [cr.UpdateChangeRequest(**self.path, subject=subject) for subject in subjects]
        return Run(list(calls), [f"run {self.mark}", *subjects], look)

    async def delete_run(self) -> Run:
        first, second = await self.comment("one"), await self.comment("two")
        calls: list[Operation[Any]] = [
            comments.DeleteComment(**self.path, comment_id=first),
            comments.PostComment(**self.path, body=body("three")),
            comments.DeleteComment(**self.path, comment_id=second),
        ]
        return Run(calls, [["one", "two"], ["two"], ["two", "three"], ["three"]], self.texts)

    async def page_run(self) -> Run:
        """Edits of a page that another person edited after it was read."""

        async def write(change: Any) -> None:
            await self.client.send(EditChangeRequestContent(**self.path, changes=(change,), compat=False))

        async def read() -> str:
            page = await self.client.send(GetChangeRequestPage(**self.path, page_id=page_id, format="markdown"))
            return page.markdown or ""

        await write(InsertPage(title="Page", document=body("one\n\ntwo\n\nnext\n\nlast")))
        pages = (await self.client.send(ListChangeRequestPages(**self.path))).pages
        page_id = next(page.id for page in pages if page.title == "Page")
        texts = [await read()]
        await write(UpdatePage(page=page_id, document=body(texts[0].replace("last", "LAST"))))
        for old, new in (("one", "* ONE"), ("two", "TWO"), ("TWO", "TWO\n\nnew")):
            texts.append(texts[-1].replace(old, new))
        calls = [
            EditChangeRequestContent(**self.path, changes=(UpdatePage(page=page_id, document=body(text)),))
            for text in texts[1:]
        ]

        async def look() -> list[str]:
            return [line.strip("*- ") for line in (await read()).split("\n")[1:] if line]

        ends = [[*["one", "two", "next", "LAST"]], [*["ONE", "two", "next", "LAST"]]]
        ends += [[*["ONE", "TWO", "next", "LAST"]], [*["ONE", "TWO", "new", "next", "LAST"]]]
        return Run(list(calls), ends, look, bases=[page_base("Page", text) for text in texts[:-1]])

    async def tree_run(self) -> Run:
        """A page added with its text, a page below it, a move and a deletion, after another person added a page."""

        async def add(title: str, **place: Any) -> str:
            change = InsertPage(title=title, document=body(title), **place)
            call = EditChangeRequestContent(**self.path, changes=(change,), compat=False)
            return (await self.client.send(call)).changes[0].page_id or ""

        first, second = await add("One"), await add("Two")
        pages = (await self.client.send(ListChangeRequestPages(**self.path))).pages
        changes = [
            InsertPage(title="New", document=body("New")),
            InsertPage(title="Below", document=body("Below"), into="waiting:1"),
            UpdatePage(page=second, into=None, at=len(pages) - 2),
            DeletePage(page=first),
        ]
        bases = [tree_base(pages, [change]) for change in changes]
        await add("Theirs", at=0)

        async def look() -> list[str]:
            pages = (await self.client.send(ListChangeRequestPages(**self.path))).pages
            named = ("One", "Two", "New", "Below")
            order, by_id = PageOrder.of(pages), {page.id: page.title for page in flatten(pages)}
            return [
                f"{by_id[above]} › {by_id[page]}" if (above := order.parent(page)) else by_id[page]
                for page in order.every()
                if by_id[page] in named
            ]

        ends = [["One", "Two"], ["One", "Two", "New"], ["One", "Two", "New", "New › Below"]]
        ends += [["Two", "One", "New", "New › Below"], ["Two", "New", "New › Below"]]
        calls = [EditChangeRequestContent(**self.path, changes=(change,), compat=False) for change in changes]
        return Run(list(calls), ends, look, bases=bases)


def body(text: str) -> comments.Document:
    return comments.Document(markdown=text)


def prefixes(texts: list[str]) -> list[list[str]]:
    return [texts[:count] for count in range(len(texts) + 1)]


KINDS: dict[str, Callable[[Making], Awaitable[Run]]] = {
    "comment": Making.comment_run,
    "reply": Making.reply_run,
    "edit": Making.edit_run,
    "review": Making.review_run,
    "create": Making.create_run,
    "resolve": Making.resolve_run,
    "archive": Making.archive_run,
    "reaction": Making.reaction_run,
    "reviewers": Making.reviewers_run,
    "subject": Making.subject_run,
    "delete": Making.delete_run,
    "page": Making.page_run,
    "tree": Making.tree_run,
}
