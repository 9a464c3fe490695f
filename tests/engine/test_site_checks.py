"""Checks of a site: each finds the defect that is seeded for it, and none reports a clean site."""

from dataclasses import replace
from typing import Any

from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.api.links import ContentLocation, Link, PlaceInPage
from presscheck.api.openapi import OpenAPISpec, SpecError
from presscheck.api.site_settings import AdaptiveSchema, PublishingAuth, Redirect, RedirectTarget, ShareLink
from presscheck.api.site_structure import SiteSection, SiteSpace, SiteStructure
from presscheck.api.sites import Site, SiteProxy, SiteUrls
from presscheck.api.spaces import Space
from presscheck.documents.sites.checks import (
    CHECKS,
    MOST_REDIRECTS,
    Finding,
    Level,
    check_site,
    hostname_problem,
    summary,
)
from presscheck.documents.sites.content import (
    FormerSpace,
    IncomingLink,
    PageFacts,
    PublishedSpace,
    PublishedState,
    SiteContent,
    SpaceContent,
    Unread,
    page_facts,
)
from presscheck.engine.shared_calls import live_page, live_page_keys

SPACE = Space(id="s1", title="Guides")
ITEM = SiteSpace(id="i1", path="guides", space=SPACE, title="Guides", default=True)
PAGE = RevisionPage(id="p1", title="Start", slug="start", path="start", description="How to start", document_id="d1")
CONTENT = SpaceContent(ITEM, None, SPACE, (PAGE,), {"p1": PageFacts()})
CLEAN = SiteContent(
    Site(id="w1", title="Docs", published=True, urls=SiteUrls(published="https://docs.example/docs")),
    SiteStructure(type="siteSpaces", structure=(ITEM,)),
    (CONTENT,),
    published=PublishedState(at=1.0, is_own=True),
)


def with_space(**changes: Any) -> SiteContent:
    """Return the clean site with changes of the content of its space."""
    return replace(CLEAN, spaces=(replace(CONTENT, **changes),))


def with_page(facts: PageFacts | None = None, **changes: Any) -> SiteContent:
    """Return the clean site with a changed page."""
    return with_space(pages=(PAGE.model_copy(update=changes),), facts={"p1": facts or PageFacts()})


def with_items(*items: SiteSpace | SiteSection) -> SiteContent:
    """Return the clean site with another structure."""
    return replace(CLEAN, structure=SiteStructure(type="siteSpaces", structure=items))


def link(status: str) -> Link:
    """Return a link on the page with a status."""
    here = ContentLocation(kind="page", page=PAGE)
    return Link(status=status, target_reference=ContentLocation(kind="url", url="gone.md"), location_references=(here,))


def to_address(path: str) -> Link:
    """Return a link on the page to an address of the site itself."""
    target = ContentLocation(kind="url", url=f"https://docs.example/docs{path}")
    return link("ok").model_copy(update={"target_reference": target})


def redirect(source: str, **target: Any) -> Redirect:
    return Redirect(id=source, source=source, destination=RedirectTarget(**target))


def outside(source: str, path: str) -> Redirect:
    """Return a redirect to an external address that belongs to the site itself."""
    return redirect(source, kind="external", url=f"https://docs.example/docs{path}")


def site(**changes: Any) -> SiteContent:
    """Return the clean site with other settings."""
    return replace(CLEAN, site=CLEAN.site.model_copy(update=changes))


def formerly(path: str, space_path: str = "") -> SiteContent:
    """Return the clean site with another path of its page at the time of publishing."""
    then = FormerSpace(
        PublishedSpace("i1", "s1", "Guides", space_path, "r1"), (PAGE.model_copy(update={"path": path}),)
    )
    return replace(CLEAN, former=(then,))


def linked_from_outside(path: str = "", page: str = "") -> SiteContent:
    """Return the clean site with a link from another site."""
    link = IncomingLink("Blog: Posts: News", "s9", "p9", page, f"https://docs.example/docs{path}" if path else "")
    return replace(CLEAN, incoming=(link,))


def nested(levels: int, **changes: Any) -> SiteContent:
    """Return the clean site with nested pages; `changes` apply to the first one."""
    pages: tuple[RevisionPage, ...] = ()
    for level in range(levels, 0, -1):
        page = PAGE.model_copy(update={"id": f"p{level}", "pages": pages, **(changes if level == 1 else {})})
        pages = (page,)
    return with_space(pages=pages, facts={})


def with_spec(text: str, *specs: OpenAPISpec) -> SiteContent:
    """Return the clean site with a text of its page, and with specifications of its organization."""
    return replace(with_page(page_facts(text)), specs=specs)


SPEC_BLOCK = '{% openapi-operation spec="pets" path="/pets" method="get" %}\n{% endopenapi-operation %}\n'
SPEC_AT_AN_ADDRESS = '{% openapi src="https://pets.example/api.yaml" %}\n{% endopenapi %}'
PETS = OpenAPISpec(id="o1", slug="pets", processing_state="complete", sourceURL="https://pets.example/api.yaml")
FAILED_PETS = PETS.model_copy(
    update={"last_processed_error_count": 1, "last_processed_errors": (SpecError(message="no paths"),)}
)
SIGNED_IN = PublishingAuth(private_key="k", fallback_url="https://id.example/login")
API = ITEM.model_copy(update={"id": "i2", "path": "api", "title": "API", "default": False})
CLAIMS = AdaptiveSchema(
    json_schema={
        "type": "object",
        "properties": {
            "plan": {"type": "string", "description": "What they pay for"},
            "unsigned": {
                "type": "object",
                "description": "What anybody can claim",
                "properties": {"beta": {"type": "boolean", "description": "Tries new things"}},
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    }
)
NO_DATES = {
    "type": "object",
    "properties": {"since": {"type": "date", "description": "When they came"}},
    "additionalProperties": False,
}
OUTDATED = ChangeRequest(id="c1", number=12, subject="Rewrite the start", outdated=True)
NO_PAGES = (Unread("pages", "News", "no permission"),)
SEEDED = {
    "empty-site": replace(CLEAN, spaces=()),
    "conflict-markers": with_page(page_facts("Text\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")),
    "unreadable-condition": with_page(page_facts("Text\n\n{% if %}\nHidden\n{% endif %}\n")),
    "broken-link": with_space(links=(link("broken"),)),
    "empty-space": with_space(pages=()),
    "duplicate-path": with_items(ITEM, ITEM.model_copy(update={"id": "i2", "default": False})),
    "reserved-path": with_page(path="llms.txt"),
    "redirect-loop": replace(CLEAN, redirects=(outside("/a", "/b"), outside("/b", "/a"))),
    "redirect-target": replace(
        CLEAN, redirects=(redirect("/old", kind="site-page", site_space_id="i1", page_id="gone"),)
    ),
    "visitor-schema": replace(CLEAN, schema=AdaptiveSchema(json_schema={"type": "array"})),
    "unknown-claim": replace(with_page(condition='visitor.claims.team == "x"'), schema=CLAIMS),
    "no-share-link": replace(site(visibility="share-link"), share_links=(ShareLink(id="l1", active=False),)),
    "no-sign-in": replace(site(visibility="visitor-auth"), authentication=PublishingAuth(backend="integration")),
    "no-default": with_items(ITEM.model_copy(update={"default": None})),
    "draft": with_space(item=ITEM.model_copy(update={"draft": True})),
    "empty-page": with_page(page_facts(" \n")),
    "in-app-link": with_space(links=(link("in-app"),)),
    "unnamed-image": with_page(page_facts('![A lamp](a.png)\n\n<img src="b.png" alt="">\n')),
    "redirect-chain": replace(
        CLEAN,
        redirects=(outside("/a", "/b"), redirect("/b", kind="site-page", site_space_id="i1", page_id="p1")),
    ),
    "long-title": with_page(title="x" * 71),
    "no-description": with_page(description=None),
    "hidden-page": with_page(hidden=True),
    "hostname": site(hostname="docs_example.com"),
    "failing-spec": with_spec(SPEC_BLOCK, FAILED_PETS),
    "changed-address": formerly("begin"),
    "incoming-link": linked_from_outside("/gone"),
    "deep-page": nested(7),
    "open-comments": with_space(space=SPACE.model_copy(update={"comments": 2})),
    "outdated-comments": with_space(outdated=("p1", "p1", "")),
    "outdated-requests": with_space(requests=(OUTDATED, OUTDATED.model_copy(update={"outdated": False}))),
    "open-requests": with_space(space=SPACE.model_copy(update={"change_requests_open": 2})),
}
"""Sites with one defect each, by the check that finds it."""


def found(content: SiteContent) -> list[str]:
    return [finding.check for finding in check_site(content)]


def test_keys_of_many_pages_equal_the_keys_of_single_pages() -> None:
    pages = ["p1", "*", 'quo"te\\', "营业 🙂", "\u0007\n"]
    for space in ("s1", '"page_id":"*"'):
        assert live_page_keys(space, pages) == {page: live_page(space, page).key() for page in pages}


def test_a_clean_site_passes() -> None:
    assert found(CLEAN) == []


@each_case("name", [check.name for check in CHECKS])
def test_a_seeded_defect_is_found_by_its_check_alone(name: str) -> None:
    assert set(found(SEEDED[name])) == {name}


@each_case(
    ("content", "names"),
    [
        (replace(with_page(condition='visitor.claims.plan == "pro"'), schema=CLAIMS), []),
        (replace(with_page(condition="visitor.claims.unsigned.beta"), schema=CLAIMS), []),
        (replace(with_page(condition="visitor.claims.unsigned.alpha"), schema=CLAIMS), ["unknown-claim"]),
        (with_page(condition="visitor.claims.plan"), ["unknown-claim"]),
        (replace(with_page(condition='visitor.claims["team"] == "x"'), schema=CLAIMS), ["unknown-claim"]),
        (replace(with_page(condition='visitor.claims["unsigned"]?.beta'), schema=CLAIMS), []),
        (replace(with_page(condition='"visitor.claims.team" == "x"'), schema=CLAIMS), []),
        (replace(with_page(condition="visitor.claims.plan.length"), schema=CLAIMS), []),
        (with_items(ITEM, SiteSection(id="n1", title="News", path="news")), ["no-default"]),
        (with_space(links=(to_address("/start"),)), []),
        (with_space(links=(to_address("/gone"),)), ["broken-link"]),
        (with_space(links=(to_address("-of-others/gone"),)), []),
        (replace(with_space(links=(to_address("/gone"),)), redirects=(outside("/gone", "/start"),)), []),
        (replace(with_space(links=(to_address("/gone"),)), unread=NO_PAGES), ["not-checked"]),
        (replace(linked_from_outside("/gone"), unread=NO_PAGES), ["not-checked"]),
        (replace(linked_from_outside(page="p2"), unread=NO_PAGES), ["not-checked"]),
        (replace(CLEAN, redirects=(outside("/a", "/a"),)), ["redirect-loop"]),
(
            replace(CLEAN, redirects=(outside("/a", "/b"), outside("/b", "/c"), outside("/c", "/b"))),
            ["redirect-loop"] * 3,
        ),
        (replace(CLEAN, redirects=(redirect("/a", kind="external", url="https://else.example/a"),)), []),
        (with_page(PageFacts(is_empty=True), pages=(PAGE.model_copy(update={"id": "p2"}),)), []),
        (with_page(page_facts("```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n")), []),
        (with_page(page_facts('<img alt="A lamp" src="a.png">\n')), []),
        (with_page(page_facts("`![](a.png)` ![`a`](a.png) \\![](a.png)\n")), []),
        (with_page(page_facts('{% if visitor.claims.plan == "pro" %}\nHidden\n{% endif %}\n`{% if %}`\n')), []),
        (with_page(path="guides/llms.txt"), []),
        (replace(with_items(ITEM, API), spaces=with_page(path="api").spaces), ["reserved-path"]),
        (with_items(ITEM, ITEM.model_copy(update={"id": "i2", "path": "~files", "default": False})), ["reserved-path"]),
        (replace(site(visibility="visitor-auth"), authentication=SIGNED_IN), []),
        (
            replace(
                site(visibility="visitor-auth"), authentication=SIGNED_IN.model_copy(update={"private_key": ""})
            ),
            ["no-sign-in"],
        ),
        (replace(CLEAN, schema=AdaptiveSchema(json_schema=NO_DATES)), ["visitor-schema"]),
        (with_page(page_facts("![**](a.png)\n")), ["unnamed-image"]),
        (with_page(page_facts('<picture><source srcset="dark.png"><img src="a.png" alt="A"></picture>\n')), []),
        (with_page(page_facts('<video src="a.mp4"></video>\n')), []),
        (with_spec(SPEC_BLOCK, PETS), []),
        (with_spec(SPEC_BLOCK), ["failing-spec"]),
        (with_spec(SPEC_AT_AN_ADDRESS, FAILED_PETS), ["failing-spec"]),
        (with_spec(f"```\n{SPEC_BLOCK}```\n"), []),
        (formerly("start"), []),
        (formerly("start", "/api"), ["changed-address"]),
        (replace(formerly("begin"), redirects=(outside("/begin", "/start"),)), []),
        (replace(formerly("a/begin"), redirects=(outside("/a/*", "/start"),)), []),
        (linked_from_outside("/start#top"), []),
        (linked_from_outside("/guides/start"), []),
        (linked_from_outside("/~files/logo"), []),
        (replace(linked_from_outside("/gone"), redirects=(outside("/gone", "/start"),)), []),
        (linked_from_outside(page="p1"), []),
        (linked_from_outside(page="p2"), ["incoming-link"]),
        (nested(6), []),
        (nested(2, hidden=True), ["deep-page", "hidden-page"]),
        (site(hostname="docs.example.com", proxy=SiteProxy(origin="example.com/docs")), []),
        (site(proxy=SiteProxy(origin="-example.com/docs")), ["hostname"]),
        (site(proxy=SiteProxy(origin="[example.com")), ["hostname"]),
        (replace(CLEAN, redirects=(redirect("/a", kind="external", url="https://[else.example/a"),)), []),
        (replace(CLEAN, published=None), ["changed-address"]),
        (replace(CLEAN, published=None, site=CLEAN.site.model_copy(update={"published": False})), []),
    ],
)  # fmt: skip
def test_variations_of_the_clean_site(content: SiteContent, names: list[str]) -> None:
    assert sorted(found(content)) == names


@each_case("name", [check.name for check in CHECKS])
def test_each_finding_names_the_place_to_fix(name: str) -> None:
    for finding in check_site(SEEDED[name]):
        assert finding.part or finding.page or finding.space, finding
        assert not finding.part.startswith(("structure", "redirects")) or finding.item or name == "empty-site"


def test_unreadable_condition_is_reported_as_not_checked() -> None:
    content = replace(with_page(condition="visitor.claims.team = 1"), schema=CLAIMS)
    assert [(one.check, one.severity, one.message) for one in check_site(content)] == [
        ("unknown-claim", "unknown", "the claims of its condition are not checked: “=” is not understood there")
    ]


@each_case("field", ["title", "link_title", "description"])
def test_conditions_in_titles_and_descriptions_are_checked(field: str) -> None:
    assert set(found(with_page(**{field: "Words {% if visitor.claims.plan %}more{% endif %}"}))) <= {"unknown-claim"}
    assert set(found(with_page(**{field: "    Words {% if == %}more"}))) == {"unreadable-condition"}


def test_an_outdated_change_request_is_a_note_that_names_it() -> None:
    unnamed = OUTDATED.model_copy(update={"id": "c2", "number": 13, "subject": ""})
    why = "is outdated: the live content changed since its last update"
    assert check_site(with_space(requests=(OUTDATED, unnamed))) == [
        Finding("outdated-requests", "info", "Guides: #12 Rewrite the start", why, "s1", request="c1"),
        Finding("outdated-requests", "info", "Guides: #13 (no subject)", why, "s1", request="c2"),
    ]


def test_a_long_chain_of_redirects_is_followed_as_far_as_browsers_follow_it() -> None:
    chain = tuple(outside(f"/{number}", f"/{number + 1}") for number in range(100))
    findings = check_site(replace(CLEAN, redirects=chain))
    assert {finding.check for finding in findings} == {"redirect-chain"}
    assert max(finding.message.count(" → ") for finding in findings) == MOST_REDIRECTS


def test_unread_parts_are_reported_as_not_checked() -> None:
    content = replace(site(visibility="share-link"), unread=(Unread("share links", "Docs", "no permission"),))
    message = "not checked: active share links (no permission)"
    unread = {"unchecked": ("no-share-link",), "reason": "no permission"}
    finding = Finding("not-checked", "unknown", "Docs", message, **unread)
    assert check_site(content) == [finding]
    assert summary([finding]) == "1 not checked"


@each_case(
    ("host", "problem"),
    [
        ("docs.example.com", ""),
        ("localhost", "it needs a domain, such as docs.example.com"),
        ("10.0.0.1", "it needs a domain, such as docs.example.com"),
        ("https://docs.example.com", "write it without scheme, port and path"),
        ("docs..com", "it has an empty part"),
        ("müller.example", "write it as xn--mller-kva.example"),
        (f"{'a' * 64}.example", f"the part “{'a' * 64}” is invalid"),
        ("", "it is empty"),
    ],
)
def test_hostnames(host: str, problem: str) -> None:
    assert hostname_problem(host) == problem


def test_severities_are_configured_by_name_and_disabled_checks_are_not_reported() -> None:
    content = replace(with_page(description=None, hidden=None), unread=(Unread("schema", "Docs", "no permission"),))
    levels: dict[str, Level] = {"no-description": "error", "visitor-schema": "off"}
    findings = check_site(content, levels)
    assert [(finding.check, finding.severity) for finding in findings] == [
        ("no-description", "error"),
        ("not-checked", "unknown"),
    ]
    assert findings[1].message == "not checked: claims of conditions (no permission)"
    assert "not-checked" not in {finding.check for finding in check_site(content, {**levels, "unknown-claim": "off"})}


def test_a_link_to_a_missing_heading_names_page_and_heading() -> None:
    target = ContentLocation(
        kind="page", page=PAGE, internal_location=PlaceInPage(type="anchor", anchor="id-1.-create")
    )
    dead = link("broken").model_copy(update={"target_reference": target})
    [finding] = check_site(with_space(links=(dead,)))
    assert (finding.check, finding.severity, finding.where) == ("broken-link", "error", "Guides: Start")
    assert finding.message == "broken link: Start has no heading “id-1.-create”"


def test_findings_are_sorted_and_counted_by_severity() -> None:
    content = with_page(page_facts(""), hidden=True, description=None, title="y" * 80)
    broken = replace(content.spaces[0], links=(link("broken"), link("in-app")))
    findings = check_site(replace(content, spaces=(broken,)))
    assert [finding.severity for finding in findings] == ["error", "warning", "info", "info"]
    assert summary(findings) == "1 error, 1 warning, 2 notes"
    assert summary([]) == ""
