"""The lines that explain a publish or unpublish: audience, content, and the changes since the last publish."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from presscheck.api.sites import Site
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import PublishedState, SiteContent
from presscheck.engine.publish.differences import KINDS, SUBJECTS, Difference, Differences, Subject
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.phrases import count, long_ago
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

LINK_NAME = "Readers"
"""The name of a share link that is created with a publish."""
NAMED = 3
"""Maximum number of differences listed for each subject."""
SIGNS = {"added": ("+", "added"), "edited": ("~", "waiting"), "moved": ("→", "waiting"), "removed": ("−", "removed")}
_AUDIENCES = {
    "public": "everybody, search engines included",
    "unlisted": "anyone with the link",
    "share-link": "anyone with a share link",
    "visitor-auth": "visitors who sign in",
}


def lacks_link(site: Site, content: SiteContent | None) -> bool:
    """Return whether a site is shared by link, and had no active link at the last check."""
    if site.visibility != "share-link" or content is None or _is_unread(content, "share links"):
        return False
    return not any(link.active for link in content.share_links)


def _is_unread(content: SiteContent, part: str) -> bool:
    return any(unread.name == part for unread in content.unread)


def audience(site: Site, content: SiteContent | None) -> str:
    """Return a description of the readers who can open a published site.

    Args:
        site: the site.
        content: the content that the last check read; None if no check read it.
    """
    words = _AUDIENCES.get(site.visibility, sanitize(site.visibility))
    if site.visibility == "share-link" and content and not _is_unread(content, "share links"):
        return f"{words} ({sum(bool(link.active) for link in content.share_links)} active)"
    how = content.authentication if content and site.visibility == "visitor-auth" else None
    host = urlsplit(how.fallback_url or "").hostname if how else None
    if how and how.backend == "integration":
        return f"{words} through an integration"
    return f"{words} at {sanitize(host)}" if host else words


def publish_lines(site: Site, content: SiteContent | None, changes: Differences, now: float) -> list[Line]:
    """Return the lines that explain a publish: the audience, the content, and the changes since the last publish."""
    spaces = count(site.site_spaces, "space")
    pages = sum(1 for space in content.spaces for _ in flatten(space.pages)) if content else 0
    amount = f"{spaces}, {count(pages, 'page')}" if content and not _lacks_pages(content) else spaces
    return [
        (Span("Not published: readers cannot open it now.", "quiet"),),
        (Span(f"Visible to {audience(site, content)}."),),
        (Span(f"Publishes {amount}. Later merges go live immediately.", "quiet"),),
        (),
        *difference_lines(content.published if content else None, changes, now),
    ]


def unpublish_lines(
    site: Site, content: SiteContent | None, state: PublishedState | None, changes: Differences | None, now: float
) -> list[Line]:
    """Return the lines that explain an unpublish: the address, the audience, and the changes since the last publish.

    Args:
        site: the site.
        content: the content that the last check read; None if no check read it.
        state: the last published state that this machine recorded; None without a record.
        changes: the changes since `state`; None if no check has compared them.
        now: the time, in seconds since the epoch.
    """
    address = sanitize(shown_address(site, site.urls.published))
    lines: list[Line] = [
        (Span(f"Live at {address}." if address else "Live; its address has a share key that is not shown to you."),),
        (Span(f"Visible to {audience(site, content)}."),),
        (Span(f"Readers can no longer open {address or 'it'}.", "waiting"),),
    ]
    if content and content.incoming:
        lines.append((Span(f"{count(len(content.incoming), 'link')} of other sites would be broken.", "waiting"),))
    return [*lines, (), *difference_lines(state, changes, now)]


def last_publish(state: PublishedState | None, now: float) -> str:
    """Return when this machine last published a site or first saw it live, in words; empty without a record."""
    if state is None:
        return ""
    when = long_ago(now - state.at)
    return f"published here {when}" if state.is_own else f"first seen live here {when}"


def difference_lines(state: PublishedState | None, changes: Differences | None, now: float) -> list[Line]:
    """Return the changes since the last publish, or a line with the reason if they are unknown."""
    if state is not None and changes is None:
        return [
            (Span(f"It was {last_publish(state, now)}, and not checked since: what changed is not known.", "quiet"),)
        ]
    if state is None or changes is None or changes.unknown is None:
        return [(Span("This machine has no record of an earlier publish to compare with.", "quiet"),)]
    when = long_ago(now - state.at)
    since = f"it was published here {when}" if state.is_own else f"this machine first saw it live {when}"
    unknown: Mapping[Subject, str] = changes.unknown
    if not changes.found and not unknown:
        return [(Span(f"Nothing differs since {since}."),)]
    lines: list[Line] = [(Span(f"Since {since}:", "heading"),)]
    for subject in SUBJECTS:
        found = changes.of(subject)
        if subject in unknown:
            lines.append((Span(f"  {subject}: not known ({sanitize(unknown[subject])})", "quiet"),))
        elif found:
            lines += _subject_lines(subject, found)
    return lines


def _subject_lines(subject: Subject, found: tuple[Difference, ...]) -> list[Line]:
    numbers = [(kind, sum(difference.kind == kind for difference in found)) for kind in KINDS]
    counted = ", ".join(f"{number:,} {kind}" for kind, number in numbers if number)
    lines: list[Line] = [(Span(f"  {subject}: ", "strong"), Span(counted))]
    for difference in found[:NAMED]:
        sign, style = SIGNS[difference.kind]
        lines.append((Span(f"    {sign} ", style), Span(sanitize(difference.where), "quiet")))
    if len(found) > NAMED:
        lines.append((Span(f"    and {count(len(found) - NAMED, 'more', 'more')}", "quiet"),))
    return lines


def _lacks_pages(content: SiteContent) -> bool:
    return any(part.name == "pages" for part in content.unread)
