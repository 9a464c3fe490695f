"""The prose checks of `presscheck site check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.cli.output import print_message
from presscheck.cli.prose_checks import prose_findings
from presscheck.engine.publish.prose_pages import (
    has_published_pages,
    prose_pages,
    read_prose_texts,
    unread_spaces,
)
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from presscheck.cli.session import Session
    from presscheck.config.prose_checks import ProseCheck
    from presscheck.documents.sites.checks import Finding
    from presscheck.documents.sites.content import SiteContent


async def site_prose_findings(session: Session, content: SiteContent, checks: Sequence[ProseCheck]) -> list[Finding]:
    """Return the new findings of prose checks in the changed pages of a site. Print how many pages were not checked.

    Raises:
        PresscheckError: a check failed.
    """
    texts = await read_prose_texts(session.engine, content, prose_pages(content))
    if not has_published_pages(content):
        print_message("The published version is unknown: the prose of all pages in the cache is checked.")
    if texts.missing or unread_spaces(content):
        parts = (count(texts.missing, "page") if texts.missing else "", unread_spaces(content))
        print_message(f"Prose not checked: {', '.join(part for part in parts if part)}.")
    if not texts.after:
        return []
    return texts.site_findings(await prose_findings(checks, texts.before, texts.after))
