"""`presscheck cr review`: approve, request changes, and the pending review, whose comments are held until submitted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import click

from presscheck.api.change_requests import ChangeRequest, ReviewStatus, SubmitReview
from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.cli import lookup
from presscheck.cli.change_request.drafted_reviews import (
    DraftOptions,
    draft_options,
    print_summary,
    run_draft_options,
)
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import print_json, print_message
from presscheck.cli.session import Session, confirm, request_argument, with_session
from presscheck.cli.text_input import body_options, body_text
from presscheck.engine.review.pending_review import PendingReview
from presscheck.errors import InvalidArgument, NotSupported, ReadOnly
from presscheck.text.phrases import count

MESSAGES: dict[ReviewStatus, str] = {"approved": "Approved.", "changes-requested": "Changes requested."}
"""The message after a review, by its status."""
pending_option: Callable[[Any], Any] = click.option(
    "--pending", is_flag=True, help="Hold it in your pending review until a person submits it."
)


@click.command()
@request_argument
@click.option("--approve", "status", flag_value="approved", help="Approve the change request.")
@click.option("--request-changes", "status", flag_value="changes-requested", help="Request changes.")
@click.option("--start", is_flag=True, help="Start a pending review: the app holds your comments too.")
@click.option(
    "--comment", "comments", metavar="TEXT", multiple=True, help="Add a comment to the pending review (repeatable)."
)
@click.option("--page", metavar="PAGE", help="The page of these comments, by id, path or title.")
@click.option("--submit", is_flag=True, help="Send the comments of the pending review (asks first).")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation of --submit.")
@draft_options
@body_options
@with_session
@sends(SubmitReview)
async def review(
    session: Session,
    which: str,
    *,
    status: ReviewStatus | None,
    start: bool,
    comments: tuple[str, ...],
    page: str | None,
    submit: bool,
    yes: bool,
    body: str | None,
    body_file: str | None,
    **drafts: Any,
) -> None:
    """Approve, request changes, or write a pending review.

    A comment is optional. A review cannot be deleted; your next review replaces it. Comments of a pending review are
    held in the outbox: the app shows them, and no other user sees them until you submit the review, there or here.
    """
    options = DraftOptions(**drafts)
    has_others = bool(status or start or comments or submit or page or body is not None or body_file)
    options.check(has_others=has_others)
    if has_others or not (options.is_action or options.summary):
        _check(status, comments, page, body, body_file, starts=start, submits=submit)
    request = await lookup.change_request(session, which)
    if options.is_action:
        await run_draft_options(session, request, options)
    if start:
        _start(session, request)
    more: dict[str, Any] = {"page": await lookup.page_id(session, request, page)} if page else {}
    for text in comments:
        hold(session, request, PostComment(**lookup.path_of(request), body=Document(markdown=text), **more))
    call = None
    if body is not None or body_file is not None:
        with body_text(body, body_file) as text:
            call = _verdict(request, status, text)
    elif status:
        call = _verdict(request, status, "")
    if submit:
        await _submit(session, request, status, call, yes=yes)
    elif isinstance(call, SubmitReview):
        await _send(session, request, call)
    if options.summary:
        await print_summary(session, request)


@click.command()
@request_argument
@body_options
@with_session
@sends(SubmitReview)
async def approve(session: Session, which: str, *, body: str | None, body_file: str | None) -> None:
    """Approve a change request, with or without a comment.

    `presscheck cr review` has all kinds of reviews.
    """
    request = await lookup.change_request(session, which)
    with body_text(body or "", body_file) if body or body_file else nullcontext("") as text:
        call = _verdict(request, "approved", text)
        if isinstance(call, SubmitReview):
            await _send(session, request, call)


def hold(session: Session, request: ChangeRequest, call: PostComment | PostReply) -> None:
    """Add a comment or a reply to the pending review, and print its number in the outbox.

    Raises:
        ReadOnly: the profile is read-only.
    """
    pending = PendingReview(session.engine, request.id)
    row = pending.hold(call).id
    held = count(len(pending.entries()), "comment")
    print_message(f"Held: {held} in your pending review of #{request.number}. It is sent when you submit the review.")
    print_json({"outbox": row}) if session.json else click.echo(row)


def _check(
    status: str | None,
    comments: tuple[str, ...],
    page: str | None,
    body: str | None,
    body_file: str | None,
    *,
    starts: bool,
    submits: bool,
) -> None:
    """Check the combination of options.

    Raises:
        InvalidArgument: the options cannot be combined, or a comment is empty.
    """
    if not (status or starts or comments or submits):
        raise InvalidArgument(
            "--approve", "choose --approve, --request-changes, --start, --comment, --submit or --with"
        )
    if any(not text.strip() for text in comments):
        raise InvalidArgument("--comment", "the text is empty")
    if page and not comments:
        raise InvalidArgument("--page", "is for the comments of --comment")
    if not (status or submits) and (body is not None or body_file is not None):
        raise InvalidArgument("--body", "is for --approve, --request-changes or --submit; use --comment TEXT")


def _start(session: Session, request: ChangeRequest) -> None:
    if session.profile.read_only:
        raise ReadOnly
    PendingReview(session.engine, request.id).start()
    print_message(f"Started a pending review of #{request.number}.")


def _verdict(request: ChangeRequest, status: ReviewStatus | None, text: str) -> SubmitReview | PostComment:
    """Return the call that submits a review, or that posts a comment if there is no status."""
    path = lookup.path_of(request)
    if status is None:
        return PostComment(**path, body=Document(markdown=text))
    given: dict[str, Any] = {"comment": Document(markdown=text)} if text else {}
    return SubmitReview(**path, status=status, **given)


async def _send(session: Session, request: ChangeRequest, call: SubmitReview) -> None:
    """Send a review without the held comments.

    Raises:
        NotSupported: the service has no reviews.
    """
    try:
        session.show_id(await session.write(call, MESSAGES[call.status]))
    except NotSupported as error:
        message = f"{error.message}. Use `presscheck cr comment` to leave a comment instead"
        raise NotSupported(message, request=error.request, status=error.status) from None
    held = len(PendingReview(session.engine, request.id).entries())
    if held:
        print_message(f"Your pending review still holds {count(held, 'comment')}. --submit sends them.")


async def _submit(
    session: Session,
    request: ChangeRequest,
    status: ReviewStatus | None,
    call: SubmitReview | PostComment | None,
    *,
    yes: bool,
) -> None:
    """Send the held comments, then the review.

    Raises:
        InvalidArgument: there is nothing to submit, or no terminal to ask in.
        ReadOnly: the profile is read-only.
        PresscheckError: the service rejected a comment or the review.
    """
    pending = PendingReview(session.engine, request.id)
    rows = [entry.id for entry in pending.entries()]
    if not rows and call is None:
        raise InvalidArgument("--submit", f"your pending review of #{request.number} has no comments")
    if session.profile.read_only:
        raise ReadOnly
    verdict = {"approved": "approve", "changes-requested": "request changes"}.get(status or "", "comment")
    confirm(f"Submit your review of #{request.number} ({verdict}) with {count(len(rows), 'comment')}?", yes=yes)
    ticket = pending.submit(call, rows)
    sent = [await session.sent(number) for number in (*rows, *((ticket.id,) if ticket else ()))]
    if all(sent):
        print_message(f"Review submitted: {count(len(rows), 'comment')}. {MESSAGES[status] if status else ''}".rstrip())
