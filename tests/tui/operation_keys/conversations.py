"""Conversations with readers, and the issues found in them."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.conversations import (
    GetConversation,
    GetConversationIssue,
    IngestConversations,
)

FAMILY = Family(
    without_keys={
        GetConversation: "enter on a conversation shows the fields of the list, not the conversation",
        GetConversationIssue: "enter on an issue shows the fields of the list, not the issue",
        IngestConversations: "no key adds conversations; only `presscheck conversation ingest` does",
    }
)
