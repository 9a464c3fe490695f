"""The pages of a site that prose checks read: changed pages of a published site, otherwise all cached pages."""

from dataclasses import replace
from typing import Any

import pytest

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.sites import ListSites
from presscheck.documents.git_format.findings import Finding as TextFinding
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import SiteContent, Unread
from presscheck.engine.engine import Engine
from presscheck.engine.publish.prose_pages import (
    has_published_pages,
    prose_pages,
    read_prose_texts,
    unread_spaces,
)
from presscheck.engine.publish.publishing import state_of
from presscheck.engine.publish.site_content import SiteReader
from presscheck.errors import Forbidden

ORG = "tallowick"
pytestmark = pytest.mark.service(sample=True)


async def site_content(engine: Engine, published: SiteContent | None = None) -> SiteContent:
    """Read the unpublished site. `published` is what it contained when it was last published, if ever."""
    sites = (await engine.read(ListSites(organization_id=ORG))).items
    site = next(site for site in sites if not site.published)
    state = state_of(published, 0.0, is_own=True) if published else None
    return await SiteReader(engine).read(ORG, site.id, published=state)


async def merged(engine: Engine, space: str, *changes: InsertPage | UpdatePage) -> None:
    made = await engine.write(CreateChangeRequest(space_id=space, subject="Change pages")).landed()
    at: dict[str, Any] = {"space_id": space, "change_request_id": made.id}
    await engine.write(EditChangeRequestContent(**at, changes=changes, compat=False)).landed()
    await engine.write(MergeChangeRequest(**at)).landed()


async def test_without_a_published_state_all_cached_pages_are_checked(engine: Engine) -> None:
    content = await site_content(engine)
    documents = [page.id for space in content.spaces for page in flatten(space.pages) if page.document_id]
    pages = prose_pages(content)
    assert not has_published_pages(content)
    assert [page.page for page in pages] == documents
    texts = await read_prose_texts(engine, content, pages)
    assert (len(texts.after), texts.before, texts.missing) == (len(documents), {}, 0)
    space = next(space for space in content.spaces if space.space.id == "runbook")
    rewritten = tuple(page.model_copy(update={"document_id": "newer"}) for page in space.pages)
    newer = replace(content, spaces=(replace(space, pages=rewritten),))
    newer_pages = prose_pages(newer)
    outdated = [page for page in newer_pages if page.document == "newer"]
    texts = await read_prose_texts(engine, newer, newer_pages)
    assert texts.missing == len(outdated) > 0, "the cache has no current text of them"
    assert not {page.page for page in outdated} & {page.page for page in texts.pages.values()}


async def test_changed_and_added_pages_are_checked_against_their_published_texts(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = await site_content(engine)
    space = next(space for space in published.spaces if space.space.id == "runbook")
    old = next(page for page in flatten(space.pages) if page.type == "document" and page.document_id)
    added = InsertPage(title="Added", document=Document(markdown="A new page.\n"))
    edited = UpdatePage(page=old.id, document=Document(markdown="Another text.\n"))
    await merged(engine, space.space.id, added, edited)
    content = await site_content(engine, published)
    pages = prose_pages(content)
    assert has_published_pages(content)
    assert [page.where.partition(": ")[2] for page in pages] == [old.title, "Added"]
    texts = await read_prose_texts(engine, content, pages)
    first, second = texts.pages
    assert "Another text." in texts.after[first]
    assert "Another text." not in texts.before[first]
    assert "A new page." in texts.after[second]
    assert second not in texts.before
    found = [TextFinding(second, 3, "third", "own", own_severity="info")]
    found += [TextFinding(first, line, f"on {line}", "own/rule", own_severity="error") for line in (2, 1)]
    assert [(one.page, one.line, one.message, one.severity, one.check) for one in texts.site_findings(found)] == [
        (old.id, 1, "line 1: on 1", "error", "own/rule"),
        (old.id, 2, "line 2: on 2", "error", "own/rule"),
        (pages[1].page, 3, "line 3: third", "info", "own"),
    ]
    unknown = replace(content, former=(), unread=(Unread("published pages", space.title, "gone"),))
    assert not has_published_pages(unknown)
    assert len(prose_pages(unknown)) > len(pages)
    assert unread_spaces(unknown) == ""
    assert unread_spaces(replace(content, unread=(Unread("pages", space.title, "gone"),))) == "1 space not read"

    async def refuse(call: Any, **_: Any) -> Any:
        raise Forbidden("a role is missing", request=str(call), status=403)

    monkeypatch.setattr(engine, "read", refuse)
    texts = await read_prose_texts(engine, content, pages)
    assert (list(texts.after), texts.missing) == ([second], 1), "without its published text, old findings look new"
