"""Responses of published sites: a page, search results, a redirect, or an error page."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as JinjaContext
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from presscheck.documents.git_format.models import DEFAULT_LAYOUT
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.condition_tags import holds_without_claims, visible_words
from presscheck.service.blobs.store import BlobStore
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.sites.scripts import policy_with
from presscheck.service.sites.urls import present_name
from presscheck.service.web import navigation
from presscheck.service.web.access import AccessDenied, Reader, admitted
from presscheck.service.web.assets import asset_path
from presscheck.service.web.cached_response import THEME, THEMES, SitePage, wants_markdown
from presscheck.service.web.feedback import has_form
from presscheck.service.web.feeds import FEED, feed_address
from presscheck.service.web.fonts import font_sheet
from presscheck.service.web.html.code import DIAGRAM_CLASS
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.json_rpc import MCP_PATH
from presscheck.service.web.languages import is_right_to_left
from presscheck.service.web.links import destination_address, resolve_reference
from presscheck.service.web.machine_files import is_indexed, machine_file, markdown_address, markdown_page
from presscheck.service.web.navigation import TreeHtml
from presscheck.service.web.page_actions import PageActions, page_actions, page_pdf
from presscheck.service.web.page_body import page_body
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.search import LONGEST_QUERY, search_page
from presscheck.service.web.site_files import site_file
from presscheck.service.web.site_record import SiteRecords
from presscheck.service.web.structured_data import structured_data
from presscheck.service.web.theme import Appearance
from presscheck.service.web.translations import translated
from presscheck.service.web.variants import alternates, default_version, variants

POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' http: https: data:",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""The content security policy of pages, as defense in depth: it forbids all scripts except those that a page adds to
it, which are the script of the site and the scripts of integrations.
"""
SANDBOX = (
    "allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads"
    " allow-top-navigation-by-user-activation"
)
"""The sandbox of pages with scripts of integrations. Its opaque origin keeps the scripts out of other sites."""
SEARCH = "'self'"
"""The origin to which the script of the site may send requests, for search results while the reader types. Pages with
scripts of integrations have no such results, because those scripts must not send requests to the service.
"""


def _as_header(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


HEADERS = {
    "content-security-policy": _as_header(POLICY),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "vary": "accept, accept-encoding, cookie",
}
"""Headers of all pages."""
TYPING = "typing"
"""The query parameter of searches while a reader types. Their pages have no page tree, which can be 300 kB."""
CLOSED_TO_ROBOTS = ("/v1/", "/app/", "/preview/")
"""Paths that search engines must not read."""
YEAR = 365 * 24 * 3600


def site_response(
    context: Context, request: Request, files: BlobStore, sites: SiteRecords, blocks: BlockDrawer | None
) -> Response:
    """Respond to a request below ``/docs/`` or ``/preview/``.

    Args:
        context: the transaction.
        request: the request.
        files: the stored files.
        sites: the cache of sites for this transaction.
        blocks: draws the blocks of integrations, or None to leave them out (see `page_body`).
    """
    try:
        reader = admitted(context, request, sites)
    except AccessDenied as closed:
        return _error_page(closed.status)
    if isinstance(reader, Response):
        return reader
    if not reader.path and not request.url.path.endswith("/") and reader.site.visibility != "share-link":
        return RedirectResponse(_with_query(reader.base, request), 307)
    theme = request.query_params.get(THEME)
    if theme in THEMES:
        return _with_theme(reader, request, theme)
    if reader.path == MCP_PATH:
        return Response(status_code=405, headers={"allow": "POST"})
    try:
        site = PublishedSite(context, reader, sites.record(context, reader.site))
    except AccessDenied as closed:
        return _error_page(closed.status)
    try:
        if_none_match = request.headers.get("if-none-match", "")
        file = site_file(site, files, if_none_match, lambda status, _message: _error_page(status))
    except ApiError as missing:
        return _error_page(missing.status)
    if file is not None:
        return file
    query = request.query_params.get("q")
    if query is None and (
        file := machine_file(site, _headers(site)) or font_sheet(site, _headers(site)) or page_pdf(site)
    ):
        return file
    target = _redirect(site) if query is None else None
    if target:
        return RedirectResponse(site.absolute(target), 307, {"cache-control": "no-cache"})
    looks = Appearance(site, request.cookies.get(THEME))
    if query is not None:
        return _search_response(site, looks, query[:LONGEST_QUERY], request)
    return _respond(site, looks, request, blocks)


def app_page(address: str) -> Response:
    """Respond to an app URL with the command that opens it in the terminal, as this service has no web app."""
    headers = HEADERS | {"cache-control": "no-store", "x-robots-tag": "noindex"}
    command = f"presscheck open {shlex.quote(address)}"
    return HTMLResponse(_templates().get_template("app.html").render(command=command), 200, headers)


def refused_form(error: ApiError) -> Response:
    """Respond to a form that was not accepted, with the reason."""
    headers = HEADERS | {"cache-control": "no-store", "x-robots-tag": "noindex"}
    if error.retry_after:
        headers["retry-after"] = str(error.retry_after)
    page = _templates().get_template("closed.html").render(status=error.status, reason=error.message)
    return HTMLResponse(page, error.status, headers)


def sign_in_page(status: int, form_origin: str, **values: Any) -> Response:
    """Respond with a page of the sign-in by browser.

    Args:
        status: the status of the response.
        form_origin: the origin to which the response to the form may redirect; empty if it does not redirect.
        values: variables of the template.
    """
    policy = POLICY | {"form-action": f"'self' {form_origin}".rstrip()}
    headers = HEADERS | {"content-security-policy": _as_header(policy), "cache-control": "no-store"}
    texts = dict.fromkeys(("form", "scope", "code", "problem", "is_asking", "is_approved"), "") | values
    return HTMLResponse(_templates().get_template("sign_in.html").render(texts), status, headers)


def front_page(session: Session) -> Response:
    """Respond to a browser at the top of the service with the list of public sites."""
    page = _templates().get_template("front.html").render(sites=_public_sites(session))
    return HTMLResponse(page, 200, HEADERS | {"cache-control": "no-cache"})


def robots(session: Session, origin: str) -> Response:
    """Respond with the `robots.txt` of the host, which names the sitemaps of the public sites.

    Sites have their own `robots.txt`, but search engines only read this one.
    """
    lines = [f"Disallow: {path}" for path in CLOSED_TO_ROBOTS]
    lines += [f"Sitemap: {origin}{path}sitemap.xml" for _, path in _public_sites(session)]
    text = "\n".join(("User-agent: *", *lines, ""))
    return Response(text, 200, {"cache-control": "no-cache"}, media_type="text/plain")


def _public_sites(session: Session) -> list[tuple[str, str]]:
    """Return the titles and URL paths of the public sites."""
    public = select(SiteRow).where(SiteRow.published.is_(True), SiteRow.visibility == "public").order_by(SiteRow.title)
    return [(site.title, f"/docs/{quote(present_name(site))}/") for site in session.scalars(public)]


def _search_response(site: PublishedSite, looks: Appearance, query: str, request: Request) -> Response:
    number = request.query_params.get("page", "")
    number = int(number) if number.isdecimal() and len(number) < 6 else 1
    is_typing = TYPING in request.query_params
    results = search_page(site, query, request.query_params.get("in", ""), number, is_typing=is_typing)
    parts = {"q": query, **{name: request.query_params.get(name, "") for name in ("in", "page")}}
    kept = urlencode({name: value for name, value in parts.items() if value})
    values: dict[str, Any] = {"query": query, "results": results, "is_indexed": False, "kept": kept}
    if is_typing:  # the script of the site takes only the results from the page
        values["tree"] = ""
    return _page(site, looks, "found.html", site.find(site.path), **values)


def _respond(site: PublishedSite, looks: Appearance, request: Request, blocks: BlockDrawer | None) -> Response:
    page = site.find(site.path)
    if page is None:
        moved = site.moved(site.path)
        if moved:
            return RedirectResponse(_with_query(site.absolute(moved), request), 307, {"cache-control": "no-cache"})
        home, near = site.find(""), navigation.similar(site, site.path)
        return _page(site, looks, "missing.html", home, status=404, is_indexed=False, near=near)
    address = site.address(*page)
    if wants_markdown(request.headers.get("accept", "")):
        return markdown_page(site, *page, _headers(site))
    if unquote(address) != f"{site.base}{site.reader.path}":
        return RedirectResponse(_with_query(site.absolute(address), request), 307, {"cache-control": "no-cache"})
    return _page(site, looks, "page.html", page, **_document(site, looks, blocks, *page))


def _with_query(url: str, request: Request) -> str:
    """Return another URL of the requested page, with the query of the request."""
    query, (address, separator, fragment) = request.url.query, url.partition("#")
    return f"{address}?{query}{separator}{fragment}" if query else url


def _document(
    site: PublishedSite, looks: Appearance, blocks: BlockDrawer | None, site_space: SiteSpaceRow, place: PagePosition
) -> dict[str, Any]:
    """Return the template variables of a page, besides the variables of the layout."""
    page = place.page
    language = _language(site, looks, site_space)
    text = page_body(site, site_space, place, blocks, language, is_new_tab=looks.is_new_tab)
    body = text.html
    before, after = navigation.neighbours(site, site_space, place)
    above, url = _trail(site, site_space, place), site.absolute(site.address(site_space, place))
    is_listed = site.is_listed and is_indexed(place)
    layout = {**DEFAULT_LAYOUT, **_object(page.get("layout"))}
    return {
        "title": page["title"],
        "description": page.get("description") or "",
        "summary": page.get("description") or text.summary,
        "emoji": navigation.page_sign(page),
        "layout": layout,
        "body": body.html,
        "connections": body.connections,
        "frames": body.frames,
        "diagram_script": site.context.diagram_script if f'"{DIAGRAM_CLASS}' in body.html else "",
        "outline": body.outline if layout["outline"] else (),
        "trail": above,
        "cover": _cover(site, site_space, page) if layout["cover"] else None,
        "before": before if looks.has_pagination and layout["pagination"] else None,
        "after": after if looks.has_pagination and layout["pagination"] else None,
        "canonical": url,
        "is_indexed": is_listed,
        "structured_data": structured_data(site, page, url, above, language) if is_listed else None,
        "feeds": _feeds(site, site_space, place, has_updates=text.has_updates),
        "updated": page.get("updatedAt") if layout["metadata"] else None,
        "markdown": markdown_address(site, site_space, place),
        "actions": page_actions(site, site_space, place) if layout["actions"] else PageActions(),
        "asks": has_form(site),
        "version": default_version(site, site_space, place),
        "section_title": site.space_title(site_space) if len(site.site_spaces) > 1 else "",
        "alternates": alternates(site, site_space, place),
    }


def _feeds(
    site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, *, has_updates: bool
) -> list[tuple[str, str]]:
    """Return titles and URLs of the feeds of the site and of a page; previews have none."""
    if site.reader.is_previewing:
        return []
    feeds = [(site.title, f"{site.base}{FEED}")]
    if has_updates:
        feeds.append((str(place.page["title"]), feed_address(site, site_space, place)))
    return feeds


def _trail(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> list[tuple[str, str]]:
    """Return the titles and URLs of the ancestors of a page, outermost first; groups have no URL."""
    return [
        (
            ancestor.page["title"],
            site.address(site_space, ancestor) if ancestor.page["type"] == "document" else "",
        )
        for ancestor in navigation.trail(site, site_space, place)
    ]


def _cover(site: PublishedSite, site_space: SiteSpaceRow, page: dict[str, Any]) -> str | None:
    target = resolve_reference(site, _object(page.get("cover")).get("ref"), site_space.space_id)
    return target.url if target else None


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _page(
    site: PublishedSite,
    looks: Appearance,
    template: str,
    located: tuple[SiteSpaceRow, PagePosition] | None,
    *,
    status: int = 200,
    connections: tuple[str, ...] = (),
    frames: tuple[str, ...] = (),
    diagram_script: str = "",
    **values: Any,
) -> Response:
    site_space, place = located or (None, None)
    current = place if template == "page.html" else None
    scripts = [] if site.reader.is_previewing else site.record.scripts
    looks.language = _language(site, looks, site_space)
    has_fonts = bool(looks.font_sheet)
    values = {
        "looks": looks,
        "scripts": [*filter(None, (diagram_script,)), *(script.path for script in scripts)],
        "base": site.home,
        "language": looks.language,
        "is_right_to_left": is_right_to_left(looks.language),
        "sections": navigation.sections(site, site_space),
        "spaces": variants(site, site_space, current),
        "tree": _tree(site, site_space, current, looks.language) if site_space else "",
        "query": "",
        "kept": "",
        "outline": (),
        "previewed": site.previewed and site.previewed.request,
        "live": site.spaces[site_space.space_id].revision_id if site.context.is_live and site_space else "",
    } | values
    # only our own scripts, not all files of this host, which users upload
    own_scripts = filter(None, (asset_path("js"), diagram_script))
    policy = POLICY | {"script-src": " ".join(f"{site.context.origin}{path}" for path in own_scripts)}
    policy |= {"style-src": f"'self' '{_hash_source(looks.style)}'"}
    policy |= {"font-src": site.context.origin} if has_fonts else {}
    if scripts:
        policy = policy_with(policy | {"sandbox": SANDBOX}, scripts, site.context.origin)
    else:
        policy |= {"connect-src": " ".join((SEARCH, *connections))}
        policy |= {"frame-src": " ".join(frames)} if frames else {}
    headers = _headers(site) | {"content-security-policy": _as_header(policy)}
    if not values["is_indexed"]:
        headers["x-robots-tag"] = "noindex"
    response = SitePage if current else HTMLResponse
    with _shown_to(site):
        return response(_templates().get_template(template).render(values), status, headers)


def _hash_source(text: str) -> str:
    """Return the source in a content security policy that allows an inline element with this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _language(site: PublishedSite, looks: Appearance, site_space: SiteSpaceRow | None) -> str:
    return (site.spaces[site_space.space_id].language if site_space else None) or looks.language


def _headers(site: PublishedSite) -> dict[str, str]:
    return HEADERS | {"cache-control": site.cache_control}


def _tree(site: PublishedSite, site_space: SiteSpaceRow, current: PagePosition | None, language: str) -> str:
    label = translated("Pages under {0}", language)

    def rendered() -> TreeHtml:
        tree = navigation.tree(site, site_space)
        parts: Any = _templates().get_template("parts.html").module
        with _shown_to(site):
            return TreeHtml(str(parts.nodes(tree.nodes, label)) if tree.nodes else "", tree.ids)

    html = site.cached(f"page tree {language}", site_space, rendered, TreeHtml.weight)
    return html.at(current, navigation.trail(site, site_space, current) if current else ())


def _error_page(status: int) -> Response:
    headers = HEADERS | {"cache-control": "no-store", "x-robots-tag": "noindex"}
    return HTMLResponse(_templates().get_template("closed.html").render(status=status, reason=""), status, headers)


def _with_theme(reader: Reader, request: Request, theme: str) -> Response:
    """Store the chosen theme in a cookie and redirect back to the page or the search."""
    query = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != THEME])
    address = f"{reader.base}{quote(reader.path)}{query and f'?{query}'}"
    answer = RedirectResponse(address, 303, {"cache-control": "no-store"})
    answer.set_cookie(THEME, theme, max_age=YEAR, path="/", httponly=True, samesite="lax")
    return answer


def _redirect(site: PublishedSite) -> str | None:
    """Return the destination of the redirect for this path, or None if there is none or it leads to itself."""
    path = f"/{site.reader.path}".rstrip("/")
    row = site.record.redirects.get(path)
    destination = destination_address(site, row) if row else None
    return None if destination in (None, f"{site.base}{quote(path[1:])}") else destination


@pass_context
def _translated(variables: JinjaContext, words: str) -> str:
    return translated(words, variables.get("language", "en"))


@pass_context
def _date(variables: JinjaContext, value: str) -> str:
    """Return a time of the API as a date: 24 October 2025 in English, 2025-10-24 in other languages."""
    day = date.fromisoformat(value[:10])
    return f"{day.day} {day:%B %Y}" if variables.get("language", "en").startswith("en") else day.isoformat()


_holds: ContextVar[Callable[[str], bool]] = ContextVar("holds", default=holds_without_claims)
"""Whether the visitor of the page that is rendered in this thread meets a condition.

It is no variable of the templates: with variables, the macros would be made for each page, and be garbage after it.
"""


@contextmanager
def _shown_to(site: PublishedSite) -> Generator[None]:
    """Render what the visitor of the site may see."""
    before = _holds.set(site.holds)
    try:
        yield
    finally:
        _holds.reset(before)


def _visible(value: Any) -> Any:
    """Remove the parts of a text that the visitor may not see. Jinja calls this for every value before escaping it."""
    if not isinstance(value, str) or hasattr(value, "__html__"):  # markup consists of texts that have passed already
        return value
    return visible_words(value, _holds.get())


@cache
def _templates() -> Environment:
    loader = FileSystemLoader(Path(__file__).with_name("templates"))
    templates = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    cast("dict[str, Any]", templates.filters).update(date=_date, t=_translated)
    cast("dict[str, Any]", templates.globals).update(style_sheet=asset_path("css"), script=asset_path("js"))
    return templates
