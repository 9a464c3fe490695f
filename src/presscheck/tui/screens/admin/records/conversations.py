"""Transcripts of conversations with the issues found in them, and issues with their conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from presscheck.api.conversations import (
    ConversationIssue,
    GetConversation,
    GetConversationIssue,
    IssueInConversation,
    ListConversationIssues,
    WholeConversation,
)
from presscheck.api.operation import ALL
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.screens.admin.records.screen import RecordScreen
from presscheck.tui.screens.web_address import open_address

if TYPE_CHECKING:
    from presscheck.api.conversations import Conversation
    from presscheck.api.operation import Operation, Page
    from presscheck.api.organizations import Organization
    from presscheck.tui.ui.screen import BaseScreen

ROLES = {"user": ("reader", "accent"), "assistant": ("assistant", "link"), "team-member": ("team member", "strong")}
"""Names and styles of message authors by role."""
FOOTER = ("down", "half_down", "find_here", "web", "copy_text", "close")


class ConversationRecord:
    """A conversation with all messages, and the issues found in it.

    Args:
        organization: the organization of the conversation.
        conversation: the conversation as listed.
    """

    path = "Administration › Conversations"
    footer = FOOTER
    footer_titles = MappingProxyType[str, str]({})
    is_busy = False

    def __init__(self, organization: Organization, conversation: Conversation) -> None:
        self._organization, self.conversation = organization, conversation
        self._whole: WholeConversation | None = None
        self._issues: Sequence[ConversationIssue] | None = None
        self._screen: BaseScreen | None = None

    def attach(self, screen: BaseScreen) -> None:
        """Set the screen that shows the record."""
        self._screen = screen

    @property
    def title(self) -> str:
        """The subject of the conversation."""
        return sanitize(self.conversation.subject or "") or "(no subject)"

    @property
    def state(self) -> Line:
        """The source and the date of the conversation, and whether it was processed."""
        at = (self._whole.metadata.created_at if self._whole else None) or self.conversation.created_at
        processed = "processed" if self.conversation.processed_at else "not processed yet"
        facts = [sanitize(self.conversation.source), since(at, now()) if at else "", processed]
        return (Span(" · ".join(filter(None, facts)), "quiet"),)

    def calls(self) -> Mapping[str, Operation[Any]]:
        """Return the calls for the messages and the issues."""
        path = {"organization_id": self._organization.id}
        return {
            "conversation": GetConversation(**path, conversation_id=self.conversation.id),
            "issues": ListConversationIssues(**path, conversation=self.conversation.id, limit=ALL),
        }

    def take(self, part: str, value: Any) -> None:
        """Store the messages or the issues."""
        if part == "conversation":
            whole: WholeConversation = value
            self._whole, self.conversation = whole, whole.conversation
        else:
            page: Page[IssueInConversation] = value
            self._issues = [item.issue for item in page.items]

    def lines(self, columns: int) -> Sequence[Line]:
        """Return the messages, then the issues."""
        lines = transcript_lines(self._whole, columns)
        if self._issues is not None:
            found = count(len(self._issues), "issue") if self._issues else "No issues"
            lines += [(), (Span(f" {found} found in it", "title"),)]
        for issue in self._issues or ():
            lines += [(), (Span("  · ", "waiting"), Span(sanitize(issue.title), "strong"))]
            lines += [(Span("    "), *line) for line in wrap((Span(sanitize(issue.summary)),), max(20, columns - 5))]
        return lines

    def reason_web(self) -> str | None:
        """Return why the conversation cannot be opened at its source: it has no web address."""
        return None if self._address else "this conversation has no web address"

    def command_web(self) -> None:
        """Open the conversation at its source."""
        if self._screen and self._address:
            open_address(self._screen.app_context, self._address)

    @property
    def _address(self) -> str:
        metadata = self._whole.metadata.url if self._whole else None
        return metadata or self.conversation.urls.source or ""


class IssueRecord:
    """An issue with the conversation where it was found.

    Args:
        organization: the organization of the issue.
        item: the issue and its conversation, as listed.
    """

    path = "Administration › Issues"
    footer = ("open", *FOOTER)
    footer_titles = MappingProxyType[str, str]({})
    is_busy = False

    def __init__(self, organization: Organization, item: IssueInConversation) -> None:
        self._organization, self._item = organization, item
        self._whole: WholeConversation | None = None
        self._screen: BaseScreen | None = None

    def attach(self, screen: BaseScreen) -> None:
        """Set the screen that shows the record."""
        self._screen = screen

    @property
    def title(self) -> str:
        """The title of the issue."""
        return sanitize(self._item.issue.title) or "(no title)"

    @property
    def state(self) -> Line:
        """When the issue was found."""
        at = self._item.issue.created_at
        return (Span(f"found {since(at, now())}" if at else "", "quiet"),)

    def calls(self) -> Mapping[str, Operation[Any]]:
        """Return the calls for the issue and the messages of its conversation."""
        path = {"organization_id": self._organization.id}
        return {
            "issue": GetConversationIssue(**path, issue_id=self._item.issue.id),
            "conversation": GetConversation(**path, conversation_id=self._item.conversation.id),
        }

    def take(self, part: str, value: Any) -> None:
        """Store the issue or the messages."""
        if part == "issue":
            self._item = value
        else:
            self._whole = value

    def lines(self, columns: int) -> Sequence[Line]:
        """Return the summary, then the messages."""
        text = sanitize(self._item.issue.summary)
        lines: list[Line] = [(Span(" "), *line) for line in wrap((Span(text),), max(20, columns - 2))] if text else []
        subject = sanitize(self._item.conversation.subject or "") or "(no subject)"
        return [*lines, (), (Span(f" Found in: {subject}", "title"),), (), *transcript_lines(self._whole, columns)]

    def command_open(self) -> None:
        """Open the conversation of the issue, with all issues found in it."""
        if self._screen:
            record = ConversationRecord(self._organization, self._item.conversation)
            self._screen.app_context.push_screen(RecordScreen(record))

    def reason_web(self) -> str | None:
        """Return why the conversation of the issue cannot be opened at its source: it has no web address."""
        return None if self._item.conversation.urls.source else "its conversation has no web address"

    def command_web(self) -> None:
        """Open the conversation at its source."""
        if self._screen and (address := self._item.conversation.urls.source):
            open_address(self._screen.app_context, address)


def transcript_lines(whole: WholeConversation | None, columns: int) -> list[Line]:
    """Return the messages of a conversation, each below its author; a placeholder until they are loaded."""
    if whole is None:
        return [(Span(" Loading the messages …", "quiet"),)]
    if not whole.parts:
        return [(Span(" It has no messages.", "quiet"),)]
    lines: list[Line] = []
    for part in whole.parts:
        role, style = ROLES.get(part.role, (sanitize(part.role) or part.type, "quiet"))
        lines += [(), (Span(f" {role}", style),)] if lines else [(Span(f" {role}", style),)]
        lines += [(Span("   "), *line) for line in comment_lines(sanitize(part.body, lines=True), max(20, columns - 4))]
    return lines


def conversation_screen(organization: Organization, conversation: Conversation) -> RecordScreen:
    """Return the screen of a conversation."""
    return RecordScreen(ConversationRecord(organization, conversation))


def issue_screen(organization: Organization, item: IssueInConversation) -> RecordScreen:
    """Return the screen of an issue."""
    return RecordScreen(IssueRecord(organization, item))
