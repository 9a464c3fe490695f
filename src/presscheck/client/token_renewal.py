"""Renewal of the tokens of a sign-in by browser, before they expire or after the service refused them.

A refresh token is used once: a second use ends the sign-in. So the tasks of a process share one renewal, and processes
take turns by a lock on a file. The renewal goes on when the request that needed it is cancelled; otherwise the new
tokens would be lost.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

from typing_extensions import override

from presscheck.client.client import Bearer
from presscheck.client.oauth import OAuthClient
from presscheck.config.browser_session import BrowserSession, StoredSession
from presscheck.errors import NotSignedIn, PresscheckError

EARLY = 60.0
"""An access token is renewed if it expires in less than this number of seconds."""


class RenewedBearer(Bearer):
    """Authentication with the access token of a sign-in by browser.

    Args:
        stored: where the sign-in is stored.
        insecure: allow plain HTTP to another machine.
    """

    def __init__(self, stored: StoredSession, *, insecure: bool = False) -> None:
        super().__init__(None)
        self._stored, self._insecure = stored, insecure
        self._session = stored.session
        self._renewal: asyncio.Task[BrowserSession] | None = None

    @override
    def __repr__(self) -> str:
        return "RenewedBearer(…)"

    @override
    async def header(self) -> str:
        session = self._session
        if session.refresh and session.expires_at - EARLY < time.time():
            session = await self._renewed(session)
        return f"Bearer {session.access}"

    @override
    async def renewed_header(self, refused: str) -> str:
        session = self._session
        if not session.refresh:
            return ""
        if refused == f"Bearer {session.access}":
            session = await self._renewed(session)
        return f"Bearer {session.access}"

    @override
    async def finish(self) -> None:
        if self._renewal:
            with suppress(PresscheckError):
                await asyncio.shield(self._renewal)

    async def _renewed(self, stale: BrowserSession) -> BrowserSession:
        if self._session is not stale:
            return self._session
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew(stale))
            self._renewal.add_done_callback(_retrieve)
        return await asyncio.shield(self._renewal)

    async def _renew(self, stale: BrowserSession) -> BrowserSession:
        """Use the refresh token, unless another process has done so.

        Raises:
            NotSignedIn: the sign-in has ended.
            RequestError: the service does not respond.
            StoreError: another process takes too long.
        """
        with await asyncio.to_thread(self._stored.lock):
            session = await asyncio.to_thread(self._stored.read)
            if session is None:
                raise NotSignedIn("You signed out: run `presscheck login`", request="POST /oauth/token", status=401)
            if session.id != stale.id:  # perhaps of another user, whose pages do not belong into this cache
                raise NotSignedIn(
                    "You signed in again: restart presscheck to use it", request="POST /oauth/token", status=401
                )
            if session.access == stale.access:
                async with OAuthClient(self._stored.base_url, insecure=self._insecure) as client:
                    issued = await client.refresh(session.token_url, session.refresh)
                session = replace(
                    session,
                    access=issued.access,
                    refresh=issued.refresh or session.refresh,
                    expires_at=time.time() + issued.seconds,
                )
                await asyncio.to_thread(self._stored.write, session)
            self._session = session
            return session


def _retrieve(renewal: asyncio.Task[BrowserSession]) -> None:
    """Retrieve the error of a renewal; otherwise asyncio would log it if the waiting request was cancelled."""
    if not renewal.cancelled():
        renewal.exception()
