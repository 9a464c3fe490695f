"""Unsent writes of sites, shown in the reads that they change; those of reviews are in test_subscriptions."""

from __future__ import annotations

import json
from typing import Any

from tests.engine.write_samples import SITE
from tests.table import each_case

from presscheck.api import site_findings, site_settings, site_structure, sites
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.client.responses import read_answer
from presscheck.engine.writes.pending_writes import OutboxEntry, apply_pending

ME = User(id="me")
EXTERNAL = {"kind": "external", "url": "https://a.example/x"}
TARGET = site_settings.RedirectDestination(kind="external", url="https://b.example/y")
GET, SITES = sites.GetSite(**SITE), sites.ListSites(organization_id="org")
STRUCTURE = site_structure.GetSiteStructure(**SITE)
REDIRECTS, LINKS = site_settings.ListRedirects(**SITE), site_settings.ListShareLinks(**SITE)


def shown(read: Operation[Any], answer: Any, write: Operation[Any], *, state: str = "waiting") -> Any:
    """A response with one unsent write applied."""
    entry = OutboxEntry(7, write, write.stored_name(), state, "No", 0.0)
    return apply_pending(read, read_answer(read, json.dumps(answer).encode()), [entry], ME)


@each_case(("state", "refused"), [("waiting", None), ("refused", "No"), ("parked", "No")])
def test_a_site(state: str, refused: str | None) -> None:
    fields = {"title": "After", "visibility": "unlisted", "basename": "b", "agents_context": "included"}
    adaptive = sites.AdaptiveContentChange(enabled=True)
    write = sites.UpdateSite(**SITE, **fields, proxy="a.example/docs", adaptive_content=adaptive)
    before = {"object": "site", "id": "site", "title": "Before"}
    site = shown(GET, before, write, state=state)
    assert (site.waiting, site.refused) == (7, refused)
    if refused:
        assert (site.title, site.visibility, site.proxy, site.basename) == ("Before", "public", None, None)
        return
    assert {name: getattr(site, name) for name in fields} == fields
    assert (site.proxy.origin, site.adaptive_content.enabled) == ("a.example/docs", True)
    assert shown(GET, before | {"proxy": {"origin": "x"}}, sites.UpdateSite(**SITE, proxy=None)).proxy is None
    other, same = shown(SITES, {"items": [before | {"id": "other"}, before]}, write).items
    assert (other.title, same.title, same.waiting) == ("Before", "After", 7)


def test_the_defaults_of_a_site() -> None:
    def space(identity: str, **fields: Any) -> dict[str, Any]:
        return {"object": "site-space", "id": identity, "space": {"object": "space", "id": identity}, **fields}

    def section(identity: str, *inner: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return {"object": "site-section", "id": identity, "siteSpaces": [*inner], **fields}

    first = section("s1", space("a", default=True), space("b"), default=True)
    grouped = {"object": "site-section-group", "id": "g", "children": [section("s2", space("c", default=True))]}
    answer = {"type": "sections", "structure": [first, grouped]}

    def defaults(*, state: str = "waiting", **fields: str) -> list[bool | None]:
        one, group = shown(STRUCTURE, answer, sites.UpdateSite(**SITE, **fields), state=state).structure
        [two] = group.children
        return [item.default for item in (one, *one.site_spaces, two, *two.site_spaces)]

    assert defaults(title="T1") == [True, True, None, None, True]
    assert defaults(default_site_section="s2") == [False, True, None, True, True]
    assert defaults(default_site_space="b") == [True, False, True, False, True]
    assert defaults(default_site_section="s2", state="refused") == [True, True, None, None, True]
    flat = shown(
        STRUCTURE,
        {"type": "siteSpaces", "structure": [space("a", default=True), space("b")]},
        sites.UpdateSite(**SITE, default_site_space="b"),
    ).structure
    assert [item.default for item in flat] == [False, True]


def test_redirects() -> None:
    answer = {"items": [{"id": "r1", "source": "/a", "destination": EXTERNAL}], "count": 1, "total": 9}
    create = site_settings.CreateRedirect(**SITE, source="/New", destination=TARGET)
    page = shown(REDIRECTS, answer, create)
    new = page.items[-1]
    assert [item.id for item in page.items] == ["r1", "waiting:7"]
    assert (new.source, new.destination.url, new.waiting, new.refused) == ("/New", "https://b.example/y", 7, None)
    assert (page.count, page.total) == (2, 10)
    for search, number in (("new", 2), ("NEW", 2), ("other", 1)):
        read = REDIRECTS.model_copy(update={"search": search})
        assert len(shown(read, answer, create).items) == number
    for state, source, url in (("waiting", "/b", "https://b.example/y"), ("refused", "/a", "https://a.example/x")):
        update = site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/b", destination=TARGET)
        [item] = shown(REDIRECTS, answer, update, state=state).items
        assert (item.source, item.destination.url, item.waiting) == (source, url, 7)
    other = site_settings.UpdateRedirect(**SITE, site_redirect_id="r2", source="/b")
    assert shown(REDIRECTS, answer, other).items[0].source == "/a"
    gone = shown(REDIRECTS, answer, site_settings.DeleteRedirect(**SITE, site_redirect_id="r1"))
    assert (gone.items, gone.count, gone.total) == ((), 0, 8)


def test_share_links() -> None:
    answer = {"items": [{"id": "l1", "name": "Press", "active": True}]}
    page = shown(LINKS, answer, site_settings.CreateShareLink(**SITE, name="New"))
    assert [(item.id, item.name, item.active) for item in page.items] == [
        ("l1", "Press", True),
        ("waiting:7", "New", True),
    ]
    assert (page.items[1].waiting, page.count) == (7, None)
    update = site_settings.UpdateShareLink(**SITE, share_link_id="l1", name="After", active=False)
    for state, name, active in (("waiting", "After", False), ("refused", "Press", True)):
        [item] = shown(LINKS, answer, update, state=state).items
        assert (item.name, item.active, item.waiting) == (name, active, 7)
    elsewhere = site_settings.UpdateShareLink(**SITE | {"site_id": "other"}, share_link_id="l1", active=False)
    assert shown(LINKS, answer, elsewhere).items[0].active
    assert shown(LINKS, answer, site_settings.DeleteShareLink(**SITE, share_link_id="l1")).items == ()


def test_findings() -> None:
    answer = {"items": [{"id": "f1", "status": "open"}, {"id": "f2", "status": "open"}]}
    listing = site_findings.ListSiteFindings(**SITE)
    update = site_findings.UpdateSiteFinding(**SITE, site_finding_id="f1", status="canceled")
    for state, status in (("waiting", "canceled"), ("refused", "open")):
        changed, other = shown(listing, answer, update, state=state).items
        assert (changed.status, changed.waiting, other.status) == (status, 7, "open")
