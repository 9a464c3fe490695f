"""The job that runs a translation: it translates every page of the live content and writes the translated space.

The translator is a command that the operator configures. It reads a page in Markdown from standard input, gets
languages and instructions from PRESSCHECK_SOURCE_LANGUAGE, PRESSCHECK_LANGUAGE and PRESSCHECK_INSTRUCTIONS, and writes
the translated page to standard output. Without a translator, pages are copied, which the statistics show.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import Page, Tree
from presscheck.service.content.revisions import add_document, add_revision, document_texts, documents_of
from presscheck.service.content.serializers import format_page, parse_page
from presscheck.service.db.ids import new_id
from presscheck.service.jobs.queue import JobContext, JobLimits, PermanentFailure, runs
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.imports import TranslationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.spaces.sort_order import last_position

PATIENCE = 300
"""Timeout of the translator for one page, in seconds."""
LONGEST_TITLE = 50


@dataclass
class _Run:
    """The input of a run, and its results so far."""

    source_language: str
    language: str
    instructions: dict[str, Any]
    source: RevisionRow
    texts: dict[str, str]
    translated: dict[str, str] = field(default_factory=dict[str, str])
    words: int = 0
    pages: int = 0


def _record_failure(session: Session, about: str, reason: str, now: str) -> None:
    row = session.get(TranslationRow, about)
    if row is not None:
        row.status, row.updated_at = "completed" if row.result_revision else "pending", now
        row.stats = row.stats | {"failure": reason}


@runs("translation", limits=JobLimits(seconds=2 * 60 * 60), failed=_record_failure)
def translate(work: JobContext) -> None:
    """Translate the live content."""
    run = work.write(lambda session: _begin(session, work))
    if run is None:
        return
    started = time.monotonic()
    tree = _translated(run.source.tree, run, _translator(work, run), work)
    duration = time.monotonic() - started
    work.require_running()
    work.write(lambda session: _save_result(session, work, run, tree, duration))


def _begin(session: Session, work: JobContext) -> _Run | None:
    row = session.get(TranslationRow, work.about)
    space = session.get(SpaceRow, row.source_space) if row else None
    if row is None or space is None:
        return None
    _require_source(row, space)
    row.status = "running"
    live = session.get_one(RevisionRow, space.revision_id)
    texts = document_texts(session, documents_of(live.tree))
    return _Run(row.source_language, row.language, row.instructions, live, texts)


def _require_source(row: TranslationRow, source: SpaceRow) -> None:
    if source.organization_id != row.organization_id or source.deleted_at is not None:
        raise PermanentFailure("the source was deleted, or is in another organization now")


def _translator(work: JobContext, run: _Run) -> Callable[[str], str]:
    command = work.outside.translator
    if not command:
        return str  # no translator: copy the page
    variables = {
        "PRESSCHECK_SOURCE_LANGUAGE": run.source_language,
        "PRESSCHECK_LANGUAGE": run.language,
        "PRESSCHECK_INSTRUCTIONS": json.dumps(run.instructions),
    }

    def by_command(text: str) -> str:
        try:
            ran = subprocess.run(  # noqa: S603  # the command of the operator, without a shell
                command,
                input=text,
                capture_output=True,
                text=True,
                timeout=min(PATIENCE, work.budget.seconds_left()),
                env=os.environ | variables,
                check=True,
            )
        except subprocess.TimeoutExpired:
            work.budget.seconds_left()  # raises if the time of the whole job is over
            raise PermanentFailure(f"the translator timed out: more than {PATIENCE} s for one page") from None
        except subprocess.CalledProcessError as error:
            raise PermanentFailure(f"the translator failed: {str(error.stderr).strip()[-300:]}") from None
        except OSError as error:
            raise PermanentFailure(f"could not start the translator: {error.strerror}") from None
        return ran.stdout

    return by_command


def _translated(tree: Tree, run: _Run, translator: Callable[[str], str], work: JobContext) -> Tree:
    """Translate pages. Return the page tree with translated titles, and add the translated texts to `run`.

    Pages keep their ids so that links keep working.
    """
    pages: Tree = []
    for page in tree:
        work.require_running()
        text = run.texts.get(page.get("documentId", ""), "")
        answer = parse_page(translator(format_page(page["title"], text)))
        if problem := size_problem(answer.body):
            raise PermanentFailure(f"the translation of “{page['title']}” is {problem}")
        translation: Page = page | {"title": answer.title or page["title"]}
        if page.get("documentId"):
            run.translated[page["id"]] = answer.body
            run.words += len(text.split())
        run.pages += 1
        if page.get("pages"):
            translation["pages"] = _translated(page["pages"], run, translator, work)
        pages.append(translation)
    return pages


def _save_result(session: Session, work: JobContext, run: _Run, tree: Tree, duration: float) -> None:
    row = session.get(TranslationRow, work.about)
    if row is None:
        return
    _require_source(row, session.get_one(SpaceRow, row.source_space))
    now = work.now()
    space = session.get(SpaceRow, row.result_space) if row.result_space else None
    if space is None or space.deleted_at is not None or space.organization_id != row.organization_id:
        space = _new_space(session, row, now)
    revision = add_revision(
        session,
        space.id,
        _with_documents(session, tree, run.translated),
        created_at=now,
        created_by=row.created_by,
        parents=[space.revision_id] if space.revision_id else [],
        kind="computed",
        files=run.source.files,
        reusable_contents=run.source.reusable_contents,
        variables=run.source.variables,
    )
    space.revision_id, space.updated_at = revision, now
    session.add(space)
    row.status, row.result_space, row.result_revision, row.updated_at = "completed", space.id, revision, now
    row.stats = _stats(row.stats, run, round(duration), is_copy=not work.outside.translator)


def _new_space(session: Session, row: TranslationRow, now: str) -> SpaceRow:
    source = session.get_one(SpaceRow, row.source_space)
    return SpaceRow(
        id=new_id(),
        organization_id=row.organization_id,
        parent_id=source.parent_id,
        position=last_position(session, row.organization_id, source.parent_id),
        title=f"{source.title[: LONGEST_TITLE - 10]} ({row.language})",
        emoji=source.emoji,
        icon=source.icon,
        language=row.language,
        default_level=source.default_level,
        revision_id="",
        created_by=row.created_by,
        created_at=now,
        updated_at=now,
    )


def _with_documents(session: Session, tree: Tree, texts: dict[str, str]) -> Tree:
    pages: Tree = []
    for page in tree:
        copy = page
        if page["id"] in texts:
            copy = page | {"documentId": add_document(session, texts[page["id"]])}
        if page.get("pages"):
            copy = copy | {"pages": _with_documents(session, page["pages"], texts)}
        pages.append(copy)
    return pages


def _stats(before: dict[str, Any], run: _Run, duration: int, *, is_copy: bool) -> dict[str, Any]:
    return {
        "runs": before.get("runs", 0) + 1,
        "totalWords": before.get("totalWords", 0) + run.words,
        "totalPages": before.get("totalPages", 0) + run.pages,
        "totalDuration": before.get("totalDuration", 0) + duration,
        "latestRunDuration": duration,
        "latestPages": run.pages,
        "latestWords": run.words,
        "copiedOnly": is_copy,
    }
