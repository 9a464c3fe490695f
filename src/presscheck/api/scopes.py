"""Scopes of tokens from a sign-in by browser, and what they permit in words; each includes the preceding ones."""

SCOPES = {
    "read": "may read everything that you may read",
    "write": "may read and write content",
    "admin": "may do everything that you may do",
}
