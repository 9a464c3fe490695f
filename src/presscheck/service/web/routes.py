"""Routes for browsers: published sites and app URLs. Their modules are imported on the first request."""

from __future__ import annotations

from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.db.version import CurrentVersion
from presscheck.service.http.middleware import origin_of
from presscheck.service.web.assets import Asset, DiagramScript
from presscheck.service.web.cached_response import compress_response
from presscheck.service.web.feedback_form import FeedbackForm
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.json_rpc import MCP_PATH
from presscheck.service.web.live_pages import LIVE_PATH, LivePages
from presscheck.service.web.page_cache import PageCache
from presscheck.service.web.page_drawer import PageDrawer
from presscheck.service.web.published_pages import PublishedPages

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#9a4f1b"/>'
    '<path d="M4 5h8M4 8h8M4 11h5" stroke="#fff" stroke-width="1.5"/></svg>'
)
"""The icon of sites without an icon of their own."""


async def _redirect_to_front_page(_request: Request) -> Response:
    return RedirectResponse("/", 307)


async def _send_icon(_request: Request) -> Response:
    return Response(ICON, 200, {"cache-control": "public, max-age=86400"}, media_type="image/svg+xml")


def web_routes(
    database: Database,
    versions: CurrentVersion,
    files: BlobStore,
    clock: Clock,
    blocks: BlockDrawer,
    live: LivePages | None = None,
    diagrams: DiagramScript | None = None,
) -> list[Route]:
    """Return the routes of web pages: published sites, previews, the front page, links of the app, styles and scripts.

    Args:
        database: the database of the service.
        versions: reads the version of the database.
        files: the stored files.
        clock: returns the current time.
        blocks: draws the blocks of integrations.
        live: notifies pages of changes in their space.
        diagrams: the script that draws diagrams; without it, pages show the source of each diagram.
    """

    def send_app_page(request: Request) -> Response:
        from presscheck.service.web.views import app_page  # takes 106 ms to import, so only for browsers

        return app_page(f"{origin_of(request)}{quote(request.url.path)}")

    def send_front_page(request: Request) -> Response:
        from presscheck.service.web.views import front_page  # takes 106 ms to import, so only for browsers

        if "text/html" not in request.headers.get("accept", ""):
            raise HTTPException(404)
        with database.snapshot() as session:
            return compress_response(front_page(session), request.headers.get("accept-encoding", ""))

    def send_robots(request: Request) -> Response:
        from presscheck.service.web.views import robots  # takes 106 ms to import, so only for search engines

        with database.snapshot() as session:
            return robots(session, origin_of(request))

    diagram_script = diagrams.path if diagrams else ""
    pages = PageCache(database, versions, files, clock, is_live=live is not None, diagram_script=diagram_script)
    # pages of a preview are not drawn in advance: they change with each save, and have one reader
    drawer = None if live else PageDrawer(pages, database)
    send_site = PublishedPages(pages, drawer, blocks)
    feedback_form = FeedbackForm(database, files, clock)

    async def receive(request: Request) -> Response:
        is_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        is_feedback = is_form and not request.url.path.endswith(f"/{MCP_PATH}")
        return await (feedback_form.respond if is_feedback else send_site.respond_to_message)(request)

    return [
        Route("/", send_front_page, methods=["GET"]),
        Route("/robots.txt", send_robots, methods=["GET"]),
        Route("/favicon.ico", _send_icon, methods=["GET"]),
        Route("/app/{path:path}", send_app_page, methods=["GET"]),
        Route("/docs", _redirect_to_front_page, methods=["GET"]),
        Route("/docs/", _redirect_to_front_page, methods=["GET"]),
        Route("/docs/{site}", send_site, methods=["GET"]),
        Route("/docs/{site}/{path:path}", send_site, methods=["GET"]),
        Route("/docs/{site}", receive, methods=["POST"]),
        Route("/docs/{site}/{path:path}", receive, methods=["POST"]),
        Route("/preview/{preview}/{path:path}", send_site, methods=["GET"]),
        Route("/assets/site.css", Asset("css"), methods=["GET"]),
        Route("/assets/site-{digest}.css", Asset("css"), methods=["GET"]),
        Route("/assets/site-{digest}.js", Asset("js"), methods=["GET"]),
        *([Route(diagrams.path, diagrams, methods=["GET"])] if diagrams else []),
        *([Route(LIVE_PATH, live.answer, methods=["GET"])] if live else []),
    ]
