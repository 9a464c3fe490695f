"""The published site as visitors see it: address and reachability, sections and spaces, and appearance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from presscheck.api.published_sites import GetPublishedSite, PublishedContentSite
from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace
from presscheck.engine.publish.publishing import reach_words
from presscheck.errors import NotFound, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.text_screen import TextScreen

if TYPE_CHECKING:
    from presscheck.api.site_settings import ShareLink
    from presscheck.api.site_structure import StructureItem
    from presscheck.api.sites import Site
    from presscheck.tui.ui.screen import BaseScreen

NAMES = 14
"""Width in cells of the column of names."""
LOOK = (("theme", "theme"), ("language", "internationalization.locale"), ("light or dark", "themes.default"))
"""Shown settings of the customization, as label and dotted path."""


def published_reason(context: BaseScreen, site: Site | None) -> str | None:
    """Return why the published site cannot be shown.

    There is no site, it is not live, the app is offline, or the service does not support the operation.
    """
    if site is None:
        return f"there is no site: {key_for('add')} creates one"
    if not site.published:
        return f"it is not live, so visitors get nothing: {key_for('preview_site')} previews it"
    if not context.engine.status.online:
        return "you are offline, and the service knows what visitors get"
    return context.engine.missing_reason(GetPublishedSite)


async def show_published(
    context: BaseScreen, organization_id: str, site: Site, share_link: ShareLink | None = None
) -> None:
    """Request the published site from the service, show it, then check whether its address answers.

    Args:
        context: the screen.
        organization_id: the organization of the site.
        site: a live site.
        share_link: the share link of the visitors; None without share links.
    """
    url = share_link.urls.published if share_link else site.urls.published
    key: dict[str, Any] = {"share_key": str(url).rstrip("/").rpartition("/")[2]} if share_link else {}
    call = GetPublishedSite(organization_id=organization_id, site_id=site.id, **key)
    title = f"What visitors get: {sanitize(site.title)}"
    if share_link:
        title = f"{title}, by {sanitize(share_link.name or '') or 'a share link'}"
    page = TextScreen(title, [(Span(" Loading …", "quiet"),)])
    context.app_context.push_screen(page)
    try:
        content = PublishedContentSite.model_validate_json(await context.engine.fetch(call))
    except NotFound:
        page.show([(Span(" Nothing: the service does not publish this site for them.", "waiting"),)])
        return
    except PresscheckError as error:
        page.show([(Span(f" Not known: {sanitize(error.message)}", "removed"),)])
        return
    owner = "share link" if share_link else "site" if site.visibility == "share-link" else ""
    page.show([*_lines(content, page.size.width, key_of=owner)])
    reached = site.model_copy(update={"urls": site.urls.model_copy(update={"published": url})})
    words = await reach_words(context.engine, organization_id, reached)
    page.show([*_lines(content, page.size.width, key_of=owner, reach=words)])


def _lines(content: PublishedContentSite, columns: int, *, key_of: str, reach: str = "checking …") -> Iterator[Line]:
    """Yield the lines about a published site.

    Args:
        content: the site as published.
        columns: the width in cells.
        key_of: `site` or `share link` if its address contains a secret key; empty for an address without a key.
        reach: whether the address answers, in words.
    """
    site, is_secret = content.site, bool(key_of)
    address = (
        f"secret: {key_for('copy')} on the {key_of} copies it" if is_secret else display_url(site.urls.published or "")
    )
    style = "removed" if "not reachable" in reach else ""
    yield _fact("title", Span(sanitize(site.title), "strong"))
    yield _fact("address", Span(address))
    for at, part in enumerate(wrap((Span(sanitize(reach), style),), max(20, columns - NAMES - 3))):
        yield (*_fact("" if at else "page", Span("")), *part)
    yield _fact("visibility", Span(sanitize(site.visibility)))
    look = content.customizations.site or {}
    for name, path in LOOK:
        if value := _at(look, path):
            yield _fact(name, Span(sanitize(value)))
    if content.scripts:
        yield _fact("scripts", Span(f"{count(len(content.scripts), 'script')} of integrations"))
    yield ()
    yield (Span(" Sections and spaces", "title"),)
    for item in content.structure.structure:
        yield from _items(item, 1, columns, is_secret=is_secret)
    if not content.structure.structure:
        yield (Span("  none: visitors see an empty site", "waiting"),)


def _fact(name: str, value: Span) -> Line:
    return (Span(f" {name:<{NAMES}} ", "quiet"), value)


def _items(item: StructureItem, depth: int, columns: int, *, is_secret: bool) -> Iterator[Line]:
    """Yield the lines of a section group, section or space, with its contents."""
    inner: tuple[StructureItem, ...] = ()
    title, url = item.title, ""
    if isinstance(item, SiteSectionGroup):
        inner = item.children or item.sections
    elif isinstance(item, SiteSection):
        inner, url = item.site_spaces, item.urls.published or ""
    elif isinstance(item, SiteSpace):
        title, url = item.title or item.space.title, item.urls.published or ""
    shown = "" if is_secret or not url else f"   {display_url(url)}"
    notes = [name for name in ("draft", "hidden") if getattr(item, name, None)]
    if condition := getattr(item, "condition", None):
        notes.append(f"if {sanitize(condition)}")
    note = f"   {', '.join(notes)}" if notes else ""
    kind = f"  {item.object.removeprefix('site-').replace('-', ' ')}"
    indent = " " * (1 + 2 * depth)
    line = (Span(indent), Span(sanitize(title) or "(no title)"), Span(kind, "quiet"), Span(shown, "quiet"))
    if width((*line, Span(note))) <= columns:
        yield (*line, Span(note, "waiting"))
    else:
        yield line
        room = max(20, columns - len(indent) - 3)
        yield from ((Span(f"{indent}  "), *part) for part in wrap((Span(note.strip(), "waiting"),), room))
    for part in inner:
        yield from _items(part, depth + 1, columns, is_secret=is_secret)


def _at(settings: Any, path: str) -> str:
    """Return the text at a dotted path in nested settings; empty if there is none."""
    for name in path.split("."):
        settings = cast("dict[str, Any]", settings).get(name) if isinstance(settings, dict) else None
    return settings if isinstance(settings, str) else ""
