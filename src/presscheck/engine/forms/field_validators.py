"""Validators of the texts of some fields, whatever the service says: web addresses, and domains of e-mail."""

from __future__ import annotations

import re
from collections.abc import Callable

from presscheck.text.sanitize import is_safe_url

_DOMAIN = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)+")

TextValidator = Callable[[str], "str | None"]
"""Returns why a text is invalid; None if it is valid."""


def address_reason(text: str) -> str | None:
    """Why a text is no web address; None if it is one."""
    if text.startswith(("https://", "http://")) and is_safe_url(text):
        return None
    return "is not an address: it starts with https:// or http://"


def domain_reason(text: str) -> str | None:
    """Why a text is no domain of e-mail addresses; None if it is one."""
    return None if _DOMAIN.fullmatch(text) else f"{text[:40]} is not a domain: give one such as example.com, without @"


FIELD_VALIDATORS: dict[str, TextValidator] = {
    "email_domains": domain_reason,
    "fallback_url": address_reason,
    "files": address_reason,
    "logo": address_reason,
    "logout_url": address_reason,
    "sso_url": address_reason,
    "tunnel_url": address_reason,
    "url": address_reason,
}
"""How the text of a field is checked, by the name of the field or of its part; a list value by value."""
