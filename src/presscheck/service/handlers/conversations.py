"""Conversations with readers, the issues found in them, and clusters of similar issues.

Reading requires the read role. Adding conversations requires the edit role, or an integration with the scope for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from presscheck.api.conversations import (
    ClusterStats,
    Conversation,
    ConversationIssue,
    ConversationMetadata,
    ConversationPart,
    ConversationUrls,
    GetConversation,
    GetConversationIssue,
    IngestConversations,
    IssueInConversation,
    IssuesCluster,
    IssueUrls,
    ListConversationIssues,
    ListConversations,
    ListIssuesClusters,
    WholeConversation,
)
from presscheck.api.operation import Page
from presscheck.api.roles import Location
from presscheck.service.http.operations import ApiError, Context, handles, moment_of, not_found
from presscheck.service.http.pagination import page_of_items, page_of_rows
from presscheck.service.jobs.queue import enter_job
from presscheck.service.models.imports import ClusterRow, ConversationRow, ReaderIssueRow
from presscheck.service.permissions import organization_for

WEEKS = 13
"""Number of weeks in the history of a cluster."""
MOST_PARTS = 500


@handles(ListConversations)
def list_conversations(context: Context, call: ListConversations) -> Page[Conversation]:
    """List the conversations of an organization, newest first."""
    organization = organization_for(context, call.organization_id)
    rows = select(ConversationRow).where(ConversationRow.organization_id == organization.id)
    if call.source is not None:
        rows = rows.where(ConversationRow.source == call.source)
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [_as_conversation(context, row) for row in page_rows],
        order=(ConversationRow.created_at, ConversationRow.id),
        newest_first=True,
    )


@handles(IngestConversations)
def ingest_conversations(context: Context, call: IngestConversations) -> None:
    """Add or update conversations. A background job extracts their issues."""
    organization = organization_for(context, call.organization_id, "edit")
    now = context.now()
    for conversation in call.conversations if isinstance(call.conversations, tuple) else (call.conversations,):
        if len(conversation.parts) > MOST_PARTS:
            raise ApiError(400, f"parts: must have at most {MOST_PARTS} items")
        row = context.session.get(ConversationRow, (organization.id, conversation.id))
        if row is None:
            row = ConversationRow(organization_id=organization.id, id=conversation.id, source="email")
            context.session.add(row)
        metadata = conversation.metadata
        row.subject, row.processed_at = conversation.subject, None
        row.url = metadata.url if metadata else None
        row.attributes = (metadata.attributes if metadata else None) or {}
        posted = metadata.created_at if metadata else None
        row.created_at = now if posted is None else moment_of("metadata.createdAt", posted)
        row.parts = [part.model_dump() for part in conversation.parts]
        row.ingested_at = now
    enter_job(context.session, "conversations", organization.id, now=now, organization_id=organization.id)


@handles(GetConversation)
def get_conversation(context: Context, call: GetConversation) -> WholeConversation:
    """Return a conversation with its messages."""
    organization_for(context, call.organization_id)
    row = context.session.get(ConversationRow, (call.organization_id, call.conversation_id))
    if row is None:
        raise not_found("conversation")
    return WholeConversation(
        conversation=_as_conversation(context, row),
        parts=tuple(ConversationPart.model_validate(part) for part in row.parts),
        metadata=ConversationMetadata(url=row.url, attributes=row.attributes or None, created_at=row.created_at),
    )


@handles(ListConversationIssues)
def list_issues(context: Context, call: ListConversationIssues) -> Page[IssueInConversation]:
    """List the issues of an organization, newest first."""
    organization = organization_for(context, call.organization_id)
    rows = select(ReaderIssueRow).where(ReaderIssueRow.organization_id == organization.id)
    if call.cluster is not None:
        rows = rows.where(ReaderIssueRow.cluster_id == call.cluster)
    if call.conversation is not None:
        rows = rows.where(ReaderIssueRow.conversation_id == call.conversation)
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: _as_issues(context, organization.id, page_rows),
        order=(ReaderIssueRow.created_at, ReaderIssueRow.id),
        newest_first=True,
    )


@handles(GetConversationIssue)
def get_issue(context: Context, call: GetConversationIssue) -> IssueInConversation:
    """Return an issue."""
    organization_for(context, call.organization_id)
    row = context.session.get(ReaderIssueRow, call.issue_id)
    if row is None or row.organization_id != call.organization_id:
        raise not_found("issue")
    return _as_issues(context, call.organization_id, [row])[0]


@handles(ListIssuesClusters)
def list_clusters(context: Context, call: ListIssuesClusters) -> Page[IssuesCluster]:
    """List the clusters of an organization in the requested order.

    The list is empty if the call has a status, because no stored cluster is pending or being analyzed.
    """
    organization = organization_for(context, call.organization_id)
    rows = context.session.scalars(select(ClusterRow).where(ClusterRow.organization_id == organization.id)).all()
    clusters = _as_clusters(context, organization.id, rows) if call.status is None else []
    clusters.sort(
        key=lambda cluster: (_rank(cluster, call.order_by or "updatedAt"), cluster.id), reverse=call.order != "asc"
    )
    return page_of_items(call, clusters)


def _rank(cluster: IssuesCluster, order_by: str) -> Any:
    if order_by == "updatedAt":
        return cluster.updated_at or ""
    return {"issues": cluster.stats.issues, "conversations": cluster.stats.conversations}.get(order_by, 0)


def _as_conversation(context: Context, row: ConversationRow) -> Conversation:
    location = context.location(f"/orgs/{row.organization_id}/conversations/{row.id}")
    return Conversation(
        id=row.id,
        subject=row.subject,
        created_at=row.created_at,
        processed_at=row.processed_at,
        source=row.source,
        urls=ConversationUrls(location=location, source=row.url),
    )


def _as_issues(context: Context, organization_id: str, rows: Sequence[ReaderIssueRow]) -> list[IssueInConversation]:
    keys = {row.conversation_id for row in rows}
    conversations = select(ConversationRow).where(
        ConversationRow.organization_id == organization_id, ConversationRow.id.in_(keys)
    )
    conversations_by_id = {row.id: row for row in context.session.scalars(conversations)}
    return [
        IssueInConversation(
            issue=ConversationIssue(
                id=row.id,
                title=row.title,
                summary=row.summary,
                created_at=row.created_at,
                ingested_at=row.ingested_at,
                conversation=row.conversation_id,
                cluster=row.cluster_id,
                urls=IssueUrls(location=context.location(f"/orgs/{organization_id}/conversations-issues/{row.id}")),
            ),
            conversation=_as_conversation(context, conversations_by_id[row.conversation_id]),
        )
        for row in rows
    ]


def _as_clusters(context: Context, organization_id: str, rows: Sequence[ClusterRow]) -> list[IssuesCluster]:
    issues: dict[str, list[ReaderIssueRow]] = {}
    for issue in context.session.scalars(
        select(ReaderIssueRow).where(ReaderIssueRow.organization_id == organization_id)
    ):
        issues.setdefault(issue.cluster_id, []).append(issue)
    query = select(ConversationRow.id, ConversationRow.source).where(ConversationRow.organization_id == organization_id)
    sources: dict[str, str] = dict(context.session.execute(query).all())
    return [_as_cluster(context, row, issues.get(row.id, []), sources) for row in rows]


def _as_cluster(
    context: Context, row: ClusterRow, issues: Sequence[ReaderIssueRow], sources: dict[str, str]
) -> IssuesCluster:
    conversations = {issue.conversation_id for issue in issues}
    path = f"/orgs/{row.organization_id}/conversations-clusters/{row.id}"
    return IssuesCluster(
        id=row.id,
        label=row.label,
        summary=row.summary,
        icon="comments",
        created_at=row.created_at,
        updated_at=row.updated_at,
        weekly_pulse=_pulse(context, issues),
        sources=dict(Counter(sources.get(conversation, "email") for conversation in conversations)),
        stats=ClusterStats(issues=len(issues), conversations=len(conversations)),
        urls=Location(location=context.location(path), app=context.app(f"/conversations/clusters/{row.id}")),
    )


def _pulse(context: Context, issues: Sequence[ReaderIssueRow]) -> tuple[float, ...]:
    """Return the number of issues in each of the last `WEEKS` weeks, oldest first."""
    now, week = context.clock(), timedelta(days=7)
    counted = Counter(int((now - datetime.fromisoformat(issue.created_at)) / week) for issue in issues)
    return tuple(float(counted[WEEKS - 1 - number]) for number in range(WEEKS))
