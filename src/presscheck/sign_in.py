"""Signing in to the service of a profile: checks the address and the token, then stores them.

The token is a personal token, or was issued by a sign-in by browser.
"""

from __future__ import annotations

import json
import secrets
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from presscheck.api.organizations import ListOrganizations
from presscheck.api.users import GetCurrentUser, User
from presscheck.config.profile import Profile, load
from presscheck.config.settings_schema import first_file
from presscheck.config.tokens import lock_token, set_elsewhere, store_token, stored_token
from presscheck.config.validation import HOSTED, read, require_encryption
from presscheck.errors import ConfigurationError, NotSupported
from presscheck.paths import private_directory, private_opener
from presscheck.wiring import connect

if TYPE_CHECKING:
    from presscheck.client.oauth import DeviceCode, IssuedTokens, OAuthClient, SignInEndpoints
    from presscheck.config.browser_session import BrowserSession

LARGEST_SKEW = 300.0
"""Difference in seconds between the clocks of this machine and the service, above which it is reported."""


class SignedIn(NamedTuple):
    """The result of signing in.

    Attributes:
        profile: the profile, with its token.
        user: the signed-in user; None if the service does not report the user.
        place: where the token is stored, as text.
        replaced: the sign-in by browser that was stored before, to be revoked; None if there was none.
    """

    profile: Profile
    user: User | None
    place: str
    replaced: BrowserSession | None


class SignIn:
    """The steps of signing in to the service of a profile.

    Args:
        file: the settings file; it need not exist.
        name: the name of the profile; it need not be in the file.
        environment: the environment variables.

    Raises:
        ConfigurationError: a setting is invalid.
    """

    def __init__(self, file: Path, name: str, environment: Mapping[str, str]) -> None:
        self.file, self.name, self._environment = file, name, dict(environment)
        self._settings = read(file, name)

    @property
    def default_address(self) -> str:
        """The URL of the service to sign in to by default."""
        address: str = self._environment.get("PRESSCHECK_BASE_URL") or self._settings.get("base_url") or HOSTED
        return address.rstrip("/")

    def check(self, base_url: str | None) -> str:
        """Check that the user can sign in, before asking for a token. Return the URL of the service.

        Args:
            base_url: the URL of the service; None for the default.

        Raises:
            ConfigurationError: the profile has another URL or a token from another source, or the token would be
                sent unencrypted.
        """
        if self._settings and base_url and base_url.rstrip("/") != self._settings.get("base_url", HOSTED).rstrip("/"):
            raise ConfigurationError(
                f"{self.file}: profiles.{self.name} already has another base_url. "
                "Change it in the file, or use --profile"
            )
        elsewhere = set_elsewhere(self._settings, self._environment)
        if elsewhere:
            raise ConfigurationError(
                f"the token of profile {self.name} comes from {elsewhere}. Remove it there, then sign in again"
            )
        address = (base_url or self.default_address).rstrip("/")
        require_encryption(address, self.file, self.name, allow_http=self._allow_http)
        return address

    async def verify(self, address: str, token: str) -> User | None:
        """Check a token. Return its user, or None if the service does not report the user.

        Raises:
            PresscheckError: the URL is invalid, the service does not respond, or it rejects the token.
        """
        profile = Profile(name=self.name, base_url=address, token=token, allow_http=self._allow_http)
        async with connect(profile) as client:
            try:
                return await client.send(GetCurrentUser())
            except NotSupported:
                await client.send(ListOrganizations(limit=1))
                return None

    async def by_device(
        self, address: str, scope: str, show: Callable[[DeviceCode], None], report: Callable[[str], None]
    ) -> BrowserSession:
        """Sign in with a code that the user enters in a browser on any machine.

        Args:
            address: the URL of the service.
            scope: the access that the sign-in grants: `read`, `write` or `admin`.
            show: shows the code to the user.
            report: reports an event during the wait, such as a lost connection.

        Raises:
            PresscheckError: the service does not offer it or does not respond, the user denied, or the code expired.
        """
        from presscheck.client.oauth import OAuthClient  # 90 ms, only to sign in

        async with OAuthClient(address, insecure=self._allow_http) as client:
            endpoints = await client.endpoints()
            device = await client.request_device(endpoints, scope)
            show(device)
            issued = await client.wait(endpoints, device, report)
            return _session(client, endpoints, issued, scope, report)

    async def by_redirect(
        self, address: str, scope: str, port: int, show: Callable[[str], None], report: Callable[[str], None]
    ) -> BrowserSession:
        """Sign in with a browser on this machine, which returns to a port of this machine.

        Args:
            address: the URL of the service.
            scope: the access that the sign-in grants: `read`, `write` or `admin`.
            port: the port; 0 for any.
            show: opens a URL in the browser.
            report: reports an event, such as a wrong clock.

        Raises:
            PresscheckError: the service does not offer it or does not respond, the user denied, the port is in use, or
                the answer belongs to another sign-in.
        """
        # 90 ms, only to sign in
        from presscheck.client.loopback import Loopback
        from presscheck.client.oauth import OAuthClient

        async with OAuthClient(address, insecure=self._allow_http) as client:
            endpoints = await client.endpoints()
            async with Loopback(port) as loopback:
                request = client.request_code(endpoints, scope, loopback.redirect_uri)
                show(request.url)
                answer = await loopback.wait()
            issued = await client.exchange(endpoints, request, answer, loopback.redirect_uri)
            return _session(client, endpoints, issued, scope, report)

    def store(self, base_url: str | None, token: str | BrowserSession, user: User | None) -> SignedIn:
        """Store the profile and its token. Blocks while it accesses the keyring and the disk.

        A sign-in by browser that it replaces stays alive at the service until it is revoked.

        Args:
            base_url: the URL for a new profile; None for the default.
            token: the checked token, or the sign-in by browser that it belongs to.
            user: the user of the token.

        Raises:
            ConfigurationError: the settings file cannot be changed.
            StoreError: another process renews the stored sign-in and does not finish.
        """
        address = (base_url or self.default_address).rstrip("/")
        if not self._settings:
            self._add_profile(base_url)
        loaded = load(self.file, environment={**self._environment, "PRESSCHECK_PROFILE": self.name}, with_token=False)
        with lock_token(self.file.parent, self.name, address):
            replaced = self._stored_session(address)
            if isinstance(token, str):
                place, browser = store_token(self.file.parent, self.name, address, token), None
            else:
                from presscheck.config.browser_session import StoredSession  # 1 ms, only to sign in by browser

                browser = StoredSession(self.file.parent, self.name, address, token)
                place, token = browser.write(token), token.access
        profile = replace(loaded, base_url=address, token=token, token_from=place, browser=browser)
        return SignedIn(profile, user, place, replaced)

    @property
    def _allow_http(self) -> bool:
        return bool(self._settings.get("allow_http", False))

    def _stored_session(self, address: str) -> BrowserSession | None:
        from presscheck.config.browser_session import BrowserSession  # 1 ms, only to sign in

        with suppress(ConfigurationError):  # the keyring may not provide the token
            return BrowserSession.parse(stored_token(self.file.parent, self.name, address).text or "")
        return None

    def _add_profile(self, base_url: str | None) -> None:
        """Add the profile to the end of the settings file. A new file begins with descriptions of all settings."""
        file, name = self.file, self.name
        private_directory(file.parent)
        text = file.read_text("utf-8-sig") if file.exists() else first_file() if name == "default" else ""
        header = f'[profiles."{name}"]' if "." in name else f"[profiles.{name}]"
        if header not in text:
            text += ("\n" if text else "") + header + "\n"
        if base_url:
            text = text.replace(header + "\n", f"{header}\nbase_url = {json.dumps(base_url.rstrip('/'))}\n", 1)
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            raise ConfigurationError(
                f"{file}: could not add the profile. Add {header} to the file and try again"
            ) from None
        if not file.exists() or file.read_text("utf-8") != text:
            with open(file, "w", encoding="utf-8", opener=private_opener) as opened:
                opened.write(text)


async def revoke(profile: Profile, session: BrowserSession | None) -> None:
    """Revoke the tokens of a sign-in by browser at the service of a profile. Does nothing without a sign-in.

    Raises:
        RequestError: the service refuses or does not respond.
    """
    from presscheck.client.oauth import OAuthClient  # 90 ms, only to sign out

    if session and session.revocation_url:
        async with OAuthClient(profile.base_url, insecure=profile.allow_http) as client:
            await client.revoke(session.revocation_url, session.refresh or session.access)


def _session(
    client: OAuthClient, endpoints: SignInEndpoints, issued: IssuedTokens, scope: str, report: Callable[[str], None]
) -> BrowserSession:
    from presscheck.config.browser_session import BrowserSession  # 1 ms, only to sign in by browser

    now = time.time()
    skew = now - (client.service_time or now)
    if abs(skew) > LARGEST_SKEW:
        report(f"The clock of this machine is {abs(skew) / 60:.0f} min {'ahead' if skew > 0 else 'behind'}: set it")
    return BrowserSession(
        secrets.token_hex(16),
        issued.access,
        issued.refresh,
        now + issued.seconds,
        issued.scope or scope,
        endpoints.token,
        endpoints.revocation,
    )
