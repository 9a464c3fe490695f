"""The job that runs an import: it fetches all content and then adds it to a change request in one transaction."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from presscheck.api.comments import Document
from presscheck.api.content_changes import InsertPage, PageRef, UpdatePage
from presscheck.documents.pages.tree import Tree, walk, with_slugs
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.content.editor import ContentEdit
from presscheck.service.content.revision_content import known_content
from presscheck.service.handlers.change_requests import begin_change_request
from presscheck.service.handlers.content_changes import write_edit
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.jobs.queue import JobCancelled, JobContext, JobLimits, PermanentFailure, runs
from presscheck.service.jobs.web_crawler import Crawl, CrawledPage, read_file
from presscheck.service.models.imports import ImportRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import change_request_for

LONGEST_TITLE = 200


class ImportSource(NamedTuple):
    """The source of an import: a website, or the URLs of files."""

    website: str | None
    files: tuple[str, ...]


def _record_failure(session: Session, about: str, reason: str, now: str) -> None:
    row = session.get(ImportRow, about)
    if row is not None:
        row.status, row.reason, row.completed_at = "failed", reason, now


@runs("import", limits=JobLimits(seconds=15 * 60), failed=_record_failure)
def import_pages(work: JobContext) -> None:
    """Import the pages of a website, or the files at some URLs."""
    request = work.write(lambda session: _begin(session, work))
    if request is None:
        return
    note = None
    if request.website:
        crawl = Crawl(work, request.website)
        pages, note = crawl.pages(), crawl.note()
    else:
        pages = [read_file(work, file) for file in request.files]
    if not pages:
        raise PermanentFailure("found no readable page at this URL")
    try:
        work.write(lambda session: _add_pages(session, work, pages, note))
    except ApiError as problem:  # the space was locked, the change request merged or the role revoked
        raise PermanentFailure(problem.message) from None


def _begin(session: Session, work: JobContext) -> ImportSource | None:
    row = session.get(ImportRow, work.about)
    if row is None or row.status not in ("pending", "in-progress"):
        return None
    row.status, row.started_at = "in-progress", row.started_at or work.now()
    return ImportSource(row.source.get("url"), tuple(row.source.get("files") or ()))


def _add_pages(session: Session, work: JobContext, pages: list[CrawledPage], note: str | None) -> None:
    row = session.get(ImportRow, work.about)
    if row is None or row.status != "in-progress":
        raise JobCancelled("cancelled")
    files = StagedFiles(work.files)
    context = Context(session, session.get_one(UserRow, row.created_by), "", work.clock, files)
    space = space_for(context, row.space_id, "edit")
    if row.change_request_id is None:
        row.change_request_id = begin_change_request(context, space, f"Import from {_host(pages[0].url)}"[:100]).id
    _, branch = change_request_for(context, space.id, row.change_request_id, "edit")  # pyrefly: ignore[bad-argument-type]
    edit = ContentEdit(context, branch, known_content(context, branch.revision))
    edit.apply(_insertions(pages, row.page_id))
    page_ids = {source.url: page for source, page in zip(pages, _pages_of(edit), strict=True)}
    edit.apply(_texts(pages, page_ids, edit.tree))
    write_edit(context, space, branch, edit)
    row.pages = [
        {"id": page_ids[page.url], "sourceURL": page.url, "type": "page", "status": "complete"} for page in pages
    ]
    row.status, row.reason, row.completed_at = "completed", note, work.now()
    files.require_stored(session)


def _pages_of(edit: ContentEdit) -> list[str]:
    return [result.page.id if isinstance(result.page, PageRef) else str(result.page) for result in edit.written]


def _insertions(pages: list[CrawledPage], below: str | None) -> list[InsertPage]:
    """Return the changes that insert the pages, still empty, into their parent pages, or else into the page `below`."""
    return [
        InsertPage(
            document=Document(markdown=""),
            title=page.title[:LONGEST_TITLE] or "Untitled",
            slug=page.slug,
            into=page.above or below,
            ref=page.url,
        )
        for page in pages
    ]


def _texts(pages: list[CrawledPage], ids: dict[str, str], tree: Tree) -> list[UpdatePage]:
    """Return the changes that add the texts to the pages. Links between imported pages lead to the new pages."""
    paths = {place.page["id"]: place.path for place in walk(with_slugs(tree, []))}
    addresses = {url: f"/{paths[page]}" for url, page in ids.items()}
    return [
        UpdatePage(
            page=ids[page.url], document=Document(markdown=page.markdown(addresses)), title=page.title or "Untitled"
        )
        for page in pages
    ]


def _host(url: str) -> Any:
    return urlsplit(url).hostname or "files"
