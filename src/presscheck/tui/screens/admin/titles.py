"""The titles of the families. They are separate so that the command palette does not load the whole API."""

TITLES = (
    "Organizations",
    "Members",
    "Teams",
    "Collections",
    "Spaces",
    "Sites",
    "Invite links",
    "AI instructions",
    "SAML",
    "Integrations",
    "OpenAPI",
    "Translations",
    "Conversations",
    "Issues",
    "Imports",
)
"""Titles in the order of the sidebar."""
