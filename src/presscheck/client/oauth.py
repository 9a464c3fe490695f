"""The client side of sign-in by browser: device codes (RFC 8628), PKCE (RFC 7636), refresh and revocation.

Codes and tokens are only sent to the origin of the service. Waiting counts seconds instead of reading the clock, so a
wrong clock has no effect.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, cast
from urllib.parse import urlencode, urlsplit

import httpx

from presscheck.client.base_url import read_address
from presscheck.client.client import MAX_ERROR_SIZE, BodyError, ConnectionPool, Timeouts, failure_message, read_body
from presscheck.client.request_priority import service_time
from presscheck.errors import MalformedAnswer, NetworkError, NotSignedIn, NotSupported

CLIENT_ID = "presscheck"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
METADATA_PATH = "/.well-known/oauth-authorization-server"
INTERVAL, SLOWER = 5.0, 5.0
"""The default of the seconds between two polls, and the seconds that `slow_down` adds."""
LONGEST_INTERVAL = 60.0
LONGEST_WAIT = 1800.0
LONGEST_CODE = 32
LONGEST_TIME = 1e9
"""Maximum lifetime of a token, in seconds."""
TOO_BUSY = 429
REASONS = {
    "access_denied": "The sign-in was denied in the browser",
    "expired_token": "The code has expired: start the sign-in again",
    "invalid_client": "The service does not know presscheck as a client: use a personal access token instead",
    "unauthorized_client": "The service does not permit this sign-in: use a personal access token instead",
    "invalid_scope": "The service does not offer this scope: choose another with --scope",
}


class SignInEndpoints(NamedTuple):
    """The URLs of a service for sign-in by browser. The URL of an endpoint that the service lacks is empty."""

    token: str
    device: str
    authorization: str
    revocation: str


class DeviceCode(NamedTuple):
    """A code for the user to enter in a browser on any machine."""

    device_code: str
    user_code: str
    url: str
    complete_url: str
    """The URL that includes the code; `url` if the service does not send it."""
    seconds: float
    interval: float


@dataclass(frozen=True)
class IssuedTokens:
    """Tokens that the service issued; `refresh` may be empty."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    seconds: float
    scope: str


class CodeRequest(NamedTuple):
    """A request for an authorization code: the URL to open, and the secrets to check and redeem the answer."""

    url: str
    state: str
    verifier: str


class OAuthClient:
    """A client for sign-in by browser.

    Args:
        base_url: the URL of the service.
        insecure: allow plain HTTP to another machine.
        timeouts: the time-outs of each request.
        pause: waits for a number of seconds.

    Raises:
        ConfigurationError: the URL is invalid.
    """

    def __init__(
        self,
        base_url: str,
        *,
        insecure: bool = False,
        timeouts: Timeouts | None = None,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._address = read_address(base_url, insecure=insecure)
        self._timeouts = timeouts or Timeouts()
        self._pool = ConnectionPool(self._address, self._timeouts, 1)
        self._pause = pause
        self.service_time: float | None = None
        """The time of the service at its last response, in seconds since 1970; None if unknown."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.aclose()

    async def endpoints(self) -> SignInEndpoints:
        """Return the endpoints that the metadata of the service names (RFC 8414).

        Raises:
            NotSupported: the service does not offer sign-in by browser.
            MalformedAnswer: the metadata belongs to another service, or names another host for tokens.
            NetworkError: the service does not respond.
        """
        parts = urlsplit(self._address.url.removesuffix("/v1"))
        issuer = f"{parts.scheme}://{parts.netloc}{parts.path}"
        try:
            status, body = await self._send("GET", f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path}")
        except MalformedAnswer:
            status, body = 404, {}
        endpoints = SignInEndpoints(
            _text(body, "token_endpoint"),
            _text(body, "device_authorization_endpoint"),
            _text(body, "authorization_endpoint"),
            _text(body, "revocation_endpoint"),
        )
        if status != 200 or self._address.socket or not endpoints.token:
            raise self._not_offered("sign-in by browser")
        if _text(body, "issuer").rstrip("/") != issuer:
            named = _text(body, "issuer")[:200] or "nobody"
            raise MalformedAnswer(
                f"{self._address.host} signs in for {named}: use that address as base URL",
                request=f"GET {METADATA_PATH}",
            )
        for url in (endpoints.token, endpoints.device, endpoints.revocation):
            if url and not (_is_page(url) and url.startswith(f"{parts.scheme}://{parts.netloc}/")):
                raise MalformedAnswer(
                    f"{self._address.host} names another host for tokens, where none is sent",
                    request=f"GET {METADATA_PATH}",
                )
        return endpoints

    async def request_device(self, endpoints: SignInEndpoints, scope: str) -> DeviceCode:
        """Start a sign-in with a device code.

        Raises:
            RequestError: the service does not offer device codes, refuses, or does not respond.
        """
        if not endpoints.device:
            raise self._not_offered("sign-in with a code; try --browser")
        status, body = await self._send("POST", endpoints.device, {"scope": scope})
        if status != 200:
            raise self._refused(endpoints.device, status, body)
        url, user_code = _text(body, "verification_uri"), _text(body, "user_code")
        is_usable = _is_page(url) and user_code.isascii() and user_code.isprintable() and len(user_code) <= LONGEST_CODE
        if not is_usable or not _is_secret(_text(body, "device_code")):
            raise self._malformed(endpoints.device)
        complete = _text(body, "verification_uri_complete")
        return DeviceCode(
            _text(body, "device_code"),
            user_code,
            url,
            complete if _is_page(complete) else url,
            min(_number(body, "expires_in", LONGEST_WAIT), LONGEST_WAIT),
            min(_number(body, "interval", INTERVAL), LONGEST_INTERVAL),
        )

    async def wait(self, endpoints: SignInEndpoints, device: DeviceCode, report: Callable[[str], None]) -> IssuedTokens:
        """Wait until the user has entered a code. A lost connection does not end the wait, but is reported.

        Raises:
            NotSignedIn: the user denied, or the code expired.
            RequestError: the service refuses.
        """
        interval, waited, is_lost = device.interval, 0.0, False
        fields = {"grant_type": DEVICE_GRANT, "device_code": device.device_code}
        while waited < device.seconds:
            await self._pause(interval)
            waited += interval
            try:
                status, body = await self._send("POST", endpoints.token, fields)
            except NetworkError as error:
                if not is_lost:
                    report(f"{error.message}; still waiting")
                is_lost, interval = True, min(interval * 2, LONGEST_INTERVAL)
                continue
            if is_lost:
                report(f"{self._address.host} responds again")
                is_lost, interval = False, device.interval
            match _text(body, "error"):
                case "authorization_pending":
                    continue
                case "slow_down":
                    interval = min(interval + SLOWER, LONGEST_INTERVAL)
                case _:
                    return self._tokens(endpoints.token, status, body)
        raise self._refused(endpoints.token, 400, {"error": "expired_token"})

    def request_code(self, endpoints: SignInEndpoints, scope: str, redirect_uri: str) -> CodeRequest:
        """Return a request for an authorization code, with PKCE.

        Raises:
            NotSupported: the service does not offer authorization codes.
        """
        if not _is_page(endpoints.authorization):
            raise self._not_offered("sign-in with a redirect; try --web")
        state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": redirect_uri,
            "scope": scope,
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in endpoints.authorization else "?"
        return CodeRequest(f"{endpoints.authorization}{joint}{urlencode(query)}", state, verifier)

    async def exchange(
        self, endpoints: SignInEndpoints, request: CodeRequest, answer: Mapping[str, str], redirect_uri: str
    ) -> IssuedTokens:
        """Exchange the authorization code in the answer of the browser for tokens.

        Raises:
            NotSignedIn: the user denied, or the answer belongs to another sign-in.
            RequestError: the service refuses or does not respond.
        """
        if not secrets.compare_digest(answer.get("state", "").encode(), request.state.encode()):
            raise NotSignedIn(
                "The answer of the browser belongs to another sign-in (state mismatch): start again",
                request="GET /callback",
                status=401,
            )
        if "code" not in answer:
            raise self._refused(endpoints.token, 400, answer)
        fields = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": redirect_uri,
            "code_verifier": request.verifier,
        }
        return self._tokens(endpoints.token, *await self._send("POST", endpoints.token, fields))

    async def refresh(self, token_url: str, token: str) -> IssuedTokens:
        """Exchange a refresh token for new tokens.

        Raises:
            NotSignedIn: the sign-in has ended.
            RequestError: the service refuses or does not respond.
        """
        fields = {"grant_type": "refresh_token", "refresh_token": token}
        status, body = await self._send("POST", token_url, fields)
        if _text(body, "error") == "invalid_grant":
            raise NotSignedIn(
                "Your sign-in by browser has ended: run `presscheck login --web`",
                request=f"POST {urlsplit(token_url).path}",
                status=401,
            )
        return self._tokens(token_url, status, body)

    async def revoke(self, revocation_url: str, token: str) -> None:
        """Revoke a token (RFC 7009).

        Raises:
            RequestError: the service refuses or does not respond.
        """
        status, body = await self._send("POST", revocation_url, {"token": token})
        if status != 200:
            raise self._refused(revocation_url, status, body)

    async def _send(self, method: str, url: str, fields: Mapping[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        failure: Exception | None = None
        status, content = 0, b""
        headers, form = {"accept": "application/json", "accept-encoding": "gzip"}, None
        if fields is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
            form = urlencode({"client_id": CLIENT_ID, **fields}).encode()
        try:
            async with (
                asyncio.timeout(self._timeouts.whole),
                aclosing(await self._pool.send(method, url, headers, form)) as response,
            ):
                status, self.service_time = response.status_code, service_time(response.headers)
                content = await read_body(response.aiter_raw(), response.headers, MAX_ERROR_SIZE)
        except BodyError:
            content = b""
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as caught:
            failure = caught
        if status >= 500 or status == TOO_BUSY:
            # not a refusal: the caller may try again, as after a lost connection
            raise NetworkError(
                f"{self._address.host} is not available (status {status})", request=f"{method} {urlsplit(url).path}"
            )
        if failure is not None:
            # raised outside the except block: frames and context of the transport contain the token
            path = urlsplit(url).path
            raise NetworkError(failure_message(failure, self._address.host), request=f"{method} {path}")
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise self._malformed(url)
        return status, cast("dict[str, Any]", body)

    def _tokens(self, url: str, status: int, body: Mapping[str, Any]) -> IssuedTokens:
        if status != 200:
            raise self._refused(url, status, body)
        access, refresh = _text(body, "access_token"), _text(body, "refresh_token")
        is_usable = _is_secret(access) and (not refresh or _is_secret(refresh))
        if not is_usable or _text(body, "token_type").lower() != "bearer":
            raise self._malformed(url)
        return IssuedTokens(access, refresh, _number(body, "expires_in", 3600.0), _text(body, "scope"))

    def _not_offered(self, what: str) -> NotSupported:
        message = f"{self._address.host} does not offer {what}. A personal access token works: `presscheck login`"
        return NotSupported(message, request=f"GET {METADATA_PATH}", status=404)

    def _malformed(self, url: str) -> MalformedAnswer:
        message = f"{self._address.host} sent an invalid response to the sign-in"
        return MalformedAnswer(message, request=urlsplit(url).path)

    def _refused(self, url: str, status: int, body: Mapping[str, Any]) -> NotSignedIn:
        error = _text(body, "error")
        reason = REASONS.get(error)
        if reason is None:
            detail = _text(body, "error_description") or error or f"status {status}"
            reason = f"{self._address.host} refused the sign-in: {detail[:200]}"
        return NotSignedIn(reason, request=f"POST {urlsplit(url).path}", status=status)


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _number(body: Mapping[str, Any], name: str, default: float) -> float:
    value = body.get(name)
    return float(min(value, LONGEST_TIME)) if isinstance(value, int | float) and value >= 1 else default


def _is_secret(text: str) -> bool:
    """Return whether a code or a token can be sent in a header and in a form."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _is_page(url: str) -> bool:
    """Return whether a URL may be shown and opened: a web page, and plain characters only."""
    return url.startswith(("https://", "http://")) and _is_secret(url)
