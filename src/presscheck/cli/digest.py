"""What happened since a time, as `presscheck inbox --since` prints it: text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from presscheck.api.organizations import Organization
from presscheck.cli.output import as_json
from presscheck.documents.nodes.to_inlines import destination, escaped
from presscheck.engine.inbox.digest import Digest, Item
from presscheck.text.sanitize import sanitize

Format = Literal["text", "markdown"]


def digest_lines(form: Format, title: str, digest: Digest, spaces: Mapping[str, str], limit: int) -> list[str]:
    """Return a digest as lines.

    Args:
        form: the format.
        title: the title of the organization.
        digest: its digest.
        spaces: titles of spaces by id.
        limit: maximum number of change requests in each section.
    """
    lines = (_markdown if form == "markdown" else _text)(title, digest, spaces, limit)
    return lines if len(lines) > 1 else [*lines, "", "Nothing happened."]


def digest_record(organization: Organization, digest: Digest, limit: int) -> dict[str, Any]:
    """Return a digest as JSON, with at most `limit` change requests in each section."""

    def records(items: tuple[Item, ...]) -> list[dict[str, Any]]:
        return [as_json(item.request) | {"news": item.news} for item in items[:limit]]

    return {
        "organization": {"id": organization.id, "title": organization.title},
        "since": digest.since.isoformat(),
        "waiting": records(digest.waiting),
        "merged": records(digest.merged),
        "new": records(digest.new),
        "changed": records(digest.changed),
    }


def _text(title: str, digest: Digest, spaces: Mapping[str, str], limit: int) -> list[str]:
    lines = [f"{title} since {_moment(digest.since)}"]
    for name, items in digest.sections.items():
        lines += ["", f"{name}: {len(items)}"] if items else []
        for item in items[:limit]:
            request = item.request
            author = request.created_by.display_name if request.created_by else "somebody"
            what = f"{spaces.get(request.space, '')} #{request.number} {request.subject or '(no subject)'}".strip()
            lines += [f"  {what}, by {author}", *(f"    {news}" for news in item.news)]
        lines += [f"  … and {len(items) - limit} more"] if len(items) > limit else []
    return lines


def _markdown(title: str, digest: Digest, spaces: Mapping[str, str], limit: int) -> list[str]:
    lines = [f"# {_escaped(title)} since {_moment(digest.since)}"]
    for name, items in digest.sections.items():
        lines += ["", f"## {name} ({len(items)})", ""] if items else []
        lines += [_markdown_line(item, spaces) for item in items[:limit]]
        lines += [f"- … and {len(items) - limit} more"] if len(items) > limit else []
    return lines


def _markdown_line(item: Item, spaces: Mapping[str, str]) -> str:
    request = item.request
    what = f"#{request.number} {_escaped(request.subject or '(no subject)')}"
    if request.urls.app:
        what = f"[{what}]({destination(request.urls.app)})"
    author = _escaped(request.created_by.display_name if request.created_by else "somebody")
    news = f": {_escaped('; '.join(item.news))}" if item.news else ""
    return f"- {what} in {_escaped(spaces.get(request.space, ''))}, by {author}{news}"


def _escaped(text: str) -> str:
    return escaped(" ".join(sanitize(text).split()))


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
