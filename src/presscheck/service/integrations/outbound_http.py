"""Outgoing HTTP requests, limited in time and size, with protection against requests into private networks (SSRF).

Host names are resolved here, every address is checked, and the connection is made to a checked address, so neither a
redirect nor DNS rebinding can reach a private network. Networks and hosts that the operator allows are exempt.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

import httpcore
from typing_extensions import override

from presscheck import __version__
from presscheck.errors import ConfigurationError

MOST_BYTES = 16 * 1024 * 1024
"""Maximum size of a response, in bytes."""
DEADLINE = 30.0
"""Timeout of a request including its redirects, in seconds."""
MOST_REDIRECTS = 5
AGENT = f"presscheck/{__version__}"
"""User agent."""

_REDIRECTS = (301, 302, 303, 307, 308)
_CREDENTIALS = ("authorization", "cookie", "proxy-authorization")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 network that maps to the IPv4 address in its last four bytes (NAT64)."""
_UNICAST = ipaddress.ip_network("2000::/3")
"""Global unicast addresses of IPv6; all other addresses are local, reserved or for special purposes."""

_deadline = ContextVar[float]("deadline")
"""The monotonic time at which the current request ends."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class OutgoingError(Exception):
    """A request failed; the message is for the user who caused it."""


class OutgoingRefused(OutgoingError):
    """The URL or the address of its host is not allowed."""


class OutgoingTimeout(OutgoingError):
    """The server did not respond in time."""


@dataclass(frozen=True)
class Fetched:
    """A response: the final URL after redirects, status, headers with lower-case names, and body."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the TLS context with the trusted certificate authorities. Cached: it takes 25 ms to create.

    Raises:
        ConfigurationError: the file in SSLKEYLOGFILE cannot be written.
    """
    try:
        return ssl.create_default_context()
    except OSError as error:
        file = os.environ.get("SSLKEYLOGFILE")
        raise ConfigurationError(f"SSLKEYLOGFILE={file}: {error.strerror}") from None


class Outgoing:
    """A client for outgoing requests.

    Args:
        allowed: private networks that may be reached, such as 127.0.0.0/8.
        hosts: hosts that may be reached at any address, such as localhost.
        deadline: timeout of a request including its redirects, in seconds.
    """

    def __init__(self, allowed: Sequence[str] = (), *, hosts: Sequence[str] = (), deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        networks = [ipaddress.ip_network(network, strict=False) for network in allowed]
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls_context(),
            network_backend=_CheckedNetwork(networks, frozenset(map(str.lower, hosts))),
            max_connections=10,
            max_keepalive_connections=4,
            keepalive_expiry=5,
        )

    def get(self, url: str, *, accept: str = "*/*") -> Fetched:
        """Fetch a URL, following redirects.

        Raises:
            OutgoingError: the URL is unreachable or not allowed, or the response is too large.
        """
        return self.request("GET", url, headers={"accept": accept})

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        follows: bool = True,
        seconds: float | None = None,
        hosts: Sequence[str] = ("*",),
    ) -> Fetched:
        """Send a request of any method, following redirects if `follows` is true.

        After a redirect to another origin, credentials are left out; if the method becomes GET, the body is left out.

        Args:
            method: the method, in upper case.
            url: the URL.
            headers: additional headers.
            body: the body.
            follows: whether to follow redirects.
            seconds: timeout of the request including its redirects, if shorter than the default.
            hosts: the hosts that may be reached, also by redirects: names, `*.example.org`, or `*` for all.

        Raises:
            OutgoingError: the URL is unreachable or not allowed, or the response is too large.
        """
        deadline = time.monotonic() + min(self._deadline, self._deadline if seconds is None else seconds)
        sent: dict[str, str] = dict(headers)
        for _ in range(MOST_REDIRECTS + 1):
            _require_named(url, hosts)
            response = self._send(method, url, sent, body, deadline)
            if not follows or response.status not in _REDIRECTS or "location" not in response.headers:
                return response
            try:
                target = urljoin(url, response.headers["location"])
                is_same_origin = urlsplit(target)[:2] == urlsplit(url)[:2]
            except ValueError:
                raise OutgoingError(f"{url}: redirects to an invalid URL") from None
            if not is_same_origin:
                sent = {name: value for name, value in sent.items() if name.lower() not in _CREDENTIALS}
            if method not in ("GET", "HEAD") and response.status in (301, 302, 303):
                method, body = "GET", None
                sent = {name: value for name, value in sent.items() if name.lower() != "content-type"}
            url = target
        raise OutgoingError(f"{url}: more than {MOST_REDIRECTS} redirects")

    def post_json(self, url: str, body: bytes, headers: Mapping[str, str] | None = None) -> Fetched:
        """Post JSON without following redirects.

        Raises:
            OutgoingError: the URL is unreachable or not allowed, or the response is too large.
        """
        sent = {"content-type": "application/json", **(headers or {})}
        return self._send("POST", url, sent, body, time.monotonic() + self._deadline)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, until: float) -> Fetched:
        parts = web_address(url)
        if parts is None:
            raise OutgoingRefused(f"{url}: not an http or https URL")
        if parts.username or parts.password:
            raise OutgoingRefused(f"{parts.hostname}: URLs with a user name or password are not allowed")
        try:
            target = _ascii(url)
            host = urlsplit(target).netloc
        except ValueError as error:
            raise OutgoingRefused(f"{url}: not a valid URL ({error})") from None
        wire = [
            ("host", host),
            ("user-agent", AGENT),
            ("accept-encoding", "identity"),
            *headers.items(),
        ]
        extensions = {"timeout": {"pool": max(0.1, until - time.monotonic())}}
        _deadline.set(until)
        try:
            with self._pool.stream(method, target, headers=wire, content=body, extensions=extensions) as answer:
                names = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in answer.headers}
                return Fetched(url, answer.status, names, _bounded(answer.iter_stream(), url))
        except httpcore.TimeoutException as error:
            raise OutgoingTimeout(f"{url}: no response in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, UnicodeError, ValueError) as error:
            raise OutgoingError(f"{url}: {error or type(error).__name__}") from error


def web_address(text: str) -> SplitResult | None:
    """Split an http or https URL; return None for any other text."""
    try:
        parts = urlsplit(text)
    except ValueError:  # for example, an unclosed bracket
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None


def _require_named(url: str, hosts: Sequence[str]) -> None:
    parts = web_address(url)
    name = (parts.hostname or "").rstrip(".") if parts else ""
    is_named = "*" in hosts or any(
        name.endswith(host[1:].lower()) if host.startswith("*.") else name == host.lower() for host in hosts
    )
    if parts and not is_named:
        raise OutgoingRefused(f"{name}: the operator of the service has not allowed requests to this host")


class _CheckedNetwork(httpcore.NetworkBackend):
    """A network backend that connects to checked addresses only, never to a host name."""

    def __init__(self, allowed: Sequence[Network], hosts: frozenset[str]) -> None:
        self._allowed, self._hosts = allowed, hosts
        self._backend = httpcore.SyncBackend()

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError(f"could not resolve {host}")
        for address in self._checked_addresses(host, port):
            try:
                stream = self._backend.connect_tcp(address, port, _seconds_left(), local_address, socket_options)
                return _TimedStream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _checked_addresses(self, host: str, port: int) -> list[str]:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(f"could not resolve {host}") from error
        addresses = [str(info[4][0]).partition("%")[0] for info in infos]
        for text in addresses:
            if host not in self._hosts and not self._may_reach(_parsed(text)):
                raise OutgoingRefused(
                    f"{host} is at {text}, in a private network: the operator must allow this network"
                )
        return addresses

    def _may_reach(self, address: Address) -> bool:
        effective = _effective_address(address)
        if any(candidate in network for network in self._allowed for candidate in (address, effective)):
            return True
        is_routed = isinstance(effective, ipaddress.IPv4Address) or effective in _UNICAST
        return is_routed and effective.is_global and not effective.is_multicast


class _TimedStream(httpcore.NetworkStream):
    """A connection on which the whole request has a deadline.

    The timeouts of httpcore are for one read, so a server that sends a byte each second could answer for hours.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    @override
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _seconds_left())

    @override
    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _seconds_left())

    @override
    def close(self) -> None:
        self._stream.close()

    @override
    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _seconds_left()))

    @override
    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _seconds_left() -> float:
    """Return the number of seconds until the current request ends.

    Raises:
        httpcore.ReadTimeout: it is over.
    """
    seconds = _deadline.get() - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout
    return seconds


def _parsed(text: str) -> Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as error:
        raise httpcore.ConnectError(str(error)) from None


def _effective_address(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)


def _bounded(stream: Iterable[bytes], url: str) -> bytes:
    body = bytearray()
    for part in stream:
        body += part
        if len(body) > MOST_BYTES:
            raise OutgoingError(f"{url}: response is larger than {MOST_BYTES // 1024 // 1024} MB")
    return bytes(body)


def _ascii(url: str) -> str:
    """Return the URL in ASCII, without user and fragment: the host in punycode, other characters percent-encoded."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    netloc = f"{host}:{parts.port}" if parts.port else host
    quoted = (quote(part, safe="/%:=&?~+!$,;'@()*[]|-._") for part in (parts.path or "/", parts.query))
    path, query = quoted
    return urlunsplit((parts.scheme, netloc, path, query, ""))
