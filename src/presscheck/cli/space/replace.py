"""`presscheck space replace`: finds and replaces text in all pages of a space, as one change request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.spaces import Space
from presscheck.cli import lookup
from presscheck.cli.output import print_line, print_message
from presscheck.cli.session import Session, with_session
from presscheck.documents.pages.replacement import CAREFUL_KINDS, Hit, Kind, Query, surroundings
from presscheck.engine.replacement.application import PageEdit, apply_edits, edits_of
from presscheck.engine.replacement.pattern_search import subject_of
from presscheck.engine.replacement.space_search import (
    PageHits,
    Place,
    SpaceHits,
    page_names,
    search_space,
)
from presscheck.errors import ChangedSince, IncompleteList, InvalidArgument, NotNow, ReadOnly
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

SUBJECT = 100
"""Maximum number of characters of a subject."""
AROUND = 40
"""Number of characters printed before and after a hit."""
OPTIONS: Mapping[Kind, tuple[str, str]] = {
    "front matter": ("front matter", "--in-front-matter"),
    "link target": ("targets of links", "--in-links"),
}
"""For kinds of hits that are not replaced by default: their name and the option that replaces them."""
ARGUMENTS = {"find": "FIND", "replacement": "REPLACEMENT"}
"""The arguments of the command, by the field of the query."""


@click.command("replace")
@click.argument("space")
@click.argument("find")
@click.argument("replacement")
@click.option("--cr", metavar="SPACE#NUMBER", help="Search and edit this change request: its number is enough.")
@click.option("--subject", metavar="TEXT", help="Subject of the new change request; at most 100 characters.")
@click.option("--regex", is_flag=True, help="FIND is a regular expression of Python.")
@click.option("--ignore-case", is_flag=True, help="Do not distinguish capital and small letters.")
@click.option("--word", is_flag=True, help="Find whole words only.")
@click.option("--in-code", is_flag=True, help="Also replace in code.")
@click.option("--in-front-matter", is_flag=True, help="Also replace in front matter.")
@click.option("--in-links", is_flag=True, help="Also replace in the targets of links.")
@click.option("--dry-run", is_flag=True, help="Print the hits; send nothing.")
@with_session
async def replace_text(
    session: Session,
    space: str,
    find: str,
    replacement: str,
    cr: str | None,
    subject: str | None,
    *,
    regex: bool,
    ignore_case: bool,
    word: bool,
    in_code: bool,
    in_front_matter: bool,
    in_links: bool,
    dry_run: bool,
) -> None:
    """Find and replace text in all pages of a space.

    The edits go into a new change request, or into the one given with --cr. Titles and descriptions are searched,
    too. With --regex, \\1 in REPLACEMENT is the first group of FIND, and ^ and $ match at each line.
    """
    _check_subject(cr, subject)
    if session.profile.read_only and not dry_run:
        raise ReadOnly
    owner = await lookup.space(session, space)
    request = await _request(session, owner, cr) if cr is not None else None
    query = Query(find, replacement, not ignore_case, word, regex, in_code)
    place = Place(owner.id, request.id if request else None)
    try:
        hits = await search_space(session.engine, place, query, lambda _: None)
    except InvalidArgument as error:
        raise InvalidArgument(ARGUMENTS.get(error.field, error.field), error.reason) from None
    left_out = CAREFUL_KINDS - {
        kind for kind, is_in in (("front matter", in_front_matter), ("link target", in_links)) if is_in
    }
    chosen = {page.page.id: [hit for hit in page.hits if hit.kind not in left_out] for page in hits.pages}
    _print_messages(session, hits, left_out)
    edits = edits_of(hits.pages, chosen)
    done = f"{count(sum(len(edit.hits) for edit in edits), 'hit')} on {count(len(edits), 'page')}"
    if not edits:
        print_message(f"No hits on {count(hits.searched, 'page')}.")
    elif dry_run:
        print_message(f"{done}; nothing was sent.")
    else:
        request = await _apply(session, place, request, edits, subject or subject_of(query, SUBJECT))
        print_message(f"Replaced {done} in #{request.number}.")
    if session.json:
        session.show(_as_json(query, hits, chosen, request))
    elif dry_run:
        _print_hits(hits, chosen)
    elif edits and request:
        click.echo(f"{owner.id}#{request.number}")
    if hits.unread:
        names = f"{count(len(hits.unread), 'page')} not searched: {page_names(hits.unread)}"
        session.add_incomplete(IncompleteList(names, request=f"GET {owner.title}"))


def _check_subject(cr: str | None, subject: str | None) -> None:
    if cr is not None and subject is not None:
        raise InvalidArgument("--subject", "only a new change request gets a subject: leave out --cr or --subject")
    if subject is not None and not 0 < len(subject.strip()) <= SUBJECT:
        raise InvalidArgument("--subject", f"must have 1 to {SUBJECT} characters")


async def _apply(
    session: Session, place: Place, request: ChangeRequest | None, edits: list[PageEdit], subject: str
) -> ChangeRequest:
    """Send the edits. Return the change request.

    Raises:
        ChangedSince: a page was edited after it was searched; nothing was sent.
        NotNow: there is no connection.
    """
    if not session.engine.status.online:
        raise NotNow("You are offline, and edits cannot be queued. --dry-run prints the hits in the cache")
    applied = await apply_edits(session.engine, place, request, edits, subject.strip())
    edited = [edit.page.page.title for edit in edits if edit.page.page.id in applied.edited]
    if applied.request is None or edited:
        created = f" #{applied.request.number} was created, and is empty." if applied.request and not request else ""
        raise ChangedSince(f"Nothing was replaced: {', '.join(edited)} changed in the meantime.{created} Try again")
    return applied.request


async def _request(session: Session, owner: Space, named: str) -> ChangeRequest:
    """Find the change request of --cr, by its number or as `lookup.change_request` does.

    Raises:
        InvalidArgument: the change request is in another space.
    """
    number = named.lstrip("#")
    if number.isdigit():
        return await session.read(GetChangeRequest(space_id=owner.id, change_request_id=number))
    request = await lookup.change_request(session, named)
    if request.space != owner.id:
        raise InvalidArgument("--cr", f"{named} is not in {owner.title}")
    return request


def _print_messages(session: Session, hits: SpaceHits, left_out: frozenset[Kind]) -> None:
    if hits.is_offline:
        session.print_offline("searched the pages in the cache")
    kinds = Counter(hit.kind for page in hits.pages for hit in page.hits if hit.kind in left_out)
    for kind, (place, option) in OPTIONS.items():
        if kinds[kind]:
            print_message(f"{count(kinds[kind], 'hit')} in {place} left out: {option} replaces them.")


def _print_hits(hits: SpaceHits, chosen: dict[str, list[Hit]]) -> None:
    for page in hits.pages:
        for hit in chosen[page.page.id]:
            _print_hit(page, hit)


def _print_hit(page: PageHits, hit: Hit) -> None:
    """Print a hit as `page:line: text [-old-]{+new+} text`."""
    around = surroundings(page.text, hit, AROUND)
    where = hit.kind if hit.kind in ("title", "description") else str(hit.line)
    before, old, new, after = (sanitize(text) for text in (around.before, hit.old, hit.new, around.after))
    name = sanitize(page.page.path or page.page.title or page.page.id)
    added = (Span(f"{{+{new}+}}", "added"),) if new else ()
    print_line((Span(f"{name}:{where}: ", "quiet"), Span(before), Span(f"[-{old}-]", "removed"), *added, Span(after)))


def _as_json(
    query: Query, hits: SpaceHits, chosen: dict[str, list[Hit]], request: ChangeRequest | None
) -> dict[str, Any]:
    """Return the hits as plain data; `changeRequest` is null if main was searched and nothing was edited."""
    return {
        "query": {
            "find": query.find,
            "replacement": query.replacement,
            "matchCase": query.match_case,
            "wholeWords": query.whole_words,
            "regex": query.is_regex,
            "inCode": query.in_code,
        },
        "changeRequest": request,
        "searched": hits.searched,
        "pages": [
            {
                "id": page.page.id,
                "title": page.page.title,
                "path": page.page.path,
                "hits": [_hit_as_json(page, hit) for hit in chosen[page.page.id]],
            }
            for page in hits.pages
            if chosen[page.page.id]
        ],
        "unread": [{"id": page.page.id, "title": page.page.title, "reason": page.reason} for page in hits.unread],
    }


def _hit_as_json(page: PageHits, hit: Hit) -> dict[str, Any]:
    around = surroundings(page.text, hit, AROUND)
    return {
        "kind": hit.kind,
        "line": hit.line,
        "before": around.before,
        "old": hit.old,
        "new": hit.new,
        "after": around.after,
    }
