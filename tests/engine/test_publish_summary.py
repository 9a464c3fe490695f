"""The texts that explain what publishing or unpublishing a site will do."""

from __future__ import annotations

from tests.table import each_case

from presscheck.api.site_settings import ShareLink
from presscheck.api.site_structure import SiteStructure
from presscheck.api.sites import Site
from presscheck.documents.sites.content import PublishedState, SiteContent, Unread
from presscheck.engine.publish.differences import Difference, Differences
from presscheck.engine.publish.publish_summary import (
    audience,
    difference_lines,
    lacks_link,
    last_publish,
    publish_lines,
    unpublish_lines,
)
from presscheck.text.styled_text import plain

HOUR = 3600.0
STATE = PublishedState(at=0.0, is_own=True)


def content_of(site: Site, **more: object) -> SiteContent:
    return SiteContent(site, SiteStructure(type="sections", structure=()), (), **more)  # type: ignore[arg-type]


@each_case(
    ("visibility", "expected"),
    [
        ("public", "everybody, search engines included"),
        ("unlisted", "anyone with the link"),
        ("share-link", "anyone with a share link"),
        ("visitor-auth", "visitors who sign in"),
        ("\x1b[2J", "␛[2J"),
    ],
)
def test_the_audience_is_named(visibility: str, expected: str) -> None:
    assert audience(Site(id="w", visibility=visibility), None) == expected


def test_active_share_links_are_counted() -> None:
    site = Site(id="w", visibility="share-link")
    links = (ShareLink(id="a", active=True), ShareLink(id="b", active=False))
    assert audience(site, content_of(site, share_links=links)) == "anyone with a share link (1 active)"
    assert not lacks_link(site, content_of(site, share_links=links))
    assert lacks_link(site, content_of(site))
    assert not lacks_link(site, content_of(site, unread=(Unread("share links", "", "offline"),))), "unknown"
    assert not lacks_link(site, None), "unknown"


def test_differences_are_listed_by_subject() -> None:
    found = tuple(Difference("pages", "edited", f"Page {number}") for number in range(5))
    lines = [plain(line) for line in difference_lines(STATE, Differences(found, {"redirects": "offline"}), 2 * HOUR)]
    assert lines == [
        "Since it was published here 2 h ago:",
        "  pages: 5 edited",
        "    ~ Page 0",
        "    ~ Page 1",
        "    ~ Page 2",
        "    and 2 more",
        "  redirects: not known (offline)",
    ]


def test_effects_of_publishing_and_unpublishing_are_explained() -> None:
    site = Site(id="w", visibility="public", site_spaces=3)
    publish = [plain(line) for line in publish_lines(site, None, Differences(), HOUR)]
    assert publish[2] == "Publishes 3 spaces. Later merges go live immediately."
    assert publish[-1] == "This machine has no record of an earlier publish to compare with."
    unpublish = [plain(line) for line in unpublish_lines(site, None, STATE, None, HOUR)]
    assert unpublish[0] == "Live; its address has a share key that is not shown to you."
    assert unpublish[-1] == "It was published here 1 h ago, and not checked since: what changed is not known."
    assert (last_publish(None, HOUR), last_publish(STATE, HOUR)) == ("", "published here 1 h ago")
