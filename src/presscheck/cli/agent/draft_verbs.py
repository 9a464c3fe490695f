"""The verbs that write drafts: held rows of the outbox with the name of the agent, until a person sends or drops them.

An agent can list, replace and drop only its own drafts. Only with the permission `send` can it send them.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from presscheck.agents.verbs import Arguments, Name, PagedArguments, Verb, items_of, untrusted
from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest
from presscheck.api.comments import Document, GetComment, PostComment, PostReply
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.cli import lookup
from presscheck.cli.agent.caller import Caller, find_page
from presscheck.cli.agent.read_verbs import RequestArguments, changed_pages
from presscheck.engine.review.agent_drafts import MOST_DRAFTS, require_room
from presscheck.engine.review.anchored_comments import comment_on_text, only_place, suggestion_for_text
from presscheck.engine.review.merge_readiness import closed_reason
from presscheck.engine.review.pending_review import PendingReview
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes.descriptions import describe, describe_name
from presscheck.engine.writes.page_merge import page_base, page_edit
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.engine.writes.typed_texts import typed_text_in
from presscheck.errors import InvalidArgument
from presscheck.store.outbox import Row

LONGEST_COMMENT = 20_000
LONGEST_TEXT = 200_000
"""Maximum number of characters of the text of a page."""


def _storable(text: str | None) -> str | None:
    """Require a text that the service accepts: a draft that it refuses would hold up what the person sends later."""
    if text and "\0" in text:
        raise ValueError("must not contain NUL")
    return text


def _not_blank(text: str) -> str | None:
    if not text.strip():
        raise ValueError("must not be blank")
    return _storable(text)


class CommentArguments(RequestArguments):
    """The arguments of the verb `draft_comment`."""

    text: str = Field(min_length=1, max_length=LONGEST_COMMENT, description="The comment, in Markdown.")
    page: Name | None = Field(None, description="The page that it is about, by id, path or title.")
    quote: str | None = Field(
        None,
        max_length=2_000,
        description="The words of one line of the page that it is about, exactly as in the page.",
    )
    reply_to: Name | None = Field(None, description="The id of the comment that it replies to.")
    _valid = field_validator("text")(_not_blank)


class SuggestArguments(RequestArguments):
    """The arguments of the verb `suggest`."""

    page: Name = Field(description="The page, by id, path or title.")
    old: str = Field(
        min_length=1,
        max_length=LONGEST_COMMENT,
        description="The text to replace, which the page contains once, within one block.",
    )
    new: str = Field(max_length=LONGEST_COMMENT, description="The replacement.")
    text: str = Field("", max_length=LONGEST_COMMENT, description="A comment before the suggestion.")
    _valid = field_validator("new", "text")(_storable)


class CreateArguments(Arguments):
    """The arguments of the verb `create_change_request`."""

    space: Name = Field(description="The space, by id, title or URL.")
    subject: str = Field(min_length=1, max_length=100, description="The subject.")
    _valid = field_validator("subject")(_not_blank)


class Replacement(Arguments):
    """A replacement in a page."""

    old: str = Field(min_length=1, max_length=LONGEST_TEXT, description="A text that the page contains once.")
    new: str = Field(max_length=LONGEST_TEXT, description="The new text.")
    _valid = field_validator("new")(_storable)


class EditArguments(RequestArguments):
    """The arguments of the verb `edit_page`."""

    page: Name = Field(description="The page, by id, path or title.")
    replacements: tuple[Replacement, ...] = Field((), max_length=100, description="Replacements, made in this order.")
    markdown: str | None = Field(None, max_length=LONGEST_TEXT, description="The whole new text, instead.")
    _valid = field_validator("markdown")(_storable)


class ViewedArguments(RequestArguments):
    """The arguments of the verb `mark_viewed`."""

    page: Name = Field(description="A changed page, by id, path or title.")
    viewed: bool = Field(True, description="False removes the mark.")


class DraftsArguments(Arguments):
    """The drafts that a verb is about."""

    drafts: tuple[int, ...] = Field(min_length=1, max_length=MOST_DRAFTS, description="The numbers of your drafts.")


async def _draft_comment(caller: Caller, given: CommentArguments) -> dict[str, Any]:
    request = await _open_request(caller, given)
    path = lookup.path_of(request)
    if given.reply_to:
        if given.page or given.quote:
            raise InvalidArgument("reply_to", "cannot be combined with page or quote")
        with lookup.not_found("reply_to", given.reply_to):
            comment = await caller.session.read(GetComment(**path, comment_id=given.reply_to))
        reply = PostReply(**path, comment_id=comment.id, body=Document(markdown=given.text))
        return _held(caller, PendingReview(caller.session.engine, request.id).hold(reply, _agent(caller)).id)
    if given.quote and not given.page:
        raise InvalidArgument("quote", "needs the page that it is from")
    text, more = given.text, dict[str, Any]()
    if given.page:
        page = await find_page(caller, request.space, request, given.page)
        more["page"] = page.id
        if given.quote:
            text = comment_on_text(await _text_of(caller, request, page.id), given.quote, text)
    post = PostComment(**path, body=Document(markdown=text), **more)
    return _held(caller, PendingReview(caller.session.engine, request.id).hold(post, _agent(caller)).id)


async def _suggest(caller: Caller, given: SuggestArguments) -> dict[str, Any]:
    if given.new == given.old:
        raise InvalidArgument("new", "is the same as old")
    request = await _open_request(caller, given)
    page = await find_page(caller, request.space, request, given.page)
    markdown = await _text_of(caller, request, page.id)
    body = Document(markdown=suggestion_for_text(markdown, given.old, given.new, given.text))
    post = PostComment(**lookup.path_of(request), body=body, page=page.id)
    return _held(caller, PendingReview(caller.session.engine, request.id).hold(post, _agent(caller)).id)


async def _create_change_request(caller: Caller, given: CreateArguments) -> dict[str, Any]:
    space = await lookup.space(caller.session, given.space, "space")
    call = CreateChangeRequest(space_id=space.id, subject=given.subject)
    return _held(caller, caller.session.engine.write(call, collect=True, agent=_agent(caller)).id)


async def _edit_page(caller: Caller, given: EditArguments) -> dict[str, Any]:
    if (given.markdown is None) == (not given.replacements):
        raise InvalidArgument("replacements", "give either replacements or markdown")
    engine = caller.session.engine
    request = await _open_request(caller, given)
    page = await find_page(caller, request.space, request, given.page)
    earlier = _own_edit(caller, request, page.id)
    if earlier:
        row, text = earlier
        base = row.base or {}
    else:
        shown = await caller.session.read(changed_page(request.space, request.id, page.id))
        row, text = None, (shown.markdown or "").replace("\r\n", "\n")
        base = page_base(shown.title, text)
    edited = text if given.markdown is None else given.markdown
    for number, replacement in enumerate(given.replacements):
        at = only_place(edited, replacement.old, f"replacements.{number}.old")
        edited = edited[:at] + replacement.new + edited[at + len(replacement.old) :]
    if edited == text:
        raise InvalidArgument(
            "markdown" if given.replacements == () else "replacements", "the page has this text already"
        )
    update = UpdatePage(page=page.id, document=Document(markdown=edited))
    call = EditChangeRequestContent(**lookup.path_of(request), changes=(update,))
    agent = _agent(caller) if row is None else caller.agent
    number = engine.write(call, collect=True, base=base, agent=agent).id
    # never change the text behind a draft number: a person may have read the earlier text and accept that number
    if row and not engine.drop(row.id, only_held=True):
        engine.drop(number)
        raise InvalidArgument("page", "your draft of this page was just accepted or dropped: read the page again")
    return _held(caller, number)


def _own_edit(caller: Caller, request: ChangeRequest, page: str) -> tuple[Row, str] | None:
    """Return the agent's held edit of a page with its text, or None."""
    for entry in own_drafts(caller):
        change = page_edit(entry.call) if entry.call else None
        is_same = change and change.page == page and getattr(entry.call, "change_request_id", "") == request.id
        row = caller.session.engine.outbox.row(entry.id) if is_same else None
        if row and change and change.document:
            return row, change.document.markdown or ""
    return None


async def _mark_viewed(caller: Caller, given: ViewedArguments) -> dict[str, Any]:
    request = await lookup.change_request(caller.session, given.change_request, "change_request")
    items = await changed_pages(caller, request)
    item = next((item for item in items if given.page in (item.id, item.path, item.title)), None)
    if item is None:
        raise InvalidArgument("page", "is not changed. read_change_request lists the changed pages")
    revision = (item.text or request.revision) if given.viewed else None
    caller.session.engine.mark_viewed(request.id, item.id, revision)
    return {"page": item.id, "is_viewed": given.viewed}


async def _list_drafts(caller: Caller, given: PagedArguments) -> dict[str, Any]:
    answer = items_of(own_drafts(caller), given, _draft_row)
    return {"agent": caller.agent, "drafts": answer.pop("items"), **answer}


async def _drop_drafts(caller: Caller, given: DraftsArguments) -> dict[str, Any]:
    _require_own(caller, given.drafts)
    return {"dropped": [number for number in given.drafts if caller.session.engine.drop(number, only_held=True)]}


async def _send_drafts(caller: Caller, given: DraftsArguments) -> dict[str, Any]:
    _require_own(caller, given.drafts)
    caller.session.engine.release(given.drafts)
    return {"sent": [number for number in given.drafts if await caller.session.sent(number)]}


def own_drafts(caller: Caller) -> list[OutboxEntry]:
    """Return the agent's drafts, oldest first."""
    waiting = caller.session.engine.waiting()
    return [entry for entry in waiting if entry.state == "collected" and entry.agent == caller.agent]


def _require_own(caller: Caller, numbers: tuple[int, ...]) -> None:
    if others := set(numbers) - {entry.id for entry in own_drafts(caller)}:
        raise InvalidArgument("drafts", f"{min(others)} is not a draft of yours: list_drafts lists them")


def _agent(caller: Caller) -> str:
    """Return the name of the agent for a new draft.

    Raises:
        InvalidArgument: agents have too many drafts.
    """
    require_room(caller.session.engine)
    return caller.agent


def _held(caller: Caller, number: int) -> dict[str, Any]:
    entry = next(entry for entry in caller.session.engine.waiting() if entry.id == number)
    return {**_draft_row(entry), "state": "held until a person sends or drops it"}


def _draft_row(entry: OutboxEntry) -> dict[str, Any]:
    typed = typed_text_in(entry.call)
    what = describe(entry.call, entry.target) if entry.call else describe_name(entry.name)
    return {"draft": entry.id, "what": untrusted(what), "text": untrusted(typed[1]) if typed else None}


async def _open_request(caller: Caller, given: RequestArguments) -> ChangeRequest:
    request = await lookup.change_request(caller.session, given.change_request, "change_request")
    if reason := closed_reason(request):
        raise InvalidArgument("change_request", reason)
    return request


async def _text_of(caller: Caller, request: ChangeRequest, page: str) -> str:
    return (await caller.session.read(changed_page(request.space, request.id, page))).markdown or ""


DRAFT_VERBS: tuple[Verb[Caller], ...] = (
    Verb(
        "draft_comment",
        "Draft a comment on a change request, on a page or on a text of it, or a reply. A person sends it.",
        "draft",
        CommentArguments,
        _draft_comment,
        "cr comment --pending",
    ),
    Verb(
        "suggest",
        "Draft a suggestion: a comment with a new text for a block of a page, which the author can apply.",
        "draft",
        SuggestArguments,
        _suggest,
        "cr comment --pending",
    ),
    Verb(
        "create_change_request",
        "Draft a new change request. It exists after a person has sent it.",
        "draft",
        CreateArguments,
        _create_change_request,
        "cr create",
    ),
    Verb(
        "edit_page",
        "Draft an edit of a page in a change request. When a person sends it, it is merged with edits of others.",
        "draft",
        EditArguments,
        _edit_page,
        "page edit",
    ),
    Verb("mark_viewed", "Mark a changed page as viewed, on this machine.", "draft", ViewedArguments, _mark_viewed),
    Verb(
        "list_drafts", "List your drafts that a person has not sent or dropped.", "draft", PagedArguments, _list_drafts
    ),
    Verb("drop_drafts", "Drop drafts of yours.", "draft", DraftsArguments, _drop_drafts, "outbox drop"),
    Verb("send_drafts", "Send drafts of yours.", "send", DraftsArguments, _send_drafts),
)
"""The verbs that write drafts, and the verb that sends them."""
