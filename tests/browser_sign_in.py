"""Sign-in with a browser: the requests of the program and of the browser, and a clock that tests set."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
CALLBACK = "http://127.0.0.1:4711/callback"


@dataclass(eq=False)
class SetClock:
    """A clock that a test sets."""

    now: datetime = field(default_factory=lambda: datetime(2026, 5, 20, 9, 30, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class SignInSite:
    """The sign-in endpoints and pages of a service, used as a program and as a browser."""

    base_url: str
    token: str
    browser: httpx.Client

    def post(self, endpoint: str, **fields: str) -> dict[str, Any]:
        """Post a form as presscheck. Returns the JSON body with the status code as `status`."""
        response = httpx.post(f"{self.base_url}/oauth/{endpoint}", data={"client_id": "presscheck", **fields})
        return {**response.json(), "status": response.status_code}

    def poll(self, device: dict[str, Any]) -> dict[str, Any]:
        return self.post("token", grant_type=DEVICE, device_code=device["device_code"])

    def refresh(self, token: str) -> dict[str, Any]:
        return self.post("token", grant_type="refresh_token", refresh_token=token)

    def decide(self, url: str, token: str | None = None, decision: str = "approve", **query: str) -> httpx.Response:
        """Open a page with a form and submit the form."""
        page = self.browser.get(url, params=query) if query else self.browser.get(url)
        hidden = re.search('name="request" value="([^"]+)"', page.text)
        assert hidden, page.text
        form = {"request": hidden[1], "token": self.token if token is None else token, "decision": decision}
        return self.browser.post(url.partition("?")[0], data=form)

    def device(self, scope: str = "write") -> dict[str, Any]:
        return self.post("device", scope=scope)

    def signed_in(self, scope: str = "write") -> dict[str, Any]:
        """Sign in with a device code. Returns the token response."""
        device = self.device(scope)
        assert "Signed in" in self.decide(device["verification_uri_complete"]).text
        return self.poll(device)

    def authorize_url(self, **changed: str) -> str:
        query = {
            "response_type": "code",
            "client_id": "presscheck",
            "redirect_uri": CALLBACK,
            "scope": "write",
            "state": "s1",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **changed,
        }
        return str(httpx.URL(f"{self.base_url}/oauth/authorize", params={k: v for k, v in query.items() if v}))

    def code(self) -> str:
        """Approve a sign-in and return the authorization code."""
        location = self.decide(self.authorize_url()).headers["location"]
        return parse_qs(urlsplit(location).query)["code"][0]

    def exchange(self, code: str, **changed: str) -> dict[str, Any]:
        fields = {"redirect_uri": CALLBACK, "code_verifier": VERIFIER, **changed}
        return self.post("token", grant_type="authorization_code", code=code, **fields)

    def user(self, token: str) -> int:
        """Return the status code of a read with a token."""
        return httpx.get(f"{self.base_url}/v1/user", headers={"authorization": f"Bearer {token}"}).status_code
