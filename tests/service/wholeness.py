"""What must hold in a database whatever happened to it: nothing in it is there by half, nothing twice, no gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import walk
from presscheck.service.blobs import blob_path
from presscheck.service.content_tables import (
    ChangeRequestRow,
    CommentRow,
    ContributorRow,
    DocumentRow,
    RevisionRow,
)
from presscheck.service.tables import SpaceRow


def demand_whole(session: Session, data: Path, space_id: str) -> None:
    """A space, its history and its change requests agree with each other."""
    space = session.get_one(SpaceRow, space_id)
    requests = session.scalars(select(ChangeRequestRow).where(ChangeRequestRow.space_id == space_id)).all()
    revisions = {row.id: row for row in session.scalars(select(RevisionRow).where(RevisionRow.space_id == space_id))}
    assert requests
    assert sorted(one.number for one in requests) == list(range(1, space.numbered + 1)), "a gap, or a double"
    merged = [one for one in requests if one.status == "merged"]
    history = lineage(revisions, space.revision_id)
    live = [one for one in history if revisions[one].type == "merge"]
    assert sorted(live) == sorted(one.revision_merged or "" for one in merged), "each merge is live once"
    assert sorted(live) == sorted(one.id for one in revisions.values() if one.type == "merge"), "no merge is beside it"
    for one in merged:
        made = revisions[one.revision_merged or ""]
        assert (made.merged_from, made.parents[1], made.created_by) == (one.id, one.revision, one.merged_by)
        assert one.merged_at
    for one in requests:
        assert one.revision_initial in lineage(revisions, one.revision)
        assert one.status == "merged" or (one.merged_at, one.merged_by, one.revision_merged) == (None, None, None)
    demand_edits_counted(session, requests, revisions)
    demand_kept(session, data, revisions)


def lineage(revisions: dict[str, RevisionRow], newest: str) -> list[str]:
    """A revision, and each that it followed on its own line."""
    found = [newest]
    while parents := revisions[found[-1]].parents:
        found.append(parents[0])
    return found


def demand_edits_counted(
    session: Session, requests: Sequence[ChangeRequestRow], revisions: dict[str, RevisionRow]
) -> None:
    """Each edit is one revision, and counted once for who made it."""
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


def demand_comments_counted(session: Session) -> None:
    """As many as were written, where nobody deletes and nobody replies."""
    written = select(CommentRow.change_request_id, CommentRow.posted_by, func.count()).group_by(
        CommentRow.change_request_id, CommentRow.posted_by
    )
    counted = select(ContributorRow.change_request_id, ContributorRow.user_id, ContributorRow.count).where(
        ContributorRow.action == "comment"
    )
    assert sorted(map(tuple, session.execute(written))) == sorted(map(tuple, session.execute(counted)))


def demand_kept(session: Session, data: Path, revisions: dict[str, RevisionRow]) -> None:
    """What a revision refers to is there: its texts in the database, its files on the disk."""
    texts = set(session.scalars(select(DocumentRow.id)))
    for revision in revisions.values():
        assert {at.page["documentId"] for at in walk(revision.tree) if at.page.get("documentId")} <= texts
        for file in revision.files:
            path = blob_path(data, file["content"])
            assert path and path.stat().st_size == file["size"]
