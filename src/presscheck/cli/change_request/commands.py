"""`presscheck cr`: list, create, review and merge change requests."""

from __future__ import annotations

import sys
from typing import Any

import click

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    GetChangeRequestPDF,
    ListChangeRequests,
    ListContributors,
    ListOrganizationChangeRequests,
    ListRequestedReviewers,
    MergeChangeRequest,
    PullChangeRequest,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.cli import comment_commands, content_commands, lookup
from presscheck.cli.change_request.check import check
from presscheck.cli.change_request.content import diff, edit
from presscheck.cli.change_request.owners import owners
from presscheck.cli.change_request.rearrange import copy, drop, move
from presscheck.cli.change_request.review import approve, hold, pending_option, review
from presscheck.cli.notification_commands import add_to_requests
from presscheck.cli.operations.command_factory import CommandSpec, add, sends
from presscheck.cli.operations.references import find_id
from presscheck.cli.output import print_details, print_message, print_rows, print_text
from presscheck.cli.session import (
    Session,
    confirm,
    limit_option,
    org_option,
    request_argument,
    space_argument,
    with_session,
    yes_option,
)
from presscheck.cli.text_input import body_options, body_text
from presscheck.engine.forms.references import MEMBER
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.merge_readiness import checks
from presscheck.engine.review.revert import create_revert, plan_revert
from presscheck.engine.shared_calls import comments_on, reviewers_of, reviews_of
from presscheck.errors import Conflict

COLUMNS = ("space", "number", "status", "subject", "createdBy.displayName", "updatedAt", "id")


@click.group()
def cr() -> None:
    """Work with change requests.

    SPACE#NUMBER is the id or the title of a space, #, and the number of the change request. The id of a change request
    or its URL can be given instead.
    """


add(
    cr,
    CommandSpec("pdf", GetChangeRequestPDF, help="Print the URL of a PDF export (valid for one hour)."),
    CommandSpec(
        "contributors",
        ListContributors,
        ("user.displayName", "actionType", "count"),
        help="List the contributors of a change request.",
    ),
)
cr.add_command(check)
cr.add_command(diff)
cr.add_command(edit)
cr.add_command(owners)
cr.add_command(review)
cr.add_command(approve)
for _command in (drop, copy, move):
    cr.add_command(_command)
add_to_requests(cr)
comment_commands.add_to_requests(cr)
content_commands.add_to_requests(cr)


@cr.command("list")
@click.option("--space", metavar="SPACE", help="Only change requests of this space.")
@org_option
@click.option(
    "--status",
    type=click.Choice(["draft", "open", "archived", "merged"]),
    default="open",
    show_default=True,
    help="Only this status.",
)
@click.option("--creator", metavar="USER", help="Only those created by this user, by id, name or email.")
@click.option("--reviewer", metavar="USER", help="Only those with this reviewer, by id, name or email.")
@limit_option
@with_session
@sends(ListOrganizationChangeRequests, ListChangeRequests)
async def list_all(
    session: Session,
    space: str | None,
    org: str | None,
    status: str,
    creator: str | None,
    reviewer: str | None,
    limit: int,
) -> None:
    """List change requests."""
    given: dict[str, Any] = {"status": status}
    if creator:
        given["creator"] = await find_id(session, MEMBER, creator, {}, "--creator")
    if reviewer:
        given["requested_reviewer"] = await find_id(session, MEMBER, reviewer, {}, "--reviewer")
    columns = COLUMNS[:-1] if sys.stdout.isatty() else COLUMNS  # the id is long, and not needed
    if space:
        owner = await lookup.space(session, space)
        await session.show_all(ListChangeRequests(space_id=owner.id, **given), columns, limit)
    else:
        organization = await lookup.organization(session, org)
        listing = ListOrganizationChangeRequests(organization_id=organization.id, **given)
        await session.show_all(listing, columns, limit)


@cr.command()
@request_argument
@click.option("--comments/--no-comments", default=True, help="Also print the comments.")
@with_session
@sends(GetChangeRequest)
async def show(session: Session, which: str, *, comments: bool) -> None:
    """Show a change request with its reviews and comments."""
    request = await lookup.change_request(session, which)
    reviews = await session.all(reviews_of(request))
    reviewers = await session.all(reviewers_of(request))
    threads = await session.all(comments_on(request)) if comments else []
    if session.json:
        session.show(
            {"changeRequest": request, "reviews": reviews, "requestedReviewers": reviewers, "comments": threads}
        )
        return
    print_details(
        {
            **_details(request),
            "requested reviewers": ", ".join(reviewer.user.display_name for reviewer in reviewers if reviewer.user),
        }
    )
    print_rows(reviews, ("status", "reviewer.displayName", "createdAt"))
    for comment in threads:
        text = (comment.body.markdown or "").strip()
        print_text(
            f"\n{comment.id} {comment.posted_by.display_name} ({comment_commands.shown_status(comment)})\n{text}"
        )


cr.add_command(show, "view")  # the name in gh


@cr.command()
@space_argument
@click.option("--subject", required=True, metavar="TEXT", help="Subject; at most 100 characters.")
@with_session
@sends(CreateChangeRequest)
async def create(session: Session, space: str, subject: str) -> None:
    """Create a change request.

    It starts from the live content of the space.
    """
    owner = await lookup.space(session, space)
    created = await session.write(CreateChangeRequest(space_id=owner.id, subject=subject), "")
    if created:
        session.show(created) if session.json else click.echo(f"{owner.id}#{created.number}")


@cr.command()
@request_argument
@click.option("--page", metavar="PAGE", help="Comment on this page, by id, path or title.")
@pending_option
@body_options
@with_session
@sends(PostComment)
async def comment(
    session: Session, which: str, page: str | None, *, pending: bool, body: str | None, body_file: str | None
) -> None:
    """Comment on a change request.

    Offline, the comment is queued in the outbox. With --pending it is held until you submit your review.
    """
    request = await lookup.change_request(session, which)
    with body_text(body, body_file) as text:
        more: dict[str, Any] = {"page": await lookup.page_id(session, request, page)} if page else {}
        call = PostComment(**lookup.path_of(request), body=Document(markdown=text), **more)
        if pending:
            hold(session, request, call)
        else:
            session.show_id(await session.write(call, "Comment added."))


@cr.command()
@request_argument
@click.argument("comment_id", metavar="COMMENT")
@pending_option
@body_options
@with_session
@sends(PostReply)
async def reply(
    session: Session, which: str, comment_id: str, *, pending: bool, body: str | None, body_file: str | None
) -> None:
    """Reply to a comment.

    Offline, the reply is queued in the outbox. With --pending it is held until you submit your review.
    """
    request = await lookup.change_request(session, which)
    with body_text(body, body_file) as text:
        call = PostReply(
            **lookup.path_of(request),
            comment_id=comment_id,
            body=Document(markdown=text),
        )
        if pending:
            hold(session, request, call)
            return
        with lookup.not_found("COMMENT", comment_id):
            session.show_id(await session.write(call, "Reply added."))


@cr.command()
@request_argument
@click.argument("comment_id", metavar="COMMENT")
@click.option("--undo", is_flag=True, help="Reopen the comment.")
@with_session
async def resolve(session: Session, which: str, comment_id: str, *, undo: bool) -> None:
    """Resolve or reopen a comment."""
    request = await lookup.change_request(session, which)
    call = UpdateComment(**lookup.path_of(request), comment_id=comment_id, resolved=not undo)
    with lookup.not_found("COMMENT", comment_id):
        session.show_id(await session.write(call, "Reopened." if undo else "Resolved."))


@cr.command()
@request_argument
@click.option(
    "--add",
    "added",
    metavar="USER",
    multiple=True,
    help="Request a review from this user, by id, name or email (repeatable).",
)
@click.option("--remove", "removed", metavar="USER", multiple=True, help="Remove this requested reviewer (repeatable).")
@limit_option
@with_session
@sends(ListRequestedReviewers, RequestReviewers, RemoveRequestedReviewer)
async def reviewers(session: Session, which: str, added: tuple[str, ...], removed: tuple[str, ...], limit: int) -> None:
    """List, add or remove requested reviewers."""
    request = await lookup.change_request(session, which)
    path = lookup.path_of(request)
    if added or removed:
        if added:
            asked = tuple([await find_id(session, MEMBER, name, {}, "--add") for name in added])
            await session.write(RequestReviewers(**path, users=asked), "Review requested.")
        for name in removed:
            user_id = await find_id(session, MEMBER, name, {}, "--remove")
            await session.write(RemoveRequestedReviewer(**path, user_id=user_id), "Reviewer removed.")
    if (not added and not removed) or session.json:
        session.show(
            await session.all(reviewers_of(request), limit), ("kind", "user.displayName", "user.id", "createdAt")
        )


@cr.command()
@request_argument
@with_session
@sends(PullChangeRequest)
async def update(session: Session, which: str) -> None:
    """Update a change request with the live content."""
    request = await lookup.change_request(session, which)
    result = await session.write(PullChangeRequest(**lookup.path_of(request)), "")
    session.show(result)
    if result and result.result == "conflicts":
        raise _conflicts(f"POST {which} update", "Updated with conflicts. Resolve them with `presscheck cr edit`")


@cr.command()
@request_argument
@yes_option
@click.option("--if-clean", is_flag=True, help="Merge only if every merge requirement is met.")
@click.option("--with-conflicts", is_flag=True, help="Merge conflicts too: readers see both versions.")
@with_session
@sends(MergeChangeRequest)
async def merge(session: Session, which: str, *, yes: bool, if_clean: bool, with_conflicts: bool) -> None:
    """Merge a change request into the live content.

    Nothing is merged if there are conflicts, unless --with-conflicts is given. To undo a merge later,
    `presscheck cr revert` creates a change request that reverts it.
    """
    request = await lookup.change_request(session, which)
    if if_clean:
        await _require_clean(session, request, which)
    elif not with_conflicts:
        await _require_no_conflicts(session, request, which)
    confirm(f"Merge #{request.number} “{request.subject}” into the live content?", yes=yes)
    result = await session.write(MergeChangeRequest(**lookup.path_of(request)), "")
    session.show(result)
    if result and result.result == "conflicts":
        raise _conflicts(f"POST {which} merge", "Merged with conflicts. Resolve them in a new change request")


@cr.command()
@request_argument
@click.option("--undo", is_flag=True, help="Reopen the change request.")
@with_session
@sends(UpdateChangeRequest)
async def archive(session: Session, which: str, *, undo: bool) -> None:
    """Archive or reopen a change request."""
    request = await lookup.change_request(session, which)
    status = "open" if undo else "archived"
    call = UpdateChangeRequest(**lookup.path_of(request), status=status)
    session.show_id(await session.write(call, "Reopened." if undo else "Archived."))


@cr.command()
@request_argument
@with_session
async def revert(session: Session, which: str) -> None:
    """Create a change request that undoes a merged one.

    Later edits are kept. Where they changed the same words, the new change request has conflicts to resolve.
    """
    request = await lookup.change_request(session, which)
    plan = await plan_revert(session.engine, request)
    created = await create_revert(session.engine, request.space, plan)
    print_message(f"#{created.number} undoes #{request.number}.")
    for title in plan.conflicts:
        print_message(f"Conflict: {title} was edited since; both versions are in the page.")
    for reason in plan.kept:
        print_message(f"Not undone: {reason}.")
    session.show_id(created)


async def _require_clean(session: Session, request: ChangeRequest, which: str) -> None:
    """Check that every merge requirement is met: rules, reviews, comments, conflicts.

    Raises:
        Conflict: a requirement is not known to be met.
    """
    inputs = await read_merge_inputs(session.engine, request)
    unmet = [check.message for check in checks(inputs) if check.certainty != "yes"]
    if unmet:
        raise _conflicts(f"POST {which} merge", f"Not merged: {'; '.join(unmet)}")


async def _require_no_conflicts(session: Session, request: ChangeRequest, which: str) -> None:
    """Check that a merge has no conflicts, because readers would see both versions of a text.

    The app instead asks the user to type the number of the change request.

    Raises:
        Conflict: there are conflicts.
    """
    if request.status not in ("open", "draft"):
        return
    inputs = await read_merge_inputs(session.engine, request)
    conflicts = [check.message for check in checks(inputs) if check.certainty == "blocked"]
    if conflicts:
        message = f"Not merged: {'; '.join(conflicts)}. Resolve them, or add --with-conflicts to merge both versions"
        raise _conflicts(f"POST {which} merge", message)


def _details(request: ChangeRequest) -> dict[str, object]:
    return {
        "subject": request.subject,
        "number": request.number,
        "status": request.status,
        "space": request.space,
        "by": request.created_by.display_name if request.created_by else None,
        "created": request.created_at,
        "updated": request.updated_at,
        "outdated": request.outdated,
        "open comments": request.comments,
        "id": request.id,
        "URL": request.urls.app,
    }


def _conflicts(request: str, message: str) -> Conflict:
    return Conflict(message, request=request, status=409)
