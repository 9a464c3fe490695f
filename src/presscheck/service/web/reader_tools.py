"""The MCP tools of a site, which search and read pages. They have the same names as on GitBook."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

from presscheck.documents.pages.tree import PagePosition
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.links import resolve_url
from presscheck.service.web.machine_files import page_markdown
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.search import LONGEST_QUERY, PAGE_SIZE, Marked, search_page

USUAL_HITS = 10
"""Number of pages in a search result, unless the caller sets it."""
PART = 20_000
"""Maximum number of characters of a page in one response."""
LONGEST_URL = 2_000
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//").match


class Argument(NamedTuple):
    """An argument of a tool.

    Attributes:
        description: what the argument means.
        kind: the type in JSON: `string` or `integer`.
        least: the smallest integer, or the minimum number of characters.
        most: the largest integer, or the maximum number of characters.
        default: the default value of an integer; None if the argument is required.
    """

    description: str
    kind: str
    least: int
    most: int
    default: int | None = None

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the argument."""
        least, most = ("minLength", "maxLength") if self.kind == "string" else ("minimum", "maximum")
        schema = {"type": self.kind, "description": self.description, least: self.least, most: self.most}
        return schema if self.default is None else schema | {"default": self.default}

    def problem_of(self, value: Any) -> str:
        """Return why a value is not allowed, such as `must be an integer from 1 to 20`, or an empty string."""
        if self.kind == "string":
            is_allowed = isinstance(value, str) and self.least <= len(value.strip()) and len(value) <= self.most
            return "" if is_allowed else f"must be a text of {self.least} to {self.most:,} characters"
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        is_allowed = is_integer and self.least <= value <= self.most
        return "" if is_allowed else f"must be an integer from {self.least} to {self.most:,}"


class Tool(NamedTuple):
    """A tool: its name, title, description (`{}` stands for the title of the site), arguments and function."""

    name: str
    title: str
    description: str
    arguments: dict[str, Argument]
    run: Callable[[PublishedSite, dict[str, Any]], dict[str, Any]]

    def described(self, site_title: str) -> dict[str, Any]:
        """Return the description of the tool for clients."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description.replace("{}", site_title),
            "inputSchema": {
                "type": "object",
                "properties": {name: argument.schema() for name, argument in self.arguments.items()},
                "required": [name for name, argument in self.arguments.items() if argument.default is None],
                "additionalProperties": False,
            },
            "annotations": {"title": self.title, "readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
        }

    def problem_of(self, values: dict[str, Any]) -> str:
        """Return why the tool cannot be called with these arguments, or an empty string."""
        for name in values:
            if name not in self.arguments:
                return f"{self.name} has no argument {name[:100]!r}; it has {', '.join(self.arguments)}."
        for name, argument in self.arguments.items():
            problem = argument.problem_of(values.get(name, argument.default))
            if problem:
                return f"{name} {problem}."
        return ""

    def call(self, site: PublishedSite, values: dict[str, Any]) -> dict[str, Any]:
        """Run the tool with valid arguments (see `problem_of`), and return the result for clients."""
        defaults = {name: argument.default for name, argument in self.arguments.items()}
        return self.run(site, defaults | values)


def _search(site: PublishedSite, values: dict[str, Any]) -> dict[str, Any]:
    matches = search_page(site, values["query"], "", 1)
    results: list[dict[str, Any]] = []
    for page in matches.pages[: values["limit"]]:
        passage = page.passages[0] if page.passages else None
        result = {
            "title": _plain(page.title),
            "url": site.absolute(passage.url if passage and passage.url else page.url),
            "where": list(page.where),
            "section": _plain(passage.title) if passage else "",
            "excerpt": _plain(passage.text) if passage else "",
        }
        results.append(result)
    texts = [
        "\n".join(
            (
                f"Title: {' › '.join(part for part in (result['title'], result['section']) if part)}",
                f"Link: {result['url']}",
                f"Content: {result['excerpt']}",
            )
        )
        for result in results
    ]
    return {
        "content": [{"type": "text", "text": text} for text in texts or ["No page matches."]],
        "structuredContent": {"total": matches.total, "results": results},
    }


def _read(site: PublishedSite, values: dict[str, Any]) -> dict[str, Any]:
    page = _page_at(site, values["url"])
    if page is None:
        return _failure("Page not found on this site; find pages with searchDocumentation.")
    text = page_markdown(site, *page)
    start = values["offset"]
    if start and start >= len(text):
        return _failure(f"The page has only {len(text):,} characters.")
    end = start + PART
    if end < len(text):
        end = text.rfind("\n", start, end) + 1 or end
    content = [{"type": "text", "text": text[start:end]}]
    if end < len(text):
        note = f"Characters {start + 1:,} to {end:,} of {len(text):,}. For more, call getPage with offset {end}."
        content.append({"type": "text", "text": note})
    return {"content": content}


def _page_at(site: PublishedSite, url: str) -> tuple[SiteSpaceRow, PagePosition] | None:
    """Return the page for a URL, a path, a former path or an id, or None."""
    address = url.strip().partition("#")[0].partition("?")[0]
    for _ in range(2):
        if _HAS_SCHEME(address):
            link = resolve_url(site, f"{address}/")
            if link is None or not link.url.startswith(site.base):
                return None
            address = link.url
        path = unquote(address.removeprefix(site.base)).strip("/")
        page = site.find(path) or site.find(path.removesuffix(".md"))
        moved = None if page else site.moved(path)
        if not moved:
            return page
        address = moved.partition("#")[0]
    return None


def _plain(words: Marked) -> str:
    return "".join(text for text, _ in words)


def _failure(reason: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": reason}], "isError": True}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "searchDocumentation",
            "Search documentation",
            "Search the documentation “{}”. Returns the best pages with title, URL and the matching part of the text; "
            "read a whole page with getPage.",
            {
                "query": Argument(
                    "Words to search for; quotation marks keep words together.", "string", 1, LONGEST_QUERY
                ),
                "limit": Argument("Maximum number of pages.", "integer", 1, PAGE_SIZE, USUAL_HITS),
            },
            _search,
        ),
        Tool(
            "getPage",
            "Read a page",
            "Read a page of the documentation “{}” as Markdown. Long pages come in parts.",
            {
                "url": Argument("The URL of the page, its path within the site, or its id.", "string", 1, LONGEST_URL),
                "offset": Argument("Where to continue a long page.", "integer", 0, 10**9, 0),
            },
            _read,
        ),
    )
}
"""The tools by name."""
