"""The HTTP endpoints of sign-in by browser: metadata, device codes, tokens, revocation, and the pages for users.

Users approve a sign-in on a page with a personal token. There is no session in the browser, so no other website can
approve a sign-in in the name of a user. The forms are also bound to a cookie and to the origin of the service.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from authlib.oauth2 import OAuth2Error
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from presscheck.api.scopes import SCOPES
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, hash_token, moment_text
from presscheck.service.db.signing import signed, unsigned
from presscheck.service.http.middleware import network_of, origin_of
from presscheck.service.http.operations import ApiError, refusal
from presscheck.service.http.request_body import read_body
from presscheck.service.http.turns import Threads
from presscheck.service.models.oauth import BrowserSignInRow
from presscheck.service.models.organizations import TokenRow, UserRow
from presscheck.service.oauth.server import Answer, OAuthRequest, SignInServer, loopback_origin, metadata

LARGEST_FORM = 16_000
"""Maximum size of a form in bytes, including the signed copy of the request."""
MOST_FIELDS = 20
MOST_FAILURES, FAILURE_WINDOW = 10, timedelta(minutes=15)
"""Maximum number of wrong codes and tokens per network within the window; user codes have 20**8 possible values."""
MOST_NETWORKS = 10_000
"""Maximum number of networks whose failures are counted."""
MOST_AT_ONCE, MOST_WAITING = 4, 100
COOKIE = "sign-in-form"
_PURPOSE = "sign-in form"
# what RFC 6749 permits in error descriptions, which quote parameters
_is_plain = re.compile(r"[ !#-\[\]-~]*+").fullmatch
Result = TypeVar("Result")


class Failures:
    """Counts failed attempts by network; each process counts separately."""

    def __init__(self) -> None:
        self._moments: dict[str, list[datetime]] = {}

    def require_few(self, network: str, now: datetime) -> None:
        """Check the number of recent failures.

        Raises:
            ApiError: 429, there are too many.
        """
        recent = [moment for moment in self._moments.get(network, ()) if moment > now - FAILURE_WINDOW]
        if len(recent) >= MOST_FAILURES:
            raise ApiError(429, "Too many wrong codes or tokens. Try again in 15 minutes.", retry_after=900)

    def add(self, network: str, now: datetime) -> None:
        """Count a failure."""
        if network not in self._moments and len(self._moments) >= MOST_NETWORKS:
            del self._moments[next(iter(self._moments))]
        self._moments[network] = [*self._moments.get(network, ()), now][-MOST_FAILURES:]


class Endpoints:
    """The endpoints of sign-in by browser.

    Args:
        database: the database of the service.
        clock: returns the current time.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._threads = Threads(MOST_AT_ONCE, waiting=MOST_WAITING, what="Sign-ins")
        self._failures = Failures()

    async def describe(self, request: Request) -> Response:
        """Respond with the metadata of the authorization server."""
        return JSONResponse(metadata(origin_of(request)), headers={"cache-control": "no-cache"})

    async def answer(self, name: str, request: Request) -> Response:
        """Respond to a program at the endpoint `token`, `device_authorization` or `revocation`."""
        try:
            fields = await _form(request)
        except ApiError as error:
            body = {"error": "invalid_request", "error_description": error.message}
            return JSONResponse(body, error.status, {"cache-control": "no-store"})

        def respond(session: Session) -> Answer:
            server = SignInServer(session, self._clock(), origin_of(request))
            return server.respond(name, OAuthRequest("POST", fields))

        try:
            sent = await self._threads.run(self._database.write, respond)
        except ApiError as error:
            return refusal(error)
        return JSONResponse(sent.body, sent.status, sent.headers)

    async def show_authorization(self, request: Request) -> Response:
        """Respond to an authorization request of a browser."""
        return await self._show_page(self._authorization, request)

    async def show_device(self, request: Request) -> Response:
        """Respond to a browser on the page where users enter the code of a device."""
        return await self._show_page(self._device, request)

    async def _show_page(
        self, respond: Callable[[Request, dict[str, str], Session], Response], request: Request
    ) -> Response:
        try:
            fields = await _form(request) if request.method == "POST" else _fields(request.url.query)
            self._failures.require_few(network_of(request.scope), self._clock())
            return await self._threads.run(self._database.write, partial(respond, request, fields))
        except ApiError as error:
            return _show(error.status, problem=error.message)

    def _authorization(self, request: Request, fields: dict[str, str], session: Session) -> Response:
        """Respond to an authorization request, or to the decision of the user on it."""
        is_decision = request.method == "POST"
        request_fields = _require_form(session, request, fields) if is_decision else fields
        server = SignInServer(session, self._clock(), origin_of(request))
        oauth_request = OAuthRequest("GET", request_fields)
        try:
            grant = server.get_consent_grant(oauth_request)
        except OAuth2Error as error:
            location = server.location_of(error)
            return _redirect(location) if location else _show(400, problem=error.description or error.error)
        origin = loopback_origin(request_fields["redirect_uri"]) or ""
        if not is_decision:
            return _show_form(session, request, request_fields, oauth_request.scope, origin)
        user = self._decision(session, request, fields)
        if isinstance(user, str):
            return _show_form(session, request, request_fields, oauth_request.scope, origin, problem=user)
        return _redirect(server.decide(oauth_request, grant, user))

    def _device(self, request: Request, fields: dict[str, str], session: Session) -> Response:
        """Ask for the code of a device, then for the decision of the user, and store the decision."""
        is_decision = request.method == "POST"
        request_fields = _require_form(session, request, fields) if is_decision else fields
        code = request_fields.get("user_code", "")
        if not code:
            return _show(200, is_asking=True)
        row = _pending(session, code, moment_text(self._clock()))
        if row is None:
            self._failures.add(network_of(request.scope), self._clock())
            return _show(404, is_asking=True, problem="This code is unknown, was used, or has expired.")
        if not is_decision:
            return _show_form(session, request, {"user_code": code}, row.scope)
        user = self._decision(session, request, fields)
        if isinstance(user, str):
            return _show_form(session, request, {"user_code": code}, row.scope, problem=user)
        row.status, row.user_id = ("approved", user.id) if user else ("denied", None)
        return _show(200, is_approved=user is not None)

    def _decision(self, session: Session, request: Request, fields: dict[str, str]) -> UserRow | str | None:
        """Return the user who approved the request, None if the user denied it, or an error message for the token."""
        if fields.get("decision") != "approve":
            return None
        # only personal tokens: a token with a scope could otherwise get a token with a wider scope
        user = session.scalar(
            select(UserRow)
            .join(TokenRow, TokenRow.user_id == UserRow.id)
            .where(
                TokenRow.sha256 == hash_token(fields.get("token", "").strip()),
                TokenRow.sign_in.is_(None),
                TokenRow.expires_at.is_(None) | (TokenRow.expires_at > moment_text(self._clock())),
            )
        )
        if user is None:
            self._failures.add(network_of(request.scope), self._clock())
            return "This is not a valid personal access token."
        return user


def _fields(text: str) -> dict[str, str]:
    """Parse a query or a form.

    Raises:
        ApiError: 400, a parameter is invalid or given twice.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ApiError(400, "The request is not valid.") from None
    if len({name for name, _ in pairs}) < len(pairs) or not all(_is_plain(value) for _, value in pairs):
        raise ApiError(400, "A parameter is given twice or has invalid characters.")
    return dict(pairs)


async def _form(request: Request) -> dict[str, str]:
    """Read the form of a request.

    Raises:
        ApiError: 400, 408 or 413, the form is invalid, too slow or too large.
    """
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise ApiError(400, "Send a form: application/x-www-form-urlencoded.")
    body = await read_body(request, LARGEST_FORM)
    return _fields(body.decode("latin-1"))


def _pending(session: Session, code: str, now: str) -> BrowserSignInRow | None:
    """Return the pending sign-in with a code that the user typed, or None."""
    letters = re.sub("[^A-Z]", "", code.upper())
    user_code = hash_token(f"{letters[:4]}-{letters[4:]}")
    row = session.scalar(select(BrowserSignInRow).where(BrowserSignInRow.user_code == user_code))
    return row if row and row.status == "pending" and row.expires_at > now else None


def _require_form(session: Session, request: Request, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields of the request for which this service showed the form.

    Raises:
        ApiError: 403, the form is not from this service and this browser, or it is older than an hour.
    """
    value = unsigned(session, _PURPOSE, fields.get("request", ""))
    cookie = hash_token(request.cookies.get(COOKIE, ""))
    is_own = value is not None and hmac.compare_digest(value["cookie"], cookie)
    if not is_own or request.headers.get("origin", origin_of(request)) != origin_of(request):
        raise ApiError(403, "This form is not valid any more. Start the sign-in again.")
    return value["fields"] if value else {}


def _show_form(
    session: Session, request: Request, fields: dict[str, str], scope: str, origin: str = "", problem: str = ""
) -> Response:
    """Ask the user for a decision.

    Args:
        session: the transaction.
        request: the request.
        fields: the request that the user decides on.
        scope: the scope that is request_fields for.
        origin: the origin of the redirect after the decision, which the content security policy must allow.
        problem: the error message for the preceding decision.
    """
    nonce = request.cookies.get(COOKIE) or secrets.token_urlsafe(24)
    form = signed(session, _PURPOSE, {"fields": fields, "cookie": hash_token(nonce)})
    response = _show(
        403 if problem else 200,
        origin,
        problem=problem,
        form=form,
        scope=SCOPES[scope],
        code=fields.get("user_code", "").upper(),
    )
    is_secure = origin_of(request).startswith("https:")
    response.set_cookie(COOKIE, nonce, max_age=3600, httponly=True, samesite="strict", secure=is_secure)
    return response


def _show(status: int, form_origin: str = "", **values: Any) -> Response:
    from presscheck.service.web.views import sign_in_page  # takes 106 ms to import, so only for browsers

    return sign_in_page(status, form_origin, **values)


def _redirect(location: str) -> Response:
    headers = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
    return RedirectResponse(location, 303, headers)
