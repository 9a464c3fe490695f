"""Conversations with readers, and the issues found in them (release 0.146.0 only)."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InOrganization, Model, Operation, Page, Paged
from presscheck.api.roles import Location


class ConversationUrls(Model):
    """The URLs of a conversation."""

    location: str | None = None
    source: str | None = None


class Conversation(Model):
    """A conversation; `source` is email or integration:name:id."""

    object: str = "conversation"
    id: str
    subject: str | None = None
    created_at: str | None = None
    processed_at: str | None = None
    source: str = ""
    urls: ConversationUrls = Field(default_factory=ConversationUrls)


class IssueUrls(Model):
    """The URLs of an issue."""

    location: str | None = None


class ConversationIssue(Model):
    """A problem that a reader described; `conversation` and `cluster` are ids."""

    object: str = "conversation-issue"
    id: str
    title: str = ""
    summary: str = ""
    created_at: str | None = None
    ingested_at: str | None = None
    conversation: str = ""
    cluster: str | None = None
    urls: IssueUrls = Field(default_factory=IssueUrls)


class ClusterStats(Model):
    """The number of issues and conversations of a cluster, and of its tasks by state."""

    issues: int = 0
    conversations: int = 0
    tasks_total: int = 0
    tasks_backlog: int = 0
    tasks_started: int = 0
    tasks_completed: int = 0
    tasks_cancelled: int = 0


class IssuesCluster(Model):
    """A group of similar issues; `weekly_pulse` is the number of issues per week over three months."""

    object: str = "issues-cluster"
    id: str
    label: str = ""
    created_at: str | None = None
    updated_at: str | None = None
    icon: str | None = None
    summary: str = ""
    weekly_pulse: tuple[float, ...] = ()
    sources: dict[str, Any] | None = None
    stats: ClusterStats = Field(default_factory=ClusterStats)
    urls: Location = Field(default_factory=Location)


class IssueInConversation(Model):
    """An issue and its conversation."""

    issue: ConversationIssue
    conversation: Conversation


class ConversationPart(Model):
    """One message; `role` is user, assistant or team-member."""

    type: str = "message"
    role: str = ""
    body: str = ""


class ConversationMetadata(Model):
    """The URL, the attributes and the time of a conversation."""

    url: str | None = None
    attributes: dict[str, Any] | None = None
    created_at: str | None = None


class WholeConversation(Model):
    """A conversation with all its messages."""

    conversation: Conversation
    parts: tuple[ConversationPart, ...] = ()
    metadata: ConversationMetadata = Field(default_factory=ConversationMetadata)


class Message(Argument):
    """A message to import."""

    always_sent = frozenset({"type"})

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "team-member"]
    body: str


class Metadata(Argument):
    """The URL, the attributes and the time of a conversation to import; `created_at` is in ISO 8601."""

    url: str | None = None
    attributes: dict[str, str] | None = None
    created_at: str | None = None


class NewConversation(Argument):
    """A conversation to import: an id of 1 to 255 characters, a subject of at most 512."""

    id: str = Field(min_length=1, max_length=255)
    metadata: Metadata | None = None
    subject: str | None = Field(default=None, max_length=512)
    parts: tuple[Message, ...]


class ListIssuesClusters(InOrganization, Paged, Operation[Page[IssuesCluster]]):
    """List the clusters of similar issues.

    Newest first unless `order` and `order_by` are given.
    """

    operation_id = "listConversationsIssuesClusters"
    route = "GET /orgs/{organization_id}/conversations-clusters"
    release = "0.146.0"

    order: Literal["asc", "desc"] | None = None
    order_by: Literal["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"] | None = (
        None
    )
    status: Literal["pending", "analysing"] | None = None


class ListConversations(InOrganization, Paged, Operation[Page[Conversation]]):
    """List the conversations of an organization.

    `source` filters by where they come from.
    """

    operation_id = "listConversations"
    route = "GET /orgs/{organization_id}/conversations"
    release = "0.146.0"

    source: str | None = None


class IngestConversations(InOrganization, Operation[None]):
    """Import one conversation or several.

    Requires the token of an integration's installation.
    """

    operation_id = "ingestConversation"
    route = "POST /orgs/{organization_id}/conversations"
    success = 204
    body_field = "conversations"
    release = "0.146.0"

    conversations: NewConversation | tuple[NewConversation, ...]


class ListConversationIssues(InOrganization, Paged, Operation[Page[IssueInConversation]]):
    """List the issues found in conversations.

    Lists the issues of an organization, of one cluster or of one conversation.
    """

    operation_id = "listConversationsIssues"
    route = "GET /orgs/{organization_id}/conversations-issues"
    release = "0.146.0"

    cluster: str | None = None
    conversation: str | None = None


class GetConversationIssue(InOrganization, Operation[IssueInConversation]):
    """Get an issue found in conversations."""

    operation_id = "getConversationIssueById"
    route = "GET /orgs/{organization_id}/conversations-issues/{issue_id}"
    release = "0.146.0"

    issue_id: str


class GetConversation(InOrganization, Operation[WholeConversation]):
    """Get a conversation with its messages."""

    operation_id = "getConversationById"
    route = "GET /orgs/{organization_id}/conversations/{conversation_id}"
    release = "0.146.0"

    conversation_id: str
