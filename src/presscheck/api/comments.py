"""Comments and replies on change requests and on the live content of spaces."""

from typing import Literal

from pydantic import Field

from presscheck.api.operation import Argument, InChangeRequest, InSpace, Model, Operation, Page, Paged
from presscheck.api.organizations import OrganizationMember
from presscheck.api.roles import Document, Location
from presscheck.api.users import Contribution, User

Format = Literal["document", "markdown"]
"""The format of bodies in the response; chosen by the service if not given."""
CommentFilter = Literal["all", "open", "resolved"]
"""The comments to list; ``all`` by default."""


class ReactionUser(Model):
    """A user who reacted, and the time."""

    user: User
    reacted_at: str | None = None


class Reaction(Model):
    """The users who reacted to a comment with the same emoji."""

    emoji: str
    count: int = 0
    users: tuple[ReactionUser, ...] = ()


class CommentPermissions(Model):
    """The caller's permissions for a comment or a reply."""

    view: bool = False
    edit: bool = False
    reply: bool | None = None
    delete: bool = False


class Pointer(Model):
    """An object with only an id."""

    id: str | None = None


class TableCell(Model):
    """A cell of a table in a page."""

    record: str
    definition: str


class CommentTarget(Model):
    """The target of a comment: a page or one of its nodes, in a revision, or the review that the comment is part of."""

    node: Pointer | None = None
    table_cell: TableCell | None = None
    change_request: str | None = None
    review: str | None = None
    page: Pointer | None = None
    space: str | None = None
    revision: str | None = None


class Comment(Model):
    """A comment; `status` is open or resolved, `replies` is the number of replies."""

    object: str = "comment"
    id: str
    posted_by: User
    posted_at: str = ""
    edited_at: str | None = None
    reactions: tuple[Reaction, ...] = ()
    replies: int = 0
    repliers: tuple[Contribution, ...] = ()
    body: Document = Field(default_factory=Document)
    target: CommentTarget = Field(default_factory=CommentTarget)
    status: str = "open"
    resolved_at: str | None = None
    resolved_by: User | None = None
    urls: Location = Field(default_factory=Location)
    permissions: CommentPermissions = Field(default_factory=CommentPermissions)


class CommentReply(Model):
    """A reply to a comment."""

    object: str = "comment-reply"
    id: str
    posted_by: User
    posted_at: str = ""
    edited_at: str | None = None
    reactions: tuple[Reaction, ...] = ()
    body: Document = Field(default_factory=Document)
    urls: Location = Field(default_factory=Location)
    permissions: CommentPermissions = Field(default_factory=CommentPermissions)


class TableCellTarget(Argument):
    """The cell of a table to which a new comment refers."""

    record: str
    definition: str


class ListComments(InChangeRequest, Paged, Operation[Page[Comment]]):
    """List the comments on a change request.

    Newest first unless `order` is given.
    """

    operation_id = "listCommentsInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/comments"

    order: Literal["asc", "desc"] | None = None
    format: Format | None = None
    status: CommentFilter | None = None
    target_page: str | None = None
    authors: tuple[str, ...] | None = None


class PostComment(InChangeRequest, Operation[Comment]):
    """Comment on a change request.

    `page`, `node` and `table_cell` choose a place in it.
    """

    operation_id = "postCommentInChangeRequest"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/comments"

    body: Document
    page: str | None = None
    node: str | None = None
    table_cell: TableCellTarget | None = None


class GetComment(InChangeRequest, Operation[Comment]):
    """Get a comment on a change request."""

    operation_id = "getCommentInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}"

    comment_id: str
    format: Format | None = None


class UpdateComment(InChangeRequest, Operation[Comment]):
    """Edit, resolve, reopen or react to a comment.

    Fails with 403 if the text to edit is by another user.
    """

    operation_id = "updateCommentInChangeRequest"
    route = "PUT /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}"

    comment_id: str
    resolved: bool | None = None
    body: Document | None = None
    added_reactions: tuple[str, ...] | None = None
    removed_reactions: tuple[str, ...] | None = None


class DeleteComment(InChangeRequest, Operation[None]):
    """Delete a comment on a change request.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteCommentInChangeRequest"
    route = "DELETE /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}"
    success = 204

    comment_id: str


class ListReplies(InChangeRequest, Paged, Operation[Page[CommentReply]]):
    """List the replies to a comment on a change request."""

    operation_id = "listCommentRepliesInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}/replies"

    comment_id: str
    format: Format | None = None


class PostReply(InChangeRequest, Operation[CommentReply]):
    """Reply to a comment on a change request."""

    operation_id = "postCommentReplyInChangeRequest"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}/replies"
    in_query = frozenset({"format"})

    comment_id: str
    body: Document
    format: Format | None = None


class GetReply(InChangeRequest, Operation[CommentReply]):
    """Get a reply on a change request."""

    operation_id = "getCommentReplyInChangeRequest"
    route = (
        "GET /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}/replies/{comment_reply_id}"
    )

    comment_id: str
    comment_reply_id: str
    format: Format | None = None


class UpdateReply(InChangeRequest, Operation[CommentReply]):
    """Edit or react to a reply.

    Fails with 403 if the text to edit is by another user.
    """

    operation_id = "updateCommentReplyInChangeRequest"
    route = (
        "PUT /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}/replies/{comment_reply_id}"
    )
    feature = "editing of replies"

    comment_id: str
    comment_reply_id: str
    resolved: bool | None = None
    body: Document | None = None
    added_reactions: tuple[str, ...] | None = None
    removed_reactions: tuple[str, ...] | None = None


class DeleteReply(InChangeRequest, Operation[None]):
    """Delete a reply on a change request.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteCommentReplyInChangeRequest"
    route = (
        "DELETE /spaces/{space_id}/change-requests/{change_request_id}/comments/{comment_id}/replies/{comment_reply_id}"
    )
    feature = "editing of replies"
    success = 204

    comment_id: str
    comment_reply_id: str


class ListSpaceComments(InSpace, Paged, Operation[Page[Comment]]):
    """List the comments on the live content of a space.

    Newest first unless `order` is given.
    """

    operation_id = "listCommentsInSpace"
    route = "GET /spaces/{space_id}/comments"
    feature = "comments outside change requests"

    order: Literal["asc", "desc"] | None = None
    format: Format | None = None
    status: CommentFilter | None = None
    target_page: str | None = None
    authors: tuple[str, ...] | None = None


class PostSpaceComment(InSpace, Operation[Comment]):
    """Comment on the live content of a space.

    `page`, `node` and `table_cell` choose a place in it.
    """

    operation_id = "postCommentInSpace"
    route = "POST /spaces/{space_id}/comments"
    feature = "comments outside change requests"

    body: Document
    page: str | None = None
    node: str | None = None
    table_cell: TableCellTarget | None = None


class GetSpaceComment(InSpace, Operation[Comment]):
    """Get a comment on the live content."""

    operation_id = "getCommentInSpace"
    route = "GET /spaces/{space_id}/comments/{comment_id}"
    feature = "comments outside change requests"

    comment_id: str
    format: Format | None = None


class UpdateSpaceComment(InSpace, Operation[Comment]):
    """Edit, resolve or react to a live-content comment.

    Fails with 403 if the text to edit is by another user.
    """

    operation_id = "updateCommentInSpace"
    route = "PUT /spaces/{space_id}/comments/{comment_id}"
    feature = "comments outside change requests"

    comment_id: str
    resolved: bool | None = None
    body: Document | None = None
    added_reactions: tuple[str, ...] | None = None
    removed_reactions: tuple[str, ...] | None = None


class DeleteSpaceComment(InSpace, Operation[None]):
    """Delete a comment on the live content.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteCommentInSpace"
    route = "DELETE /spaces/{space_id}/comments/{comment_id}"
    feature = "comments outside change requests"
    success = 204

    comment_id: str


class ListSpaceReplies(InSpace, Paged, Operation[Page[CommentReply]]):
    """List the replies to a comment on the live content."""

    operation_id = "listCommentRepliesInSpace"
    route = "GET /spaces/{space_id}/comments/{comment_id}/replies"
    feature = "comments outside change requests"

    comment_id: str
    format: Format | None = None


class PostSpaceReply(InSpace, Operation[CommentReply]):
    """Reply to a comment on the live content."""

    operation_id = "postCommentReplyInSpace"
    route = "POST /spaces/{space_id}/comments/{comment_id}/replies"
    feature = "comments outside change requests"

    comment_id: str
    body: Document


class GetSpaceReply(InSpace, Operation[CommentReply]):
    """Get a reply on the live content."""

    operation_id = "getCommentReplyInSpace"
    route = "GET /spaces/{space_id}/comments/{comment_id}/replies/{comment_reply_id}"
    feature = "editing of replies outside change requests"
    release = "0.202.0"

    comment_id: str
    comment_reply_id: str
    format: Format | None = None


class UpdateSpaceReply(InSpace, Operation[CommentReply]):
    """Edit or react to a reply on the live content.

    Fails with 403 if the text to edit is by another user.
    """

    operation_id = "updateCommentReplyInSpace"
    route = "PUT /spaces/{space_id}/comments/{comment_id}/replies/{comment_reply_id}"
    feature = "editing of replies outside change requests"
    release = "0.202.0"

    comment_id: str
    comment_reply_id: str
    body: Document | None = None
    added_reactions: tuple[str, ...] | None = None
    removed_reactions: tuple[str, ...] | None = None


class DeleteSpaceReply(InSpace, Operation[None]):
    """Delete a reply on the live content.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteCommentReplyInSpace"
    route = "DELETE /spaces/{space_id}/comments/{comment_id}/replies/{comment_reply_id}"
    feature = "editing of replies outside change requests"
    release = "0.202.0"
    success = 204

    comment_id: str
    comment_reply_id: str


class ListSpaceCommenters(InSpace, Paged, Operation[Page[OrganizationMember]]):
    """List the members who commented on the live content."""

    operation_id = "listCommentersInSpace"
    route = "GET /spaces/{space_id}/commenters"
    feature = "editing of replies outside change requests"
    release = "0.202.0"
