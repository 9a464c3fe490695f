"""The writes that the scope of a token permits. Reads are permitted with every scope."""

from __future__ import annotations

from typing import Any

from presscheck.api import organizations
from presscheck.api.operation import Operation
from presscheck.api.scopes import SCOPES
from presscheck.service.http.operations import ApiError

_OF_CONTENT = frozenset(
    (
        "change_requests",
        "collections",
        "comments",
        "content_changes",
        "conversations",
        "external_links",
        "imports",
        "openapi",
        "site_findings",
        "spaces",
        "translations",
    )
)
"""Modules of `presscheck.api` whose writes change content. All other writes need the scope `admin`."""
_OF_EVERYBODY = frozenset[type[Operation[Any]]]((organizations.UpdateLastSeen,))
"""Writes that every scope permits, because they change nothing for other users."""


def require_scope(scope: str | None, operation: type[Operation[Any]]) -> None:
    """Require that the scope of the caller's token permits a write. Tokens without a scope permit everything.

    Raises:
        ApiError: 403, the scope does not permit the write.
    """
    if scope in (None, "admin") or operation in _OF_EVERYBODY:
        return
    if scope != "write" or operation.__module__.rpartition(".")[2] not in _OF_CONTENT:
        raise ApiError(403, f"Your sign-in {SCOPES.get(scope or '', 'is limited')}: sign in again with a wider scope.")
