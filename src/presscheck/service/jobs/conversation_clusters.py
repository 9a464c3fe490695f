"""The job that extracts issues from conversations with readers and groups similar issues into clusters.

The first message of the reader becomes the issue. The title is the subject or else the first sentence, the summary the
first 300 characters. Keywords are words of three or more letters that are not stop words. An issue joins the cluster
with the largest share of common keywords if the share is at least a quarter; otherwise it starts a new cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from presscheck.documents.markdown.search_terms import index_terms
from presscheck.service.db.ids import new_id
from presscheck.service.jobs.queue import JobContext, runs
from presscheck.service.models.imports import ClusterRow, ConversationRow, ReaderIssueRow

ALIKE = 0.25
"""Minimum share of common keywords of similar issues."""
MOST_CLUSTERS = 500
"""Number of clusters, newest first, that an issue is compared with."""
AT_ONCE = 50
"""Number of conversations processed in one transaction."""
LONGEST_TITLE, LONGEST_SUMMARY, MOST_WORDS = 120, 300, 60
LONGEST_QUESTION = 20_000
"""Maximum number of characters of a message that are analyzed."""

_NAMES = (
    "about after all also and any are because been but can cannot could did does doing don for from had has have help "
    "hello her him his how into its just like may more need not now our out please she should some than thank thanks "
    "that the their them then there these they this those trying use using very want was way were what when where "
    "which who why will with would you your"
)
_COMMON = frozenset(_NAMES.split())
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


@runs("conversations")
def read_conversations(work: JobContext) -> None:
    """Process the new conversations of an organization."""
    while work.write(lambda session: _read_some(session, work)):
        work.require_running()


def _read_some(session: Session, work: JobContext) -> int:
    unread = select(ConversationRow).where(
        ConversationRow.organization_id == work.about, ConversationRow.processed_at.is_(None)
    )
    conversations = session.scalars(
        unread.order_by(ConversationRow.created_at, ConversationRow.id).limit(AT_ONCE)
    ).all()
    newest = select(ClusterRow).where(ClusterRow.organization_id == work.about).order_by(ClusterRow.updated_at.desc())
    clusters = list(session.scalars(newest.limit(MOST_CLUSTERS)))
    now = work.now()
    for conversation in conversations:
        of_conversation = ReaderIssueRow.conversation_id == conversation.id
        session.execute(delete(ReaderIssueRow).where(ReaderIssueRow.organization_id == work.about, of_conversation))
        _find_issue(session, conversation, clusters, now)
        conversation.processed_at = now
    session.flush()
    _remove_empty(session, work.about)
    return len(conversations)


def _find_issue(session: Session, conversation: ConversationRow, clusters: list[ClusterRow], now: str) -> None:
    question = next(
        (part["body"] for part in conversation.parts if part["role"] == "user" and part["body"].strip()), None
    )
    if question is None:
        return
    text = " ".join(question[:LONGEST_QUESTION].split())
    title = (conversation.subject or _SENTENCE.split(text)[0])[:LONGEST_TITLE]
    words = significant_words(f"{conversation.subject or ''} {text}")
    cluster = max(clusters, key=lambda candidate: similarity(words, candidate.words), default=None)
    if cluster is None or similarity(words, cluster.words) < ALIKE:
        cluster = ClusterRow(id=new_id(), organization_id=conversation.organization_id, words=words, created_at=now)
        cluster.label, cluster.summary, cluster.updated_at = title, text[:LONGEST_SUMMARY], now
        session.add(cluster)
        session.flush()
        clusters.append(cluster)
    cluster.updated_at = now
    session.add(
        ReaderIssueRow(
            id=new_id(),
            organization_id=conversation.organization_id,
            conversation_id=conversation.id,
            cluster_id=cluster.id,
            title=title,
            summary=text[:LONGEST_SUMMARY],
            words=words,
            created_at=conversation.created_at,
            ingested_at=conversation.ingested_at,
        )
    )


def significant_words(text: str) -> list[str]:
    """Return the keywords of a text in alphabetical order, at most `MOST_WORDS`.

    Common words and words of fewer than three letters are left out.
    """
    return [word for word in index_terms(text) if len(word) > 2 and word not in _COMMON][:MOST_WORDS]


def similarity(words: Iterable[str], other_words: Iterable[str]) -> float:
    """Return the share of the words that are in both collections, from 0 to 1 (Jaccard index)."""
    left, right = set(words), set(other_words)
    return len(left & right) / len(left | right) if left and right else 0.0


def _remove_empty(session: Session, organization_id: str) -> None:
    filled = select(ReaderIssueRow.cluster_id).where(ReaderIssueRow.organization_id == organization_id)
    session.execute(
        delete(ClusterRow).where(ClusterRow.organization_id == organization_id, ClusterRow.id.not_in(filled))
    )
