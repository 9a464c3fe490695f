"""Invariants of a database: no incomplete writes, no duplicates, no gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import walk
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ContributorRow, DocumentRow, RevisionRow
from presscheck.service.models.spaces import SpaceRow


def require_complete(session: Session, data: Path, space_id: str) -> None:
    """Fail unless a space, its history and its change requests are consistent."""
    space = session.get_one(SpaceRow, space_id)
    requests = session.scalars(select(ChangeRequestRow).where(ChangeRequestRow.space_id == space_id)).all()
    revisions = {row.id: row for row in session.scalars(select(RevisionRow).where(RevisionRow.space_id == space_id))}
    assert requests
    assert sorted(request.number for request in requests) == list(range(1, space.numbered + 1)), (
        "numbers have a gap or a duplicate"
    )
    merged = [request for request in requests if request.status == "merged"]
    history = lineage(revisions, space.revision_id)
    live = [one for one in history if revisions[one].type == "merge"]
    assert sorted(live) == sorted(one.revision_merged or "" for one in merged), "each merge must be live once"
    assert sorted(live) == sorted(revision.id for revision in revisions.values() if revision.type == "merge"), (
        "a merge is outside the live history"
    )
    for one in merged:
        made = revisions[one.revision_merged or ""]
        assert (made.merged_from, made.parents[1], made.created_by) == (one.id, one.revision, one.merged_by)
        assert one.merged_at
    for one in requests:
        assert one.revision_initial in lineage(revisions, one.revision)
        assert one.status == "merged" or (one.merged_at, one.merged_by, one.revision_merged) == (None, None, None)
    require_edits_counted(session, requests, revisions)
    require_kept(session, data, revisions)


def lineage(revisions: dict[str, RevisionRow], newest: str) -> list[str]:
    """Return the ids of a revision and of its first parents, newest first."""
    found = [newest]
    while parents := revisions[found[-1]].parents:
        found.append(parents[0])
    return found


def require_edits_counted(
    session: Session, requests: Sequence[ChangeRequestRow], revisions: dict[str, RevisionRow]
) -> None:
    """Fail unless each revision with edits is counted once for its author."""
    there: Counter[tuple[str, str | None]] = Counter()
    for row in requests:
        for one in map(revisions.__getitem__, lineage(revisions, row.revision)):
            if one.id == row.revision_initial:
                break
            if one.type == "edits":
                there[row.id, one.created_by] += 1
    rows = session.scalars(select(ContributorRow).where(ContributorRow.action == "edit"))
    counted = {(row.change_request_id, row.user_id): row.count for row in rows}
    mine = {row.id for row in requests}
    assert {key: count for key, count in counted.items() if key[0] in mine} == dict(there)


def require_comments_counted(session: Session) -> None:
    """Fail unless the counted comments are right; only valid if there are no replies and no deletions."""
    written = select(CommentRow.change_request_id, CommentRow.posted_by, func.count()).group_by(
        CommentRow.change_request_id, CommentRow.posted_by
    )
    counted = select(ContributorRow.change_request_id, ContributorRow.user_id, ContributorRow.count).where(
        ContributorRow.action == "comment"
    )
    assert sorted(map(tuple, session.execute(written))) == sorted(map(tuple, session.execute(counted)))


def require_kept(session: Session, data: Path, revisions: dict[str, RevisionRow]) -> None:
    """Fail unless the texts of all revisions are in the database and their files on disk."""
    texts = set(session.scalars(select(DocumentRow.id)))
    for revision in revisions.values():
        assert {at.page["documentId"] for at in walk(revision.tree) if at.page.get("documentId")} <= texts
        for file in revision.files:
            path = DiskBlobStore(data).path(file["content"])
            assert path and path.stat().st_size == file["size"]
