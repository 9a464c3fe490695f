"""Reading a site for its checks: facts that change without a new revision are read each time, failures are named."""

from typing import Any

import pytest

from presscheck.api.change_requests import (
    CreateChangeRequest,
    ListChangeRequests,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertFiles, InsertPage, NewFile
from presscheck.api.links import ListSpaceLinks
from presscheck.api.operation import Operation
from presscheck.api.sites import ListSites, PublishSite
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.checks import Finding, check_site
from presscheck.engine.engine import Engine
from presscheck.engine.publish.site_content import SiteReader
from presscheck.errors import Forbidden

pytestmark = pytest.mark.slow

ORG = "tallowick"


async def open_request(engine: Engine, space: str, subject: str) -> dict[str, Any]:
    """Create an open change request with a new page. Returns the arguments that identify it in calls."""
    made = await engine.write(CreateChangeRequest(space_id=space, subject=subject)).landed()
    at: dict[str, Any] = {"space_id": space, "change_request_id": made.id}
    page = InsertPage(title=subject, document=Document(markdown="A page.\n"))
    await engine.write(EditChangeRequestContent(**at, changes=(page,), compat=False)).landed()
    await engine.write(UpdateChangeRequest(**at, status="open")).landed()
    return at


async def outdated(reader: SiteReader, site: str) -> list[Finding]:
    found = check_site(await reader.read(ORG, site))
    return [one for one in found if one.request or "outdated change requests" in one.message]


@pytest.mark.service(sample=True)
async def test_a_change_request_is_outdated_as_soon_as_another_one_is_merged(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = (await engine.read(ListSites(organization_id=ORG))).items
    site = next(site for site in sites if not site.published)
    reader = SiteReader(engine)
    await engine.write(MergeChangeRequest(**await open_request(engine, "runbook", "All others are behind"))).landed()
    before = await outdated(reader, site.id)
    behind = await open_request(engine, "runbook", "Stays behind")
    assert await outdated(reader, site.id) == before
    await engine.write(MergeChangeRequest(**await open_request(engine, "runbook", "Goes ahead"))).landed()
    new = [finding for finding in await outdated(reader, site.id) if finding not in before]
    assert [(finding.request, finding.space, finding.severity) for finding in new] == [
        (behind["change_request_id"], "runbook", "info")
    ]
    assert new[0].where.startswith("Runbook: #") and new[0].where.endswith(" Stays behind")

    await engine.write(UpdateChangeRequest(**behind, status="archived")).landed()
    assert await outdated(reader, site.id) == before, "the revision of the space is the same as before"

    # failed reads are reported even if the pages of the space were read before
    await open_request(engine, "runbook", "Not to be read")
    read = engine.read

    async def refuses(call: Operation[Any], **options: Any) -> Any:
        if isinstance(call, ListChangeRequests):
            raise Forbidden("no permission", request=str(call), status=403)
        return await read(call, **options)

    monkeypatch.setattr(engine, "read", refuses)
    for again in (reader, SiteReader(engine)):
        assert [(finding.check, finding.severity) for finding in await outdated(again, site.id)] == [
            ("not-checked", "unknown")
        ]
        assert (await outdated(again, site.id))[0].message == "not checked: outdated change requests (no permission)"


async def merges(engine: Engine, space: str, *changes: Any) -> None:
    """Merge changes into a space."""
    made = await engine.write(CreateChangeRequest(space_id=space, subject="A change")).landed()
    at: dict[str, Any] = {"space_id": space, "change_request_id": made.id}
    await engine.write(EditChangeRequestContent(**at, changes=changes, compat=False)).landed()
    await engine.write(UpdateChangeRequest(**at, status="open")).landed()
    await engine.write(MergeChangeRequest(**at)).landed()


async def page_titled(engine: Engine, space: str, title: str) -> RevisionPage:
    pages = (await engine.read(ListPages(space_id=space))).pages
    return next(page for page in flatten(pages) if page.title == title)


@pytest.mark.service(sample=True)
async def test_links_to_a_page_of_the_site_are_broken_as_soon_as_it_is_gone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The links are in another space of the site, and in another site."""
    sites = (await engine.read(ListSites(organization_id=ORG))).items
    inside, docs = sorted(sites, key=lambda site: site.published)
    await engine.write(PublishSite(organization_id=ORG, site_id=inside.id)).landed()
    await merges(engine, "guides", InsertPage(title="Target", document=Document(markdown="Text.\n")))
    target = await page_titled(engine, "guides", "Target")
    to_it = Document(markdown=f"See [it]({docs.urls.published}guides/target).\n")
    await merges(engine, "cli", InsertPage(title="Leads there", document=to_it))
    await merges(engine, "runbook", InsertPage(title="Leads there", document=to_it))
    reader, read, listed = SiteReader(engine), engine.read, list[str]()

    async def counts(call: Operation[Any], **options: Any) -> Any:
        listed.extend([call.space_id] if isinstance(call, ListSpaceLinks) else [])
        return await read(call, **options)

    monkeypatch.setattr(engine, "read", counts)

    async def found() -> set[tuple[str, str]]:
        findings = check_site(await reader.read(ORG, docs.id))
        return {(one.check, one.where) for one in findings if one.where.endswith(": Leads there") and one.link}

    assert await found() == set()
    listed.clear()
    assert await found() == set()
    assert not listed, "no space has changed"
    await merges(engine, "guides", DeletePage(page=target.id))
    assert await found() == {
        ("broken-link", "Command line: Leads there"),
        ("incoming-link", "Inside Tallowick: Runbook: Leads there"),
    }
    assert {"guides", "cli"} <= set(listed), "the service may find a link broken whose space has not changed"


@pytest.mark.service(sample=True)
async def test_specification_in_a_file_of_the_space_is_not_outside_the_service(engine: Engine) -> None:
    docs = next(site for site in (await engine.read(ListSites(organization_id=ORG))).items if site.published)
    file = NewFile(name="rates.yaml", base64="b3BlbmFwaTogMy4xLjAK", content_type="application/yaml")
    block = '{{% openapi src="{}" path="/rates" method="get" %}}\n{{% endopenapi %}}\n\n'
    sources = ("/rates.yaml", "rates.yaml", "/old/rates.yaml", "gone.yaml", "https://else.example/rates.yaml")
    text = Document(markdown="".join(map(block.format, sources)))
    await merges(engine, "guides", InsertFiles(files=(file,)), InsertPage(title="Rates", document=text))
    for reader in (SiteReader(engine), SiteReader(engine)):  # the second one uses the stored facts
        findings = check_site(await reader.read(ORG, docs.id))
        assert not [finding for finding in findings if finding.check == "failing-spec"]
        assert [finding.message for finding in findings if finding.check == "not-checked"] == [
            "not checked: OpenAPI specifications (outside the service: https://else.example/rates.yaml)"
        ]
        links = {finding.link: finding.check for finding in findings if finding.where.endswith(": Rates")}
        assert links == {"": "no-description", "/old/rates.yaml": "broken-link", "gone.yaml": "broken-link"}
