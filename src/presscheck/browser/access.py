"""Access control of the server: a key in the printed URL, valid for one use, and then a cookie.

Every process on this machine, and every website in its browsers, can send requests to the port. So the Host header must
name this machine (against DNS rebinding), and the Origin header must not name another website. Only those who can read
the terminal, or the list of processes while the browser starts, know the key.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost", "[::1]")
"""Accepted names of this machine in the Host header."""
KEY_BYTES = 32
DEFAULT_PORT = 80


class Access:
    """The key and the cookie of a server.

    Args:
        port: the port of the server.
    """

    def __init__(self, port: int) -> None:
        names = [f"{name}:{port}" for name in NAMES]
        self._hosts = frozenset(names if port != DEFAULT_PORT else [*names, *NAMES])
        self.url = f"http://{LOOPBACK}:{port}/"
        self.cookie_name = f"presscheck-{port}"  # browsers send a cookie to all ports of a machine
        self.cookie = secrets.token_urlsafe(KEY_BYTES)
        self._key: str | None = secrets.token_urlsafe(KEY_BYTES)
        self.url_with_key = f"{self.url}?key={self._key}"

    def spend(self, key: str) -> bool:
        """Return whether a key is valid, and invalidate it: each key works once."""
        if self._key is None or not _equals(key, self._key):
            return False
        self._key = None
        return True

    def is_signed_in(self, cookie: str | None) -> bool:
        """Return whether a request with this cookie comes from the browser that spent the key."""
        return cookie is not None and _equals(cookie, self.cookie)

    def refusal(self, hosts: Sequence[str], origins: Sequence[str], *, needs_origin: bool) -> str | None:
        """Return why a request is refused, or None.

        Args:
            hosts: the Host headers of the request.
            origins: the Origin headers of the request.
            needs_origin: whether an Origin header is required. Browsers send it with every WebSocket request.
        """
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return f"the host must be this machine: open {self.url}"
        if needs_origin and not origins:
            return "the request has no origin"
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return "the request comes from another website"
        return None


def _equals(first: str, second: str) -> bool:
    return secrets.compare_digest(first.encode(errors="replace"), second.encode())
