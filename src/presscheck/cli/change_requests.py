"""`presscheck cr`: change requests, from the list to the merge; one is named `SPACE#12`, by id or by address."""

from __future__ import annotations

from typing import Any

import click

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequestPDF,
    ListChangeRequests,
    ListContributors,
    ListOrganizationChangeRequests,
    MergeChangeRequest,
    PullChangeRequest,
    RemoveRequestedReviewer,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.api.organizations import ListMembers, OrganizationMember
from presscheck.cli import lookup
from presscheck.cli.command_factory import Verb, add
from presscheck.cli.cr_content import diff, edit
from presscheck.cli.output import print_details, print_rows, print_text
from presscheck.cli.session import Session, asking, confirm
from presscheck.cli.text_input import body_options, body_text
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.shared_calls import comments_on, reviewers_of, reviews_of
from presscheck.errors import ChecksFailed, Conflict, Forbidden, InvalidArgument, NotSupported, PresscheckError

COLUMNS = ("space", "number", "status", "subject", "createdBy.displayName", "updatedAt", "id")
which = click.argument("which", metavar="SPACE#NUMBER")


@click.group()
def cr() -> None:
    """Change requests, each named SPACE#12, by id or by address."""


add(
    cr,
    Verb("pdf", GetChangeRequestPDF, help="Print a link to a PDF of a change request (valid for one hour)."),
    Verb("contributors", ListContributors, ("user.displayName", "actionType", "count"), help="List the contributors."),
)
cr.add_command(diff)
cr.add_command(edit)


@cr.command("list")
@click.option("--space", metavar="SPACE", help="Only from this space.")
@click.option("--org", metavar="ORG", help="The organization, by title or id.")
@click.option("--status", type=click.Choice(["draft", "open", "archived", "merged"]), default="open", show_default=True)
@click.option("--creator", metavar="USER", help="Only those created by this user (an id).")
@click.option("--reviewer", metavar="USER", help="Only those with this reviewer (a user id).")
@click.option("--limit", type=click.IntRange(0), default=0, help="Maximum number of results; 0 for all.")
@asking
async def list_all(
    session: Session,
    space: str | None,
    org: str | None,
    status: str,
    creator: str | None,
    reviewer: str | None,
    limit: int,
) -> None:
    """List change requests, those that are open unless --status says otherwise."""
    asked = {"status": status, "creator": creator, "requested_reviewer": reviewer}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value}
    if space:
        owner = await lookup.space(session, space)
        found = await session.all(ListChangeRequests(space_id=owner.id, **given), limit)
    else:
        organization = await lookup.organization(session, org)
        found = await session.all(ListOrganizationChangeRequests(organization_id=organization.id, **given), limit)
    session.show(found, COLUMNS)


@cr.command()
@which
@click.option("--comments/--no-comments", default=True, help="Also print the comments.")
@asking
async def show(session: Session, which: str, *, comments: bool) -> None:
    """Show a change request: its state, its verdicts, who was asked, and what was said."""
    request = await lookup.change_request(session, which)
    reviews = await session.all(reviews_of(request))
    asked = await session.all(reviewers_of(request))
    said = await session.all(comments_on(request)) if comments else []
    if session.json:
        session.show({"changeRequest": request, "reviews": reviews, "requestedReviewers": asked, "comments": said})
        return
    print_details({**_head(request), "asked": ", ".join(one.user.display_name for one in asked if one.user)})
    print_rows(reviews, ("status", "reviewer.displayName", "createdAt"))
    for one in said:
        print_text(f"\n{one.id} {one.posted_by.display_name} ({one.status})\n{(one.body.markdown or '').strip()}")


@cr.command()
@click.argument("space")
@click.option("--subject", required=True, metavar="TEXT", help="At most 100 characters.")
@asking
async def create(session: Session, space: str, subject: str) -> None:
    """Begin a change request from the live content of a space."""
    owner = await lookup.space(session, space)
    made = await session.write(CreateChangeRequest(space_id=owner.id, subject=subject), "")
    if made:
        session.show(made) if session.json else click.echo(f"{owner.id}#{made.number}")


@cr.command()
@which
@click.option("--page", metavar="ID", help="Comment on this page.")
@body_options
@asking
async def comment(session: Session, which: str, page: str | None, body: str | None, body_file: str | None) -> None:
    """Comment on a change request; waits in the outbox without a connection."""
    request = await lookup.change_request(session, which)
    with body_text(body, body_file) as text:
        more: dict[str, Any] = {"page": page} if page else {}
        call = PostComment(**lookup.path_of(request), body=Document(markdown=text), **more)
        session.show_new(await session.write(call, "Commented."))


@cr.command()
@which
@click.argument("comment_id", metavar="COMMENT")
@body_options
@asking
async def reply(session: Session, which: str, comment_id: str, body: str | None, body_file: str | None) -> None:
    """Reply to a comment; waits in the outbox without a connection."""
    request = await lookup.change_request(session, which)
    with body_text(body, body_file) as text:
        call = PostReply(
            **lookup.path_of(request),
            comment_id=comment_id,
            body=Document(markdown=text),
        )
        session.show_new(await session.write(call, "Replied."))


@cr.command()
@which
@click.argument("comment_id", metavar="COMMENT")
@click.option("--undo", is_flag=True, help="Reopen it.")
@asking
async def resolve(session: Session, which: str, comment_id: str, *, undo: bool) -> None:
    """Resolve a comment, or open it again."""
    request = await lookup.change_request(session, which)
    call = UpdateComment(**lookup.path_of(request), comment_id=comment_id, resolved=not undo)
    session.show_new(await session.write(call, "Reopened." if undo else "Resolved."))


@cr.command()
@which
@click.option("--approve", "verdict", flag_value="approved", help="Approve the change request.")
@click.option("--request-changes", "verdict", flag_value="changes-requested", help="Request changes.")
@body_options
@asking
async def review(session: Session, which: str, verdict: str | None, body: str | None, body_file: str | None) -> None:
    """Give a verdict; it cannot be taken back, only replaced by a newer one. A text is not needed."""
    if verdict is None:
        raise InvalidArgument("--approve", "pass --approve or --request-changes")
    request = await lookup.change_request(session, which)
    given: dict[str, Any] = {**lookup.path_of(request), "status": verdict}
    if body is not None or body_file is not None:
        with body_text(body, body_file) as text:
            given["comment"] = Document(markdown=text)
    try:
        session.show_new(await session.write(SubmitReview(**given), verdict.replace("-", " ").capitalize() + "."))
    except NotSupported as error:
        raise PresscheckError(f"{error.message}: use `presscheck cr comment` to leave a comment instead") from None


@cr.command()
@which
@click.option("--add", "added", metavar="PERSON", multiple=True, help="Add this reviewer, by id, name or e-mail.")
@click.option("--remove", "removed", metavar="PERSON", multiple=True, help="Remove this reviewer.")
@asking
async def reviewers(session: Session, which: str, added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Print who was asked to review, or ask people, or ask them no longer."""
    request = await lookup.change_request(session, which)
    path = lookup.path_of(request)
    if added or removed:
        people = await _people(session)
        if added:
            users = tuple(_person(people, one) for one in added)
            await session.write(RequestReviewers(**path, users=users), "Asked.")
        for one in removed:
            await session.write(RemoveRequestedReviewer(**path, user_id=_person(people, one)), "Reviewer removed.")
    if (not added and not removed) or session.json:
        session.show(await session.all(reviewers_of(request)), ("kind", "user.displayName", "user.id", "createdAt"))


@cr.command()
@which
@asking
async def update(session: Session, which: str) -> None:
    """Take the live content into a change request."""
    request = await lookup.change_request(session, which)
    result = await session.write(PullChangeRequest(**lookup.path_of(request)), "")
    session.show(result)
    if result and result.result == "conflicts":
        raise _conflicts(f"POST {which} update", "Updated with conflicts: resolve them in the pages")


@cr.command()
@which
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
@click.option("--if-clean", is_flag=True, help="Merge only if there are no conflicts with main.")
@asking
async def merge(session: Session, which: str, *, yes: bool, if_clean: bool) -> None:
    """Merge a change request into the live content. There is no way back."""
    request = await lookup.change_request(session, which)
    if if_clean:
        await _demand_clean(session, request)
    confirm(f"Merge #{request.number} “{request.subject}” into the live content?", yes=yes)
    result = await session.write(MergeChangeRequest(**lookup.path_of(request)), "")
    session.show(result)
    if result and result.result == "conflicts":
        raise _conflicts(f"POST {which} merge", "Merged with conflicts: resolve them in the pages")


@cr.command()
@which
@click.option("--undo", is_flag=True, help="Reopen it.")
@asking
async def archive(session: Session, which: str, *, undo: bool) -> None:
    """Archive a change request, or open it again."""
    request = await lookup.change_request(session, which)
    status = "open" if undo else "archived"
    call = UpdateChangeRequest(**lookup.path_of(request), status=status)
    session.show_new(await session.write(call, "Reopened." if undo else "Archived."))


async def _demand_clean(session: Session, request: ChangeRequest) -> None:
    found = await forecast(session.engine, request)
    if found is None:
        raise ChecksFailed("Not merged: this service cannot check for conflicts before the merge")
    if found.conflicts:
        titles = ", ".join(dict.fromkeys(one.title for one in found.conflicts))
        raise ChecksFailed(f"Not merged: conflicts with main in {titles}")


def _head(request: ChangeRequest) -> dict[str, object]:
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
        "address": request.urls.app,
    }


async def _people(session: Session) -> list[OrganizationMember]:
    organization = await lookup.organization(session, None)
    try:
        return await session.all(ListMembers(organization_id=organization.id))
    except Forbidden:
        return []  # guests may not list the members; ids work all the same


def _person(people: list[OrganizationMember], named: str) -> str:
    fits = [
        one.user.id
        for one in people
        if named == one.user.id
        or named.casefold() in (one.user.display_name.casefold(), (one.user.email or "").casefold())
    ]
    if len(fits) > 1:
        raise InvalidArgument("PERSON", f"several users match {named}: {', '.join(fits)}")
    return fits[0] if fits else named


def _conflicts(request: str, says: str) -> Conflict:
    return Conflict(says, request=request, status=409)
