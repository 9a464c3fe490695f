"""Reviews by programs, and the export and import of the drafts of a review.

A program reads the change as JSON and prints comments, which the outbox holds as drafts under the name of the program.
Nothing is sent until a person sends it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.api.comments import PostComment, PostReply
from presscheck.api.content import ListChangeRequestPages
from presscheck.config.settings_schema import REVIEW_TIMEOUT
from presscheck.documents.pages.comment_text import split_quote
from presscheck.documents.pages.tree import flatten
from presscheck.engine.child_programs import expanded, run_program
from presscheck.engine.protocols import Reader
from presscheck.engine.review.agent_drafts import agent_name, free_drafts, too_many
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.comment_state import NEW
from presscheck.engine.review.merge_readiness import closed_reason
from presscheck.engine.review.owners import read_changes
from presscheck.engine.review.page_texts import page_texts
from presscheck.engine.review.pending_review import PendingReview, ReviewWrites
from presscheck.engine.review.program_input import VERSION, program_input, request_facts
from presscheck.engine.review.review_file import (
    NumberedComment,
    PageNow,
    Rejected,
    ReviewText,
    call_of,
    read_review,
)
from presscheck.engine.shared_calls import changed_page, comments_on
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.sanitize import readable

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content_changes import SemanticChange
    from presscheck.engine.writes.pending_writes import OutboxEntry


class ReviewEngine(Reader, ReviewWrites, Protocol):
    """The parts of the engine that reviews by programs need."""


@dataclass(frozen=True)
class Drafted:
    """The result of a review by a program, or of an import.

    Attributes:
        numbers: the outbox rows of the new drafts.
        known: the number of comments that were drafts already.
        rejected: the comments that cannot be used.
    """

    numbers: tuple[int, ...]
    known: int
    rejected: tuple[Rejected, ...]


async def review_with_program(
    engine: ReviewEngine,
    request: ChangeRequest,
    command: Sequence[str],
    name: str,
    *,
    directory: Path = Path(),
    seconds: float = REVIEW_TIMEOUT,
    progress: Callable[[str], None] = lambda _: None,
) -> Drafted:
    """Run a program on a change request, and hold its comments as drafts.

    Args:
        engine: the engine.
        request: the change request.
        command: the words of the command, which runs without a shell.
        name: the name that marks the drafts.
        directory: where the command runs; by default the working directory.
        seconds: the time limit.
        progress: called with a few words when the next step begins.

    Raises:
        InvalidArgument: the change request is closed.
        PresscheckError: the program is missing, failed or exceeded its limits, or its output is not JSON. Nothing is
            drafted.
    """
    _require_open(request)
    agent = agent_name(name)
    progress(f"{agent}: reading the change …")
    given = await program_input(engine, request)
    progress(f"{agent}: reviewing …")
    document = await asyncio.to_thread(_encoded, given.document)
    ran = await run_program(agent, expanded(command), directory, seconds, given=document)
    if ran.code:
        raise ran.failure(agent)
    progress(f"{agent}: checking the comments …")
    review = await asyncio.to_thread(read_review, ran.output, agent)  # may take seconds
    return await _hold(engine, request, review, lambda _: agent, given.texts)


async def import_review(engine: ReviewEngine, request: ChangeRequest, text: str, me: str) -> Drafted:
    """Hold the comments of an exported review as drafts. A comment that is held already is not added again.

    Args:
        engine: the engine.
        request: the change request.
        text: the exported review as JSON.
        me: the name of the user. Comments with this name become the user's own, not drafts of an agent.

    Raises:
        InvalidArgument: the change request is closed, or the review is of another change request.
        PresscheckError: the text is not JSON.
    """
    _require_open(request)
    review = await asyncio.to_thread(read_review, text, "import")
    if review.request_id is not None and review.request_id != request.id:
        raise InvalidArgument("--import", f"the review is of another change request, not of #{request.number}")

    def author(comment: NumberedComment) -> str | None:
        name, is_agent = comment.comment.author, comment.comment.is_agent
        return None if name is None or (name == me and not is_agent) else agent_name(name)

    return await _hold(engine, request, review, author, None)


def exported_review(request: ChangeRequest, drafts: Iterable[OutboxEntry], paths: dict[str, str], me: str) -> Any:
    """Return drafts as a JSON object that `import_review` can read.

    Args:
        request: the change request.
        drafts: the drafts, which are comments and replies.
        paths: the paths of pages by id.
        me: the name of the user.
    """
    comments = list[dict[str, Any]]()
    for entry in drafts:
        call = entry.call
        if isinstance(call, PostComment):
            quote, text = split_quote(call.body.markdown or "") if call.page else ("", call.body.markdown or "")
            place = {"page": call.page, "path": paths.get(call.page or ""), "quote": quote or None} if call.page else {}
        elif isinstance(call, PostReply):
            text, place = call.body.markdown or "", {"reply_to": call.comment_id}
        else:
            continue
        comments.append({**place, "text": text, "author": entry.agent or me, "is_agent": bool(entry.agent)})
    return {"version": VERSION, "change_request": request_facts(request), "comments": comments}


def exportable(drafts: Iterable[OutboxEntry], name: str | None = None) -> list[OutboxEntry]:
    """Return the drafts that can be exported: comments and replies. If `name` is given, only those of this agent."""
    return [
        entry
        for entry in drafts
        if isinstance(entry.call, PostReply)
        or (isinstance(entry.call, PostComment) and not entry.call.node and not entry.call.table_cell)
        if name is None or entry.agent == name
    ]


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _require_open(request: ChangeRequest) -> None:
    if reason := closed_reason(request):
        raise InvalidArgument("change_request", reason)


async def _hold(
    engine: ReviewEngine,
    request: ChangeRequest,
    review: ReviewText,
    author: Callable[[NumberedComment], str | None],
    seen: dict[str, str] | None,
) -> Drafted:
    """Hold the comments whose page, thread and place exist in the current change request. Reject the others.

    Args:
        engine: the engine.
        request: the change request.
        review: the comments.
        author: returns the name of the agent that wrote a comment; None for the user.
        seen: the texts that a program saw, by page; None for an exported review.
    """
    rejected = list(review.rejected)
    ids, changes, threads = await _places(engine, request, review)
    pages = dict[str, PageNow]()
    calls = list[tuple[NumberedComment, PostComment | PostReply]]()
    for numbered in review.comments:
        page = None
        try:
            if numbered.comment.page:
                if numbered.comment.page not in ids:
                    raise InvalidArgument("page", "is not in this change request")
                page_id = ids[numbered.comment.page]
                if page_id not in pages:
                    pages[page_id] = await _page(
                        engine, request, changes.get(page_id), page_id, (seen or {}).get(page_id)
                    )
                page = pages[page_id]
            # searches the page, which takes up to 0.1 seconds for each comment
            call = await asyncio.to_thread(call_of, request, numbered.comment, page, threads, is_exported=seen is None)
            calls.append((numbered, call))
        except PresscheckError as error:
            rejected.append(Rejected(numbered.place, error.message))
    pending, numbers, known = PendingReview(engine, request.id), list[int](), 0
    held = {_identity(entry.agent, entry.call) for entry in pending.entries()}
    free = free_drafts(engine)
    for numbered, call in calls:
        agent = author(numbered)
        identity = _identity(agent or "", call)
        if identity in held:
            known += 1
        elif agent and not free:
            rejected.append(Rejected(numbered.place, too_many()))
        else:
            numbers.append(pending.hold(call, agent).id)
            held.add(identity)
            free -= bool(agent)
    return Drafted(tuple(numbers), known, tuple(rejected))


def _identity(agent: str, call: object) -> tuple[object, ...]:
    """Return a key that equal drafts share: the author, the place, and the words of quote and text."""
    if isinstance(call, PostComment):
        return agent, call.page, _words(call)
    return (agent, call.comment_id, _words(call)) if isinstance(call, PostReply) else (call,)


def _words(call: PostComment | PostReply) -> tuple[str, ...]:
    return tuple(" ".join(readable(part).split()) for part in split_quote(call.body.markdown or ""))


async def _places(
    engine: Reader, request: ChangeRequest, review: ReviewText
) -> tuple[dict[str, str], dict[str, SemanticChange], set[str]]:
    """Return page ids by id and by path, changes by page id, and thread ids; each only if a comment needs them."""
    comments = [numbered.comment for numbered in review.comments]
    ids, threads = dict[str, str](), set[str]()
    changes: dict[str, SemanticChange] = {}
    if any(comment.page for comment in comments):
        path = {"space_id": request.space, "change_request_id": request.id}
        found = (await read_changes(engine, request)).changes
        changes = {change.page.id: change for change in reversed(found) if change.page}
        pages = [*flatten((await engine.read(ListChangeRequestPages(**path))).pages)]
        ids |= {item.path: item.id for item in changed_items(found) if item.noun == "page" and item.path}
        ids |= {page.path: page.id for page in pages if page.path}
        ids |= {page_id: page_id for page_id in (*changes, *(page.id for page in pages))}
    if any(comment.reply_to for comment in comments):
        answer = await engine.read(comments_on(request))
        threads = {comment.id for comment in answer.items if not comment.id.startswith(NEW)}
    return ids, changes, threads


async def _page(
    engine: Reader, request: ChangeRequest, change: SemanticChange | None, page_id: str, seen: str | None
) -> PageNow:
    if change:
        before, after = await page_texts(engine, request, change)
        return PageNow(page_id, after, before, seen)
    return PageNow(page_id, (await engine.read(changed_page(request.space, request.id, page_id))).markdown, None, seen)
