"""The title line of the site screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

if TYPE_CHECKING:
    from presscheck.api.sites import Site


def site_title(site: Site, part: str) -> Line:
    """Return a title line with the site, the visible part, and whether the site is live.

    Args:
        site: the site.
        part: the name of the part, such as *Structure*.
    """
    state = "live" if site.published else "draft"
    return (Span(" Sites › ", "quiet"), Span(sanitize(site.title), "title"), Span(f" › {part}   {state}", "quiet"))
