"""Parsing of service URLs, and rejection of URLs to which a token must not be sent."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx

from presscheck.errors import ConfigurationError


@dataclass(frozen=True)
class Address:
    """The address of a service."""

    url: str
    """The base of all request URLs, with ``/v1``."""
    host: str
    """The host name and port, for messages."""
    socket: str | None = None
    """The path of the Unix socket, if any."""
    is_local: bool = False
    """Whether the service is on this machine; then no proxy is used, and TLS is not required."""


def read_address(base_url: str, *, insecure: bool = False) -> Address:
    """Parse a service URL: ``https://host``, ``http://localhost:8000`` or ``unix:/path``, with or without ``/v1``.

    Args:
        base_url: the URL.
        insecure: allow plain HTTP to other machines.

    Raises:
        ConfigurationError: the URL is not a service URL, or the token would be sent unencrypted.
    """
    if base_url.startswith("unix:"):
        socket = base_url.removeprefix("unix:")
        if not socket.startswith("/"):
            raise ConfigurationError(f"{base_url}: the path of the socket must begin with /")
        return Address(url="http://localhost/v1", host=base_url, socket=socket, is_local=True)
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname or "", parts.port
        httpx.URL(base_url)  # also rejects host names that cannot be encoded
    except (ValueError, httpx.InvalidURL):
        raise ConfigurationError("invalid service URL: use https://host") from None
    if parts.username or parts.password:
        raise ConfigurationError(f"{host}: remove the user name and password from the service URL")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ConfigurationError(f"{base_url!r} is not a service URL: use https://host or unix:/path")
    is_local = _is_loopback(host)
    if parts.scheme == "http" and not (is_local or insecure):
        raise ConfigurationError(f"{host}: use https, because http would send the token unencrypted")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Address(url=f"{parts.scheme}://{parts.netloc}{path}/v1", host=parts.netloc, is_local=is_local)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
