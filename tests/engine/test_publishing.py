"""Publishing a site: the check whether its page answers, the state that is noted, and URLs of previews."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetCustomization,
    GetPreview,
    RedirectDestination,
    UpdateCustomization,
    UpdateShareLink,
)
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import GetSite, ListSites, PublishSite, Site, SiteUrls, UnpublishSite
from presscheck.documents.sites.content import PublishedState
from presscheck.engine.engine import Engine
from presscheck.engine.publish.differences import differences
from presscheck.engine.publish.previews import preview_url
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.publishing import reach_words, read_customization, unreach_words
from presscheck.engine.publish.site_content import SiteReader
from presscheck.engine.site_config.site_history import read_history
from presscheck.errors import InvalidArgument, NetworkError, RequestError, StoreError

SITE = Site(id="s", urls=SiteUrls(published="https://docs.example/"))
SIGNED = SITE.model_copy(update={"visibility": "visitor-auth"})
NOT_REACHED = NetworkError("no answer", request="")


class Visitor:
    """A visitor to whom every page gives the same answer: a status, or an error."""

    def __init__(self, answer: int | NetworkError) -> None:
        self.answer, self.urls = answer, list[str]()

    async def visit(self, call: Operation[Any], url: str) -> int:
        self.urls.append(url)
        if isinstance(self.answer, NetworkError):
            raise self.answer
        return self.answer


@each_case(
    ("site", "answer", "words"),
    [
        (SITE, 200, "The site is live, and the page answers."),
        (SIGNED, 200, "The site is live, and the page answers."),
        (SIGNED, 401, "The site is live, and the page asks visitors to sign in."),
        (SIGNED, 403, "The site is live, and the page asks visitors to sign in."),
        (SITE, 403, "Published, but not reachable: the page answers with status 403"),
        (SIGNED, 500, "Published, but not reachable: the page answers with status 500"),
        (SITE, NOT_REACHED, "Published, but not reachable: no answer"),
        (
            Site(id="s"),
            200,
            "The site is live. The service returned no address, so whether the page answers is not known.",
        ),
    ],
)
async def test_message_after_publishing_depends_on_the_response_to_visitors(
    site: Site, answer: int | NetworkError, words: str
) -> None:
    visitor = Visitor(answer)
    assert await reach_words(visitor, "o", site) == words
    assert visitor.urls == [site.urls.published] * bool(site.urls.published)


@each_case(
    ("url", "answer", "words"),
    [
        ("https://a.example/", 404, "Unpublished, and its address no longer answers (status 404)."),
        ("https://a.example/", 200, "Unpublished, but its address still answers: perhaps from a cache."),
        ("https://a.example/", NOT_REACHED, "Unpublished. Whether its address still answers is not known: no answer"),
        (None, 200, "Unpublished. Its address is not shown to you, so whether it still answers is not known."),
    ],
)
async def test_message_after_unpublishing_depends_on_the_response_to_visitors(
    url: str | None, answer: int | NetworkError, words: str
) -> None:
    assert await unreach_words(Visitor(answer), "o", SITE, url) == words


@pytest.mark.service(sample=True)
async def test_publishing_succeeds_although_the_state_cannot_be_noted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StoreError("The disk is full")

    sites = (await engine.read(ListSites(organization_id="tallowick"))).items
    draft = next(site for site in sites if not site.published)
    monkeypatch.setattr(PublishedStates, "note", full)
    site = await engine.write(PublishSite(organization_id="tallowick", site_id=draft.id)).landed()
    assert site
    assert site.published
    await engine.noted(site.id)
    assert engine.notices[-1:] == ("What was published could not be noted: The disk is full",)


class HeldReads:
    """Holds back the reads of a type until `let_go` is set."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch, which: type[Operation[Any]]) -> None:
        self.arrived, self.let_go, self.error = asyncio.Event(), asyncio.Event(), None
        self._read, self._which = engine.read, which
        monkeypatch.setattr(engine, "read", self._wait)

    async def _wait(self, call: Operation[Any], **more: Any) -> Any:
        if isinstance(call, self._which):
            self.arrived.set()
            await self.let_go.wait()
            if self.error:
                raise self.error
        return await self._read(call, **more)


@pytest.mark.slow
@pytest.mark.service(sample=True)
async def test_noted_state_does_not_contain_a_change_after_publishing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = (await engine.read(ListSites(organization_id="tallowick"))).items
    draft = next(site for site in sites if not site.published)
    path = {"organization_id": "tallowick", "site_id": draft.id}
    looks = await engine.read(GetCustomization(**path))
    held = HeldReads(engine, monkeypatch, GetCustomization)
    await engine.write(PublishSite(**path)).landed()
    await held.arrived.wait()
    styling = {**looks["styling"], "corners": "circular"}
    change = engine.write(UpdateCustomization(**path, settings={**looks, "styling": styling}))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(change.landed()), 0.3)
    held.let_go.set()
    assert await change.landed()
    state = PublishedStates(engine.outbox).of(draft.id)
    assert state
    assert state.customization
    assert "circular" not in state.customization.values()
    published, *_ = reversed(engine.site_snapshots.of(draft.id).every())
    assert published.kind == "published"
    document = engine.site_snapshots.of(draft.id).config(published).customization
    assert document
    assert document["styling"] == looks["styling"]


@pytest.mark.service(sample=True)
async def test_older_state_is_forgotten_if_the_published_one_cannot_be_read(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = (await engine.read(ListSites(organization_id="tallowick"))).items
    draft = next(site for site in sites if not site.published)
    states = PublishedStates(engine.outbox)
    states.note(draft.id, PublishedState(at=1.0, is_own=True))
    held = HeldReads(engine, monkeypatch, GetSiteStructure)
    held.error = NOT_REACHED
    held.let_go.set()
    site = await engine.write(PublishSite(organization_id="tallowick", site_id=draft.id)).landed()
    assert site
    assert site.published
    await engine.noted()
    assert held.arrived.is_set()
    assert states.of(draft.id) is None


@pytest.mark.service(sample=True)
async def test_published_site_is_noted_visited_previewed_and_compared(engine: Engine) -> None:
    org = "tallowick"
    sites = (await engine.read(ListSites(organization_id=org))).items
    draft = next(site for site in sites if not site.published)
    path = {"organization_id": org, "site_id": draft.id}
    site = await engine.write(PublishSite(**path)).landed()
    assert site
    assert "has no active share link" in await reach_words(engine, org, site)
    link = await engine.write(CreateShareLink(**path, name="partners")).landed()
    assert link
    assert await reach_words(engine, org, site) == "The site is live, and the page answers."
    await engine.write(UpdateShareLink(**path, share_link_id=link.id, active=False)).landed()
    assert "has no active share link" in await reach_words(engine, org, site)

    await engine.noted(site.id)
    state = PublishedStates(engine.outbox).of(site.id)
    content = await SiteReader(engine).read(org, site.id)
    assert state and state.is_own and state.customization and state.redirects is not None
    assert [space.revision for space in state.spaces] == [space.space.revision for space in content.spaces] != []
    assert state.visibility == site.visibility
    (snapshot,) = engine.site_snapshots.of(site.id).every()
    assert (snapshot.kind, {"structure", "redirects", "customization"} <= {*snapshot.parts}) == ("published", True)
    rows = (await read_history(engine, org, site.id)).rows
    assert [(row.kind, row.snapshot) for row in rows if row.source == "this machine"] == [("published", snapshot)]
    target = RedirectDestination(kind="external", url="https://example.org/")
    await engine.write(CreateRedirect(**path, source="/old", destination=target)).landed()
    looks = await engine.read(GetCustomization(**path))
    styling = {**looks["styling"], "corners": "circular"}
    await engine.write(UpdateCustomization(**path, settings={**looks, "styling": styling})).landed()
    now = replace(await SiteReader(engine).read(org, site.id), published=state)
    found = differences(now, await read_customization(engine, org, site.id))
    assert [(one.subject, one.kind, one.where) for one in found.found if one.subject != "pages"] == [
        ("customization", "edited", "styling.corners"),
        ("redirects", "added", "/old"),
    ]
    unknown = await read_customization(engine, org, "nosuchsite")
    assert isinstance(unknown, str)

    # previews answer without the token; the preview of a change request requires a site with its space
    previewed = await preview_url(engine, org, site.id)
    assert await engine.visit(GetPreview(**path), previewed) == 200
    requests = (await engine.read(ListOrganizationChangeRequests(organization_id=org, status="open", limit=100))).items
    inside = next(one for one in requests if one.space in {space.space.id for space in content.spaces})
    url = await preview_url(engine, org, site.id, request=inside)
    assert url.endswith(f"/~/changes/{inside.number}/")
    with pytest.raises(InvalidArgument, match=f"site: it does not have the space of #{inside.number}"):
        await preview_url(engine, org, site.id, request=inside.model_copy(update={"space": "other"}))
    gone = ChangeRequest(id="x", number=9999, space=inside.space)
    with pytest.raises(RequestError, match="does not preview #9999 on the site: the page answers with status 404"):
        await preview_url(engine, org, site.id, request=gone)

    await engine.write(UnpublishSite(**path)).landed()
    words = await unreach_words(engine, org, site, site.urls.published)
    assert words == "Unpublished, and its address no longer answers (status 404)."
    assert not (await engine.read(GetSite(**path))).published
