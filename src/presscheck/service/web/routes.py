"""Routes for browsers: published sites and app URLs; their modules are imported on the first request."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.db.version import CurrentVersion
from presscheck.service.http.middleware import origin_of
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.page_cache import PublishedPages
from presscheck.service.web.style_sheet import StyleSheet


def web_routes(
    database: Database, versions: CurrentVersion, files: BlobStore, clock: Clock, blocks: BlockDrawer
) -> list[Route]:
    """Return the routes of published sites and their style sheet.

    Args:
        database: the database of the service.
        versions: the version of the database.
        files: the stored files.
        clock: returns the current time.
        blocks: draws the blocks of integrations.
    """

    def send_app_page(request: Request) -> Response:
        from presscheck.service.web.views import app_page  # takes 106 ms to import, so only for browsers

        return app_page(f"{origin_of(request)}{quote(request.url.path)}")

    send_site = PublishedPages(database, versions, files, clock, blocks)
    return [
        Route("/app/{path:path}", send_app_page, methods=["GET"]),
        Route("/docs/{site}", send_site, methods=["GET"]),
        Route("/docs/{site}/{path:path}", send_site, methods=["GET"]),
        Route("/preview/{preview}/{path:path}", send_site, methods=["GET"]),
        Route("/assets/site.css", StyleSheet(), methods=["GET"]),
        Route("/assets/site-{digest}.css", StyleSheet(), methods=["GET"]),
    ]
