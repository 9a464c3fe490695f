"""The titles of the families, apart from these: the command palette lists them without loading the whole API."""

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
"""In the order of the sidebar."""
