"""The authorization server: authlib, connected to the tables of sign-ins and tokens.

There is one public client, presscheck itself. It has no secret, so authorization codes need PKCE with S256, and are
only sent to a loopback address of the user's machine (RFC 8252). Access tokens are ordinary tokens of the service with
a scope and an expiry time.

Each code and each refresh token can be used once. A second use means that there is a stolen copy, so it revokes all
tokens of the sign-in.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple, cast
from urllib.parse import urlsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request
from authlib.oauth2.rfc6749.errors import InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge, create_s256_code_challenge
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE, DeviceAuthorizationEndpoint, DeviceCodeGrant
from sqlalchemy import select
from sqlalchemy.orm import Session
from typing_extensions import override

from presscheck.api.scopes import SCOPES
from presscheck.service.db.ids import hash_token, moment_text
from presscheck.service.models.oauth import BrowserSignInRow, RefreshTokenRow, revoke_sign_in
from presscheck.service.models.organizations import TokenRow, UserRow

CLIENT_ID = "presscheck"
CALLBACK_PATH = "/callback"
ACCESS_SECONDS = 3600
REFRESH_LIFETIME = timedelta(days=30)
"""Lifetime of a refresh token. Each refresh issues a new refresh token."""
DEVICE_SECONDS, CODE_SECONDS = 900, 60
"""Lifetimes of device codes and authorization codes, in seconds."""
INTERVAL, SLOWER = 2, 5
"""Seconds between two polls of a device, and the seconds that `slow_down` adds to them (RFC 8628)."""
# its debug messages contain tokens
logging.getLogger("authlib").setLevel(logging.INFO)


class Answer(NamedTuple):
    """A response; the body of a redirect is empty."""

    status: int
    body: Any
    headers: dict[str, str]


class OAuthRequest(OAuth2Request):
    """A request to the authorization server.

    Args:
        method: the HTTP method.
        fields: the parameters, from the query or the form.
    """

    def __init__(self, method: str, fields: dict[str, str]) -> None:
        # authlib refuses http; here, the operator decides whether http is allowed, and the host was checked before
        super().__init__(method, "https://localhost/")
        self.payload = BasicOAuth2Payload(fields)
        self._fields = fields

    @property
    @override
    def form(self) -> dict[str, str]:
        return self._fields

    @property
    @override
    def args(self) -> dict[str, str]:
        return self._fields


class Client(ClientMixin):
    """The only client: presscheck."""

    @override
    def get_client_id(self) -> str:
        return CLIENT_ID

    @override
    def get_default_redirect_uri(self) -> str:
        return ""

    @override
    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the widest of the requested scopes, by default `read`, or None if a scope is unknown."""
        names = (scope or "read").split()
        return max(names, key=[*SCOPES].index) if names and {*names} <= SCOPES.keys() else None

    @override
    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return loopback_origin(redirect_uri) is not None

    @override
    def check_client_secret(self, client_secret: str) -> bool:
        return False

    @override
    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    @override
    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    @override
    def check_grant_type(self, grant_type: str) -> bool:
        return True


def loopback_origin(redirect_uri: str) -> str | None:
    """Return the origin of a redirect URI of presscheck, or None for any other URI."""
    try:
        parts = urlsplit(redirect_uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if host not in ("127.0.0.1", "::1") or not port:
        return None
    origin = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    return origin if redirect_uri == origin + CALLBACK_PATH else None


class Credential:
    """A code or a refresh token, with the methods that authlib needs."""

    def __init__(self, server: SignInServer, row: BrowserSignInRow | RefreshTokenRow) -> None:
        self.row = row
        self._server = server
        self.code_challenge = row.challenge if isinstance(row, BrowserSignInRow) else None
        self.code_challenge_method = "S256"

    @property
    def sign_in(self) -> str:
        """The key of the sign-in that the tokens belong to."""
        return self.row.sign_in if isinstance(self.row, RefreshTokenRow) else self.row.sha256

    def spend(self) -> None:
        """Mark the credential as used."""
        if isinstance(self.row, RefreshTokenRow):
            self.row.used_at = self._server.now
        else:
            self.row.status = "used"

    def is_expired(self) -> bool:
        """Return whether the credential has expired."""
        return self.row.expires_at <= self._server.now

    def check_client(self, _client: Client) -> bool:
        """Return whether the credential belongs to a client; there is only one client."""
        return True

    def get_client_id(self) -> str:
        """Return the id of the client."""
        return CLIENT_ID

    def get_scope(self) -> str:
        """Return the scope that the user has permitted."""
        return self.row.scope

    def get_user_code(self) -> str:
        """Return the key of the row, with which `DeviceGrant.query_user_grant` finds the decision of the user."""
        return self.row.sha256

    def get_redirect_uri(self) -> str | None:
        """Return the redirect URI of the authorization request."""
        return self.row.redirect_uri if isinstance(self.row, BrowserSignInRow) else None


def _is_challenge_of(verifier: str, challenge: str) -> bool:
    return hmac.compare_digest(create_s256_code_challenge(verifier), challenge)


class S256(CodeChallenge):
    """PKCE with S256 only, compared in constant time."""

    SUPPORTED_CODE_CHALLENGE_METHOD: ClassVar = ["S256"]
    CODE_CHALLENGE_METHODS: ClassVar = {"S256": _is_challenge_of}

    @override
    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        if grant.request.payload.data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("PKCE with the method S256 is required")
        super().validate_code_challenge(grant, redirect_uri)


class CodeGrant(AuthorizationCodeGrant):
    """Authorization codes."""

    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none"]
    server: SignInServer

    @override
    def save_authorization_code(self, code: str, request: Any) -> None:
        fields = request.payload.data
        row = self.server.new_sign_in(code, request.scope, CODE_SECONDS)
        row.status, row.user_id = "approved", request.user.id
        row.redirect_uri, row.challenge = fields["redirect_uri"], fields["code_challenge"]

    @override
    def query_authorization_code(self, code: str, client: Client) -> Credential | None:
        credential = self.server.find(BrowserSignInRow, code)
        is_code = credential is not None and credential.get_redirect_uri() and not credential.is_expired()
        return credential if is_code else None

    @override
    def delete_authorization_code(self, authorization_code: Credential) -> None:
        """Do nothing: `save_token` has spent the code."""

    @override
    def authenticate_user(self, authorization_code: Credential) -> UserRow | None:
        return self.server.session.get(UserRow, authorization_code.row.user_id)


class DeviceGrant(DeviceCodeGrant):
    """Device codes."""

    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none"]
    server: SignInServer

    @override
    def query_device_credential(self, device_code: str) -> Credential | None:
        credential = self.server.find(BrowserSignInRow, device_code)
        return credential if credential and not credential.get_redirect_uri() else None

    @override
    def query_user_grant(self, user_code: str) -> tuple[UserRow | None, bool] | None:
        row = self.server.session.get_one(BrowserSignInRow, user_code)
        if row.status == "pending":
            return None
        return self.server.session.get(UserRow, row.user_id or ""), row.status == "approved"

    @override
    def should_slow_down(self, credential: Credential) -> bool:
        row = cast("BrowserSignInRow", credential.row)
        is_early = row.polled_at is not None and row.polled_at > self.server.later(-row.interval)
        row.polled_at = self.server.now
        row.interval += SLOWER if is_early else 0
        return is_early


class RefreshGrant(RefreshTokenGrant):
    """Refresh tokens, each of which is replaced when it is used."""

    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: SignInServer

    @override
    def authenticate_refresh_token(self, refresh_token: str) -> Credential | None:
        credential = self.server.find(RefreshTokenRow, refresh_token)
        return credential if credential and not credential.is_expired() else None

    @override
    def authenticate_user(self, refresh_token: Credential) -> UserRow | None:
        return self.server.session.get(UserRow, refresh_token.row.user_id)

    @override
    def revoke_old_credential(self, refresh_token: Credential) -> None:
        """Do nothing: `save_token` has spent the token."""


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    """The start of a sign-in with a device code."""

    CLIENT_AUTH_METHODS: ClassVar = ["none"]
    EXPIRES_IN = DEVICE_SECONDS
    INTERVAL = INTERVAL
    server: SignInServer

    @override
    def get_verification_uri(self) -> str:
        return f"{self.server.origin}/device"

    @override
    def save_device_credential(self, client_id: str, scope: str | None, data: dict[str, Any]) -> None:
        allowed = Client().get_allowed_scope(scope) or "read"
        row = self.server.new_sign_in(data["device_code"], allowed, DEVICE_SECONDS)
        row.user_code = hash_token(data["user_code"])


class Revocation(RevocationEndpoint):
    """Revocation of all tokens of a sign-in. Personal tokens are not revoked here."""

    CLIENT_AUTH_METHODS: ClassVar = ["none"]
    server: SignInServer

    @override
    def query_token(self, token_string: str, token_type_hint: str | None) -> Credential | None:
        row = self.server.session.get(RefreshTokenRow, hash_token(token_string))
        if row is None:
            token = self.server.session.get(TokenRow, hash_token(token_string))
            refresh = select(RefreshTokenRow).where(RefreshTokenRow.sign_in == (token.sign_in if token else None))
            row = self.server.session.scalars(refresh.limit(1)).first()
        return Credential(self.server, row) if row else None

    @override
    def revoke_token(self, token: Credential, request: Any) -> None:
        revoke_sign_in(self.server.session, token.sign_in)


class SignInServer(AuthorizationServer):
    """The authorization server during one request.

    Args:
        session: the transaction.
        moment: the current time.
        origin: the origin of all URLs.
    """

    def __init__(self, session: Session, moment: datetime, origin: str) -> None:
        super().__init__(scopes_supported=[*SCOPES])
        self.session, self.origin = session, origin
        self.now, self._moment = moment_text(moment), moment
        generator = BearerTokenGenerator(_new_token, _new_token, _access_seconds)
        self.register_token_generator("default", generator)
        self.register_grant(CodeGrant, [S256(required=True)])
        self.register_grant(DeviceGrant)
        self.register_grant(RefreshGrant)
        self.register_endpoint(DeviceEndpoint(self))
        self.register_endpoint(Revocation)

    def respond(self, endpoint: str, request: OAuthRequest) -> Answer:
        """Respond to a program at the endpoint `token`, `device_authorization` or `revocation`."""
        if endpoint == "token":
            return self.create_token_response(request)
        return self.create_endpoint_response(endpoint, request)

    def decide(self, request: OAuthRequest, grant: Any, user: UserRow | None) -> str:
        """Return the URL to redirect to after an approval by `user`, or after a denial if `user` is None."""
        answer: Answer = self.create_authorization_response(request, grant_user=user, grant=grant)
        return answer.headers["Location"]

    def location_of(self, error: Any) -> str | None:
        """Return the URL of the client to redirect to after an error, or None if the client is unknown."""
        return self.handle_response(*error()).headers.get("Location")

    def later(self, seconds: float) -> str:
        """Return the time a number of seconds from now, in stored form."""
        return moment_text(self._moment + timedelta(seconds=seconds))

    def new_sign_in(self, code: str, scope: str, seconds: int) -> BrowserSignInRow:
        """Add a sign-in that expires after a number of seconds."""
        row = BrowserSignInRow(
            sha256=hash_token(code),
            scope=scope,
            status="pending",
            interval=INTERVAL,
            created_at=self.now,
            expires_at=self.later(seconds),
        )
        self.session.add(row)
        return row

    def find(self, table: type[BrowserSignInRow] | type[RefreshTokenRow], secret: str) -> Credential | None:
        """Return the credential for a code or a refresh token, or None.

        If the credential was used before, revoke all tokens of its sign-in and return None.
        """
        row = self.session.get(table, hash_token(secret))
        if row is None:
            return None
        credential = Credential(self, row)
        is_used = row.status == "used" if isinstance(row, BrowserSignInRow) else row.used_at is not None
        if is_used:
            revoke_sign_in(self.session, credential.sign_in)
        return None if is_used else credential

    @override
    def query_client(self, client_id: str) -> Client | None:
        return Client() if client_id == CLIENT_ID else None

    @override
    def save_token(self, token: dict[str, Any], request: Any) -> None:
        credential: Credential = request.credential or request.authorization_code or request.refresh_token
        common: dict[str, Any] = {
            "sign_in": credential.sign_in,
            "user_id": request.user.id,
            "scope": token["scope"],
            "created_at": self.now,
        }
        access, refresh = hash_token(token["access_token"]), hash_token(token["refresh_token"])
        expires_at = self.later(ACCESS_SECONDS)
        self.session.add(TokenRow(sha256=access, name="signed in by browser", expires_at=expires_at, **common))
        refreshable_until = self.later(REFRESH_LIFETIME.total_seconds())
        self.session.add(RefreshTokenRow(sha256=refresh, expires_at=refreshable_until, **common))
        credential.spend()

    @override
    def send_signal(self, name: str, *_args: object, **_details: object) -> None:
        """Do nothing: no part of the service listens."""

    @override
    def create_oauth2_request(self, request: Any) -> OAuthRequest:
        return request

    @override
    def handle_response(self, status: int, body: Any, headers: Any) -> Answer:
        return Answer(status, body, dict(headers))


def metadata(origin: str) -> dict[str, Any]:
    """Return the description of the authorization server (RFC 8414)."""
    return {
        "issuer": origin,
        "authorization_endpoint": f"{origin}/oauth/authorize",
        "token_endpoint": f"{origin}/oauth/token",
        "device_authorization_endpoint": f"{origin}/oauth/device",
        "revocation_endpoint": f"{origin}/oauth/revoke",
        "scopes_supported": [*SCOPES],
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", DEVICE_CODE_GRANT_TYPE],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
    }


def _access_seconds(*_details: object) -> int:
    return ACCESS_SECONDS


def _new_token(**_details: object) -> str:
    return secrets.token_urlsafe(32)
