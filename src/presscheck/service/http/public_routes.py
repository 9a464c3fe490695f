"""Endpoints outside the API, without a token: health, readiness, API description, files and specifications.

Their URLs are public, or signed and expiring.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from presscheck.service.blobs.store import BlobStore, FilesUnavailable
from presscheck.service.content.file_urls import require_signature
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.http.files import file_response, files_unavailable
from presscheck.service.http.middleware import origin_of
from presscheck.service.http.openapi import description
from presscheck.service.http.operations import ApiError, is_fit, refusal
from presscheck.service.http.turns import Busy, Threads
from presscheck.service.models.imports import SpecRow, SpecVersionRow
from presscheck.service.models.integrations import IntegrationRow
from presscheck.service.pdf.export import exported_pdf

MOST_ASKING = 20
"""Maximum number of readiness checks that wait for the running check."""
LONGEST_READY = 5
"""Time within which the database must respond for the service to be ready, in seconds."""
MOST_EXPORTS = 4
"""Maximum number of PDFs created at the same time, so that exports do not occupy the threads of the API."""


def open_routes(
    database: Database, files: BlobStore, data: Path, clock: Clock, release: str | None = None
) -> list[Route]:
    """Return the routes of all endpoints outside the API.

    Args:
        database: the database of the service.
        files: the stored files.
        data: the data directory, for the cache of PDFs.
        clock: returns the current time.
        release: the API release to describe; by default all operations.
    """

    def send_file(request: Request) -> Response:
        content, name = request.path_params["content_id"], request.path_params["name"]
        with database.snapshot() as session:
            require_signature(session, content, request.query_params, clock())
        return file_response(files, content, name, {"cache-control": "private"})

    at_once = CapacityLimiter(MOST_EXPORTS)

    async def send_pdf(request: Request) -> Response:
        return await run_sync(_exported, database, files, data, request, limiter=at_once)

    asking = Threads(1, waiting=MOST_ASKING, what="Checks of the database")

    async def send_readiness(_request: Request) -> Response:
        try:
            async with asyncio.timeout(LONGEST_READY):
                await asking.run(_ask, database)
        except (SQLAlchemyError, TimeoutError, Busy):
            return JSONResponse({"status": "the database does not respond"}, 503)
        return JSONResponse({"status": "ok"})

    return [
        Route("/pdf/{signed}/{name}", send_pdf, methods=["GET"]),
        _get("/openapi.json", lambda _request: Response(description(release), media_type="application/json")),
        Route("/healthz", _health, methods=["GET"]),
        Route("/readyz", send_readiness, methods=["GET"]),
        _get("/files/{content_id}/{name}", send_file),
        _get("/openapi/{organization_id}/{slug}.json", lambda request: _spec(database, files, request)),
        _get("/integrations/{name}/assets/{file}", lambda request: _asset(database, files, request)),
    ]


def _spec(database: Database, files: BlobStore, request: Request) -> Response:
    organization, slug = request.path_params["organization_id"], request.path_params["slug"]
    published_spec = (
        select(SpecVersionRow.content)
        .join(SpecRow, SpecRow.last_version == SpecVersionRow.id)
        .where(SpecRow.organization_id == organization, SpecRow.slug == slug, SpecRow.visibility == "public")
    )
    with database.snapshot() as session:
        content = session.scalar(published_spec) if is_fit(organization + slug) else None
    return file_response(files, content or "", f"{slug}.json", {"access-control-allow-origin": "*"})


def _asset(database: Database, files: BlobStore, request: Request) -> Response:
    """Respond with an image of a public integration: `icon.png`, or `preview-1.png` and so on."""
    pictures = select(IntegrationRow.icon, IntegrationRow.preview_images).where(
        IntegrationRow.name == request.path_params["name"], IntegrationRow.visibility != "private"
    )
    with database.snapshot() as session:
        row = session.execute(pictures).first() if is_fit(request.path_params["name"]) else None
    named: dict[str, str] = {}
    if row is not None:
        named = {f"preview-{number}.png": picture for number, picture in enumerate(row.preview_images, start=1)}
        named["icon.png"] = row.icon or ""
    file = request.path_params["file"]
    return file_response(files, named.get(file, ""), file, {"access-control-allow-origin": "*"})


async def _health(_request: Request) -> Response:
    """Respond without a thread or the database, so that a busy service is still reported as alive."""
    return JSONResponse({"status": "ok"})


def _ask(database: Database) -> None:
    with database.snapshot() as session:
        session.execute(text("SELECT 1"))


def _exported(database: Database, files: BlobStore, data: Path, request: Request) -> Response:
    try:
        path = exported_pdf(database, files, data, origin_of(request), request.path_params["signed"])
    except FilesUnavailable as error:
        return refusal(files_unavailable(error))
    except ApiError as problem:
        return refusal(problem)
    return FileResponse(
        path,
        headers={"x-content-type-options": "nosniff", "cache-control": "private"},
        media_type="application/pdf",
        filename=request.path_params["name"],
        content_disposition_type="inline",
    )


def _get(path: str, answer: Callable[[Request], Response]) -> Route:
    return Route(path, answer, methods=["GET"])
