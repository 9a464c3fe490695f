"""Calls on spaces, collections and their content."""

from __future__ import annotations

from .talk import Talk


async def spaces(say: Talk, org: str) -> list[str]:
    """Create, move, duplicate, delete and transfer spaces. Returns the ids of the spaces of the organization."""
    made = await say("spaces.CreateSpace", organization_id=org, title="Made")
    at = {"space_id": made.id}
    await say("spaces.UpdateSpace", **at, title="Named")
    await say("spaces.MoveSpace", **at, parent=None)
    copied = await say("spaces.DuplicateSpace", **at)
    await say("spaces.DeleteSpace", space_id=copied.id)
    await say("spaces.RestoreSpace", space_id=copied.id)
    given = await say("spaces.DuplicateSpace", **at)
    await say("spaces.TransferSpace", space_id=given.id, organization=say.elsewhere)
    return [item.id for item in (await say("spaces.ListSpaces", organization_id=org)).items]


async def content(say: Talk, space: str) -> None:
    """Read the content of a space."""
    at = {"space_id": space}
    await say("spaces.GetSpace", **at)
    await say("spaces.SearchSpace", **at, query="step")
    revision = await say("content.GetCurrentRevision", **at)
    then = {**at, "revision_id": revision.id}
    page, file = revision.pages[0], (await say("content.ListFiles", **at)).items[0]
    await say("content.ListPages", **at)
    await say("content.GetPage", **at, page_id=page.id)
    await say("content.GetPageByPath", **at, page_path=page.path)
    await say("content.GetFile", **at, file_id=file.id)
    snippet = revision.reusable_contents[0]
    await say("content.GetReusableContent", **at, reusable_content_id=snippet.id)
    await say("content.GetRevisionFile", **then, file_id=file.id)
    await say("content.GetRevisionReusableContent", **then, reusable_content_id=snippet.id)
    await say("content.GetDocument", **at, document_id=snippet.document)
    for name in ("GetRevision", "ListRevisionPages", "ListRevisionFiles"):
        await say(f"content.{name}", **then)
    await say("content.GetRevisionPage", **then, page_id=page.id)
    for name, asked in (("GetPage", {**at, "page_id": page.id}), ("GetPageByPath", {**at, "page_path": page.path})):
        await say(f"content.{name}", **asked, format="document")
    await say("content.GetRevisionPage", **then, page_id=page.id, format="document")
    await say("content.GetRevisionPageByPath", **then, page_path=page.path, format_markdown_refs="stable")
    await say("content.GetRevisionPageDocument", **then, page_id=page.id, evaluated=True, dereferenced=True)
    await say("content.GetRevisionReusableContentDocument", **then, reusable_content_id=snippet.id)
    await say("content.ListPageMetaLinks", **at, page_id=page.id)
    await say("content.ListRevisionPageMetaLinks", **then, page_id=page.id)
    await say("content_changes.GetRevisionChanges", **then)
    await say("links.ListSpaceLinks", **at)
    await say("links.ListPageLinks", **at, page_id=page.id)
    await say("links.ListPageBacklinks", **at, page_id=page.id)
    assert (await say("spaces.GetSpacePDF", **at, page=page.id, only=True)).url.endswith(".pdf")
    await say("url_lookup.GetContentByUrl", url=(await say("spaces.GetSpace", **at)).urls.app)


async def collections(say: Talk, org: str) -> str:
    """Create, move, transfer and delete collections. Returns the id of the remaining collection."""
    top = await say("collections.CreateCollection", organization_id=org, title="Top")
    inner = await say("collections.CreateCollection", organization_id=org, title="Inner", parent=top.id)
    at = {"collection_id": inner.id}
    await say("collections.ListCollections", organization_id=org)
    await say("collections.GetCollection", **at)
    await say("collections.ListSpacesInCollection", **at)
    await say("collections.UpdateCollection", **at, title="Within")
    await say("collections.MoveCollection", **at, parent=None)
    await say("collections.TransferCollection", **at, organization=say.elsewhere)
    await say("collections.DeleteCollection", collection_id=top.id)
    kept = await say("collections.CreateCollection", organization_id=org, title="Kept")
    return kept.id
