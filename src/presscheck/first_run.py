"""The first start without a token: the app opens a welcome screen, which asks where the documentation is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces
from presscheck.config.profile import Profile
from presscheck.demo import LocalService, demo_service, folder_service
from presscheck.errors import (
    ConfigurationError,
    Forbidden,
    InvalidArgument,
    NetworkError,
    NotSignedIn,
    NotSupported,
    PresscheckError,
    RequestError,
)
from presscheck.extras import missing_modules
from presscheck.paths import Places, places
from presscheck.sign_in import SignIn
from presscheck.wiring import app_without_token, connect, run_app

if TYPE_CHECKING:
    from presscheck.client.oauth import DeviceCode
    from presscheck.config.browser_session import BrowserSession

MOST_ENTRIES = 50_000
"""Maximum number of files and folders to look at when searching for a page."""
POLL = 0.2
"""Seconds between two checks whether a started service is ready."""


def open_first_run(profile: Profile) -> int:
    """Run the app, starting with the welcome screen. Return the exit code.

    Args:
        profile: a profile without a token; signing in adds one.

    Raises:
        ConfigurationError: a setting is invalid.
    """
    with ExitStack() as services:
        where = places()
        sign_in = SignIn(where.config_file, profile.name, os.environ)
        return run_app(app_without_token(profile, FirstRunChoices(sign_in, where, services)))


class FirstRunChoices:
    """The actions of the welcome screen; see `FirstRun` in `tui/screens/welcome`.

    Args:
        sign_in: signs in to the service of the profile.
        where: the directories of the user.
        services: the exit stack that stops the services started from the welcome screen.
    """

    def __init__(self, sign_in: SignIn, where: Places, services: ExitStack) -> None:
        self._sign_in, self._where, self._services = sign_in, where, services
        self.space = ""

    @property
    def address(self) -> str:
        """The URL of the profile's service."""
        return self._sign_in.default_address

    def missing_extra(self) -> str:
        """Return why the local service cannot run, or an empty text if it can."""
        missing = next(missing_modules("serve"), None)
        return "The last two need the local service: pip install 'presscheck[serve]'" if missing else ""

    async def sign_in(self, address: str, token: str, show: Callable[[str, str], None]) -> Profile:
        """Check the token and store it, as `presscheck login` does. Without a token, sign in by browser.

        Args:
            address: the URL of the service.
            token: the token; empty to sign in by browser.
            show: shows what to do in the browser, and the code to copy; the code is empty if it was copied already.

        Raises:
            InvalidArgument: the field `address` or `token` is invalid.
            PresscheckError: the token cannot be stored.
        """
        base_url = None if address.rstrip("/") == self.address else address
        try:
            checked = self._sign_in.check(base_url)
            signed_in = token or await self._by_browser(checked, show)
            access = signed_in if isinstance(signed_in, str) else signed_in.access
            user = await self._sign_in.verify(checked, access)
        except (NotSignedIn, NotSupported, Forbidden) as error:
            raise InvalidArgument("token", error.message) from error
        except (ConfigurationError, NetworkError) as error:
            raise InvalidArgument("address", error.message) from error
        except RequestError as error:
            message = f"it does not respond as a documentation service does: {error.message}. Check the address"
            raise InvalidArgument("address", message) from error
        try:
            done = await asyncio.to_thread(self._sign_in.store, base_url, signed_in, user)
        except OSError as error:
            raise ConfigurationError(
                f"{self._sign_in.file.parent}: the token is not stored: {error.strerror}"
            ) from None
        return done.profile

    async def _by_browser(self, address: str, show: Callable[[str, str], None]) -> BrowserSession:
        steps = ""

        def show_code(device: DeviceCode) -> None:
            nonlocal steps
            steps = f"Enter the code {device.user_code} at {device.url} in any browser."
            show(f"{steps} The code is in your clipboard, if the terminal permits it.", device.user_code)

        return await self._sign_in.by_device(address, "write", show_code, lambda event: show(f"{event}. {steps}", ""))

    async def open_sample(self) -> Profile:
        """Start the sample workspace.

        Raises:
            PresscheckError: the sample workspace cannot be started.
        """
        try:
            return await asyncio.to_thread(self._services.enter_context, demo_service(where=self._where))
        except OSError as error:
            raise ConfigurationError(
                f"{self._where.data}: the sample workspace did not start: {error.strerror}"
            ) from None

    async def open_folder(self, folder: str) -> Profile:
        """Start a service with a folder, and wait until it is imported.

        Raises:
            InvalidArgument: the folder cannot be read, has no Markdown file, or cannot be imported.
            PresscheckError: the service cannot be started.
        """
        path = await asyncio.to_thread(_documentation_folder, folder)
        attempt = self._services.enter_context(ExitStack())  # closed with the other services, or immediately on failure
        try:
            service = await asyncio.to_thread(attempt.enter_context, folder_service(path, self._where))
            self.space = await _imported_space(service)
        except OSError as error:
            raise ConfigurationError(f"{self._where.data}: the service did not start: {error.strerror}") from None
        except BaseException:
            await asyncio.shield(asyncio.to_thread(attempt.close))
            raise
        return service.profile


def _documentation_folder(text: str) -> Path:
    """Return the folder at a path that the user typed.

    Raises:
        InvalidArgument: the folder cannot be read, or has no Markdown file.
    """
    try:
        path = Path(text).expanduser().absolute()
        if not path.is_dir():
            reason = "is a file: give the folder that it is in" if path.exists() else "does not exist"
            raise InvalidArgument("folder", f"{path} {reason}")
        os.scandir(path).close()
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a path"
        raise InvalidArgument("folder", f"{text} cannot be read: {reason}") from None
    if not _has_page(path):
        raise InvalidArgument("folder", f"{path} has no Markdown file (.md): choose the folder with your pages")
    return path


def _has_page(path: Path) -> bool:
    """Return whether a folder contains a Markdown file.

    Hidden folders and `node_modules` are skipped. The search stops after `MOST_ENTRIES` entries.
    """
    seen = 0
    for _, folders, files in os.walk(path):
        folders[:] = [name for name in folders if name[0] != "." and name != "node_modules"]
        if any(name.lower().endswith(".md") for name in files):
            return True
        seen += len(files) + len(folders)
        if seen > MOST_ENTRIES:
            break
    return False


async def _imported_space(service: LocalService) -> str:
    """Wait until a service responds. Return the id of the imported space, or an empty string if it has no space.

    Raises:
        InvalidArgument: the service exited, because the folder cannot be imported.
        PresscheckError: the service returned an error.
    """
    while True:
        try:
            async with connect(service.profile) as client:
                [organization, *_] = (await client.send(ListOrganizations())).items
                spaces = (await client.send(ListSpaces(organization_id=organization.id))).items
                return spaces[0].id if spaces else ""
        except PresscheckError as error:
            failure = await asyncio.to_thread(service.failure)
            if failure:
                raise InvalidArgument("folder", f"could not be imported: {failure}") from error
            if not isinstance(error, NetworkError):
                raise
            await asyncio.sleep(POLL)
