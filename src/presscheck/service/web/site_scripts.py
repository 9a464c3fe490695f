"""Script files that integrations add to published sites. The script of an integration generates each file once."""

from __future__ import annotations

import time
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.http.middleware import origin_of
from presscheck.service.http.operations import Caller, Context, is_fit, not_found, problem_response
from presscheck.service.http.turns import Threads
from presscheck.service.integrations.event_delivery import DeliveryLog, Outcome, deliver_event
from presscheck.service.integrations.integrations import receiver_of
from presscheck.service.jobs.worker import Workers
from presscheck.service.sites.scripts import script_at

CAPACITY = 4 * 1024 * 1024
"""Capacity of the cache of a process, in bytes."""
MOST_AT_ONCE, MOST_WAITING = 2, 100
"""Maximum number of scripts that are generated at the same time, and of requests that wait."""
PAUSE = 60
"""Seconds after which another attempt is made to generate a script."""
LIFETIME = 3600
"""Seconds for which browsers keep a script; its URL changes with the integration and its installation."""
HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": f"public, max-age={LIFETIME}",
}
NO_SCRIPT = "The integration did not respond with a script."


class SiteScripts:
    """The endpoint of the scripts of published sites.

    Args:
        database: the database of the service.
        files: the stored files.
        clock: returns the current time.
        workers: the client for outgoing requests and the settings of scripts.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock, workers: Workers) -> None:
        self._database, self._files, self._clock, self._workers = database, files, clock, workers
        self._cache = BoundedCache(CAPACITY)
        self._threads = Threads(MOST_AT_ONCE, waiting=MOST_WAITING, what="Scripts of integrations")

    async def answer(self, request: Request) -> Response:
        """Handle a request."""
        text = await self._threads.run(self._script, request)
        if text is None:
            return problem_response(502, NO_SCRIPT, {"cache-control": "no-store"})
        return Response(text, 200, HEADERS, "text/javascript")

    def _script(self, request: Request) -> str | None:
        """Return a script, or None if the integration does not generate it.

        Raises:
            ApiError: 404, no site has this script.
        """
        site_id, installation_id, signature = (
            request.path_params[name] for name in ("site_id", "installation_id", "signature")
        )
        with self._database.snapshot() as session:
            files = StagedFiles(self._files, may_wait=True)
            context = Context(session, Caller("", "", None, None), origin_of(request), self._clock, files)
            is_possible = is_fit(site_id) and is_fit(installation_id)
            installed = script_at(context, site_id, installation_id, signature) if is_possible else None
            if installed is None:
                raise not_found("script")
            # the environment of the script contains the origin, which depends on the visitor's `Host` header
            key = (signature, context.origin)
            text: str | None = self._cache.get(key)
            recent_failure = (signature, int(time.monotonic() // PAUSE))
            if text is not None or self._cache.get(recent_failure):
                return text
            receiver = receiver_of(context, *installed, is_own=None, site_id=site_id)
        event = {
            "eventId": new_id(),
            "type": "fetch_published_script",
            "installationId": installation_id,
            "siteId": site_id,
        }
        outcome: Outcome = deliver_event(
            receiver,
            event,
            DeliveryLog(lambda: moment_text(self._clock())),
            outgoing=self._workers.outgoing,
            scripts=replace(self._workers.outside.scripts, is_for_visitors=True),
            read=self._files.read,
        )
        if not outcome.is_success or outcome.status != 200:
            self._cache.put(recent_failure, True, 500)
            return None
        self._cache.put(key, outcome.text, 2 * len(outcome.text) + 500)
        return outcome.text
