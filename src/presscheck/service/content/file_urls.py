"""Signed URLs of stored files, valid for one to two hours.

A URL stays the same for an hour, so that equal responses are equal. Published sites use other URLs (see
`web.site_files`), which do not expire and are checked like pages.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from sqlalchemy.orm import Session

from presscheck.service.db.signing import signing_key
from presscheck.service.http.operations import ApiError, Context, not_found

LIFETIME = 3600
"""Minimum lifetime of a URL in seconds; the maximum is twice that."""


def file_address(context: Context, content: str, name: str) -> str:
    """Return the signed URL of a file.

    Args:
        context: the transaction, and the current time.
        content: the id of the stored bytes.
        name: the file name at the end of the path.
    """
    expires = (int(context.clock().timestamp()) // LIFETIME + 2) * LIFETIME
    path = f"{context.origin}/files/{content}/{quote(name, safe='')}"
    return f"{path}?expires={expires}&signature={_signature(context.session, content, str(expires))}"


def require_signature(session: Session, content: str, query: Mapping[str, str], now: datetime) -> None:
    """Check the signature in the URL of a file.

    Raises:
        ApiError: 404 if the signature is missing or invalid, 410 if the URL has expired.
    """
    expires, signature = query.get("expires", ""), query.get("signature", "")
    if not hmac.compare_digest(_signature(session, content, expires).encode(), signature.encode()):
        raise not_found("file")
    if int(expires) <= now.timestamp():
        raise ApiError(410, "This link has expired. Fetch the file from the API again for a new one.")


def _signature(session: Session, content: str, expires: str) -> str:
    return hmac.digest(signing_key(session), f"file {content} {expires}".encode(), hashlib.sha256).hex()
