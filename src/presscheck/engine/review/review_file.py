"""The comments of a review as JSON: the output of a program that reviews a change request, and an exported review.

The text is untrusted: it may be garbage, name pages and threads of another change request, or be written for an earlier
version of a page. A comment becomes a call only if its page, thread and place exist; otherwise it is rejected with the
reason, and never moved to another place.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.documents.markdown.block_splitter import Block
from presscheck.documents.pages.comment_text import (
    block_at,
    deleted_words,
    find_quoted_line,
    find_quoted_range,
    line_to_quote,
    normalize_text,
    quote,
    quote_lines,
    quote_range,
    split_quote,
    suggestion_problem,
)
from presscheck.engine.review.anchored_comments import suggestion_for_text
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import readable, sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest

MOST_COMMENTS = 1_000
"""Maximum number of comments that are read; the others are rejected together."""
LONGEST_TEXT = 20_000
"""Maximum number of characters of a comment."""
LONGEST_PLACE = 60
"""Maximum number of characters that name a comment in a message."""

_Id = Annotated[str, Field(min_length=1, max_length=300)]
_Line = Annotated[int, Field(ge=1, le=1_000_000)]


class ReviewComment(BaseModel):
    """A comment, a suggestion, or a reply. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    text: str = Field("", max_length=LONGEST_TEXT, description="The comment, in Markdown.")
    page: _Id | None = Field(
        None, description="The id or path of the page; without it, the comment is on the change request."
    )
    line: _Line | None = Field(None, description="A line of the page after the change, counted from 1.")
    end_line: _Line | None = Field(None, description="The last line, if there are several.")
    quote: str | None = Field(
        None, max_length=LONGEST_TEXT, description="Words of the page that the comment is about, exactly as there."
    )
    replacement: str | None = Field(
        None,
        max_length=LONGEST_TEXT,
        description="Makes the comment a suggestion: replaces the lines or, without a line, the quote.",
    )
    reply_to: _Id | None = Field(None, description="The id of the thread that it replies to, instead of a place.")
    author: str | None = Field(None, max_length=300, description="Who wrote it; only in an exported review.")
    is_agent: bool = Field(False, description="Whether an agent wrote it; only in an exported review.")


class ReviewDocument(BaseModel):
    """The output of a program, or an exported review."""

    model_config = ConfigDict(title="Comments of a review")

    version: int = Field(1, description="The version of the format.")
    change_request: dict[str, Any] | None = Field(None, description="The change request; only in an exported review.")
    summary: str | None = Field(None, max_length=LONGEST_TEXT, description="A comment on the whole change request.")
    comments: tuple[ReviewComment, ...] = Field((), max_length=MOST_COMMENTS, description="The comments.")


@dataclass(frozen=True)
class Rejected:
    """A comment that cannot be used: its number in the text, its page, and the reason, all as display text."""

    place: str
    reason: str


@dataclass(frozen=True)
class NumberedComment:
    """A comment, with its name in messages."""

    place: str
    comment: ReviewComment


@dataclass(frozen=True)
class ReviewText:
    """A parsed review: the id of its change request (None if missing), its comments, and the rejected comments."""

    request_id: str | None
    comments: tuple[NumberedComment, ...]
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True)
class PageNow:
    """A page of the change request.

    Attributes:
        id: its id.
        text: its current text; None if the page is deleted or has no text.
        before: its text before the change; None if the page is added.
        seen: its text when the comments were written, to which their line numbers refer; None if unknown.
    """

    id: str
    text: str | None
    before: str | None = None
    seen: str | None = None


def schema() -> dict[str, Any]:
    """Return the JSON schema of the comments of a review."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ReviewDocument.model_json_schema()}


def read_review(text: str, name: str) -> ReviewText:
    """Parse a review: a document, an array of comments, or lines with a comment each.

    Args:
        text: JSON, or lines of JSON. A line that is not JSON is rejected.
        name: the name of the program or file in messages.

    Raises:
        PresscheckError: neither the text nor any of its lines is JSON.
    """
    rejected = list[Rejected]()
    rows, summaries = list[object](), list[object]()
    request_id = None
    for value in _values(text, name, rejected):
        for part in cast("list[Any]", value) if isinstance(value, list) else [value]:
            fields: dict[str, Any] = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
            own = fields.get("change_request")
            if isinstance(own, dict) and request_id is None:
                request_id = str(cast("dict[str, Any]", own).get("id"))
            is_document = isinstance(fields.get("comments"), list)
            # a comment may have a summary of its own, which is an unknown key
            is_comment = bool(fields.keys() & {"text", "replacement"})
            has_summary = bool(fields.get("summary")) and (is_document or not is_comment)
            if has_summary:
                summaries.append({"text": fields["summary"]})
            if is_document:
                rows += cast("list[object]", fields["comments"])
            elif "comments" in fields and not is_comment:
                rejected.append(Rejected("comments", "is not a list"))
            elif not has_summary:
                rows.append(part)
    named = [(f"comment {number}", row) for number, row in enumerate(rows[:MOST_COMMENTS], 1)]
    comments = list[NumberedComment]()
    for place, row in (*named, *(("summary", row) for row in summaries[:MOST_COMMENTS])):
        try:
            comment = ReviewComment.model_validate(row)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"]))
            reason = f"{field}: {first['msg']}" if field else "is not an object"
            rejected.append(Rejected(place, sanitize(reason)))
        else:
            comments.append(NumberedComment(f"{place}{_where(comment)}", comment))
    if len(rows) > MOST_COMMENTS:
        rejected.append(Rejected(f"{len(rows) - MOST_COMMENTS:,} comments", f"only {MOST_COMMENTS:,} are read"))
    return ReviewText(request_id, tuple(comments), tuple(rejected))


def _values(text: str, name: str, rejected: list[Rejected]) -> Iterator[object]:
    """Yield the JSON value of a text or, if the text is not JSON, the values of its lines. Reject invalid lines."""
    if not text.strip():
        return
    is_read = False
    with suppress(ValueError, RecursionError):
        whole: object = json.loads(text)
        is_read = True
        yield whole
    for number, line in enumerate([] if is_read else text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            if number <= MOST_COMMENTS:
                rejected.append(Rejected(f"line {number}", "is not JSON"))
            continue
        is_read = True
        yield value
    if not is_read:
        begin = sanitize(text.strip()[:80])
        raise PresscheckError(f"{name}: the output is not JSON: {begin}")


def _where(comment: ReviewComment) -> str:
    page = sanitize(" ".join((comment.page or "").split()))[:LONGEST_PLACE]
    where = ", ".join(part for part in (page, f"line {comment.line}" if comment.line else "") if part)
    return where and f" ({where})"


def call_of(
    request: ChangeRequest,
    comment: ReviewComment,
    page: PageNow | None,
    threads: Collection[str],
    *,
    is_exported: bool = False,
) -> PostComment | PostReply:
    """Return the call that posts a comment.

    Args:
        request: the change request.
        comment: the comment.
        page: the page that it names; None if it names none.
        threads: the ids of the threads of the change request.
        is_exported: whether the comment is from an exported review: presscheck made its quote, which may be shortened.

    Raises:
        InvalidArgument: the comment is empty, or its page, thread or place does not exist in the change request.
    """
    path: dict[str, Any] = {"space_id": request.space, "change_request_id": request.id}
    text = readable(comment.text).strip()
    if comment.replacement is None and not text:
        raise InvalidArgument("text", "is empty")
    if comment.reply_to:
        if comment.page or comment.line or comment.quote or comment.replacement is not None:
            raise InvalidArgument("reply_to", "cannot be combined with a place or a replacement")
        if comment.reply_to not in threads:
            raise InvalidArgument("reply_to", "is not a thread of this change request")
        return PostReply(**path, comment_id=comment.reply_to, body=Document(markdown=text))
    if page is None:
        if comment.line or comment.quote or comment.replacement is not None:
            raise InvalidArgument("page", "is missing: a line, a quote or a replacement needs its page")
        return PostComment(**path, body=Document(markdown=text))
    if comment.end_line and comment.line is None:
        raise InvalidArgument("end_line", "needs a line")
    if comment.end_line and comment.line and comment.end_line < comment.line:
        raise InvalidArgument("end_line", "must not be before line")
    if comment.replacement is not None:
        body = _suggestion(comment, page, text)
    elif is_exported and comment.quote and comment.line is None:
        body = _exported_anchor(readable(comment.quote), page) + text
    else:
        body = _anchor(comment, page) + text
    if problem := suggestion_problem(body):
        raise InvalidArgument("text", problem)
    return PostComment(**path, body=Document(markdown=body), page=page.id)


def _anchor(comment: ReviewComment, page: PageNow) -> str:
    """Return the quote that anchors a comment, after a check that it is found at the place that the comment names."""
    if comment.line is None and not comment.quote:
        return ""
    now = readable(_text(page)).split("\n")
    words = readable(comment.quote).split("\n") if comment.quote else _lines(page, comment)
    words = [line for line in words if normalize_text(line)]
    start = quote_range(words[0], words[-1]) if len(words) > 1 else quote(words[0]) if words else ""
    field = "quote" if comment.quote else "line"
    if not start:
        raise InvalidArgument(field, "has no words: name a text with words")
    found = _quoted_lines(split_quote(start)[0], now)
    if comment.line is not None:
        first, last = _lines_now(page, comment, now)
        if comment.quote and (found is None or not first <= found[0] <= found[1] <= last):
            raise InvalidArgument("line", "does not contain the quote")
        if found is None or not first <= found[0] <= found[1] <= last:
            raise InvalidArgument("line", "another line has the same words: add a quote, or name another line")
    elif found is None:
        raise InvalidArgument("quote", "the page does not contain this text")
    else:
        places = [line for line in now if normalize_text(words[0]) in normalize_text(line)]
        if len(places) > 1:
            raise InvalidArgument("quote", f"{len(places)} lines contain this text: quote more, or add the line")
    return start


def _quoted_lines(about: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last line in which a quote is found, or None."""
    numbered = list(enumerate(lines))
    line = find_quoted_line(about, numbered)
    numbers = find_quoted_range(about, numbered)
    return numbers if numbers and numbers[1] == line else None if line is None else (line, line)


def _lines_now(page: PageNow, comment: ReviewComment, now: Sequence[str]) -> tuple[int, int]:
    """Return the first and the last line that a comment names, as numbers in the current text."""
    seen, lines = _seen(page), _lines(page, comment)
    last = max((comment.end_line or comment.line or 1) - 1, line_to_quote(seen, (comment.line or 1) - 1))
    first = last - len(lines) + 1
    if seen != now:
        places = [at for at in range(len(now)) if list(now[at : at + len(lines)]) == lines]
        if len(places) != 1:
            raise InvalidArgument("line", "the page was changed in the meantime")
        first, last = places[0], places[0] + len(lines) - 1
    return first, last


def _exported_anchor(words: str, page: PageNow) -> str:
    words = " ".join(words.split())
    struck = deleted_words(words)
    text = (page.before or "").replace("\r\n", "\n") if struck else _text(page)
    if find_quoted_line(struck or words, enumerate(text.split("\n"))) is None:
        raise InvalidArgument("quote", "the page does not contain this text")
    return quote_lines(words)


def _suggestion(comment: ReviewComment, page: PageNow, text: str) -> str:
    new, old = comment.replacement or "", comment.quote or ""
    if readable(new) != new.replace("\r\n", "\n"):
        raise InvalidArgument("replacement", "has control characters or invisible characters")
    new = new.replace("\r\n", "\n")
    if comment.line is not None:
        lines = _lines(page, comment)
        if old and readable(old) not in "\n".join(lines):
            raise InvalidArgument("line", "does not contain the quote")
        block, number = _block(page, comment), comment.line - 1
        whole = block.text.split("\n")
        at = number - block.start_line
        whole[at : at + len(lines)] = new.removesuffix("\n").split("\n")
        old, new = block.text, "\n".join(whole)
    elif not old:
        raise InvalidArgument("replacement", "needs a line or a quote")
    if old == new:
        raise InvalidArgument("replacement", "changes nothing")
    return suggestion_for_text(_text(page), old, new, text)


def _block(page: PageNow, comment: ReviewComment) -> Block:
    first = (comment.line or 1) - 1
    block = block_at("\n".join(_seen(page)), first)
    if block is None or (comment.end_line or 0) > block.start_line + len(block.text.split("\n")):
        raise InvalidArgument("line", "must be within one block of the page, such as a paragraph")
    return block


def _lines(page: PageNow, comment: ReviewComment) -> list[str]:
    """Return the lines that a comment names, as its author saw them."""
    seen, first = _seen(page), comment.line or 1
    last = comment.end_line or first
    if last > len(seen):
        number = len(seen) - (not seen[-1])
        raise InvalidArgument("line", f"the page has {count(number, 'line')}")
    if comment.replacement is None:  # the opening tag of a block has no words
        first = line_to_quote(seen, first - 1) + 1
    return seen[first - 1 : max(first, last)]


def _seen(page: PageNow) -> list[str]:
    return (readable(_text(page)) if page.seen is None else page.seen).split("\n")


def _text(page: PageNow) -> str:
    if page.text is None:
        raise InvalidArgument("page", "is deleted or has no text: comment on it without a place")
    return page.text.replace("\r\n", "\n")
