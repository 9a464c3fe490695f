"""The checks before a site is published: one function each, in one table.

A finding says where, what and how bad: an error would reach readers as a fault, a warning as a weakness, and the rest
is information. A check whose part of the site could not be read is *unknown*, never passed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from presscheck.api.content import RevisionPage
from presscheck.api.site_settings import Redirect
from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace, StructureItem
from presscheck.documents.markdown.spec_references import SpecReference
from presscheck.documents.pages.tree import flatten
from presscheck.documents.visitors.claim_schema import MOST_MISTAKES, schema_mistakes
from presscheck.engine.publish.published_state import space_path
from presscheck.engine.publish.site_content import NOTHING_FOUND, PageFacts, SiteContent, SpaceContent, spec_addresses
from presscheck.text.phrases import count

Severity = Literal["error", "warning", "info", "unknown"]
Level = Severity | Literal["off"]
"""The severity of the findings of a check, or that it is not done."""
SEVERITIES: tuple[Severity, ...] = ("error", "unknown", "warning", "info")
"""The worst first."""
LONGEST_TITLE = 70
"""Characters of a title that search engines show."""
NAVIGATION_LEVELS = 6
"""Levels of pages that a reader is expected to open in the navigation of a published site."""
MAX_HOSTNAME = 253
SERVED_FILES = frozenset(("robots.txt", "sitemap.xml", "sitemap-pages.xml", "llms.txt", "llms-full.txt"))
"""Paths at the root of a site at which every published site has a file that is made from its pages."""
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_CLAIM = re.compile(r"\bvisitor\.claims\.([A-Za-z_$][\w$-]*)(?:\.([A-Za-z_$][\w$-]*))?")


@dataclass(frozen=True)
class Finding:
    """A problem, and where it is.

    Attributes:
        check: the name of the check.
        severity: how bad it is; `unknown` if the check could not be done.
        where: the titles of the space and the page, or of the part of the site.
        message: what is wrong.
        space: the id of the space, if it is in one.
        page: the id of the page, if it is on one.
        line: the line in the text of the page, from 1; 0 if it is on no line.
        request: the id of the change request, if it is about one.
    """

    check: str
    severity: Severity
    where: str
    message: str
    space: str = ""
    page: str = ""
    line: int = 0
    request: str = ""


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: stable, for programs.
        title: what it looks for.
        severity: of its findings.
        needs: the names of the parts of a site without which it is unknown.
        find: returns its findings.
    """

    name: str
    title: str
    severity: Severity
    needs: tuple[str, ...]
    find: Callable[[SiteContent], Iterator[Problem]]


@dataclass(frozen=True)
class Problem:
    """A finding without the name and the severity of its check; `is_note` if it is information in any case."""

    where: str
    message: str
    space: str = ""
    page: str = ""
    line: int = 0
    is_note: bool = False
    request: str = ""

    def finding(self, check: str, severity: Severity) -> Finding:
        """The finding of a check."""
        level: Severity = "info" if self.is_note else severity
        return Finding(check, level, self.where, self.message, self.space, self.page, self.line, self.request)


def check_site(content: SiteContent, levels: Mapping[str, Level] | None = None) -> list[Finding]:
    """All findings about a site, the worst first, in the order of the checks.

    Args:
        content: the site.
        levels: the severities of checks that differ from their own, by name; a check that is off is left out.
    """
    level_of: dict[str, Level] = {check.name: check.severity for check in CHECKS}
    level_of |= levels or {}
    checks = [check for check in CHECKS if level_of[check.name] != "off"]
    found = [
        problem.finding(check.name, severity)
        for check in checks
        if (severity := level_of[check.name]) != "off"
        for problem in check.find(content)
    ]
    for part in content.unread:
        names = ", ".join(check.title for check in checks if part.name in check.needs)
        if names:
            found.append(Finding("not-checked", "unknown", part.where, f"not checked: {names} ({part.reason})"))
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def summary(findings: Iterable[Finding]) -> str:
    """The number of findings by severity: `2 errors, 1 not checked, 14 warnings`; empty if there is none."""
    counts = Counter(finding.severity for finding in findings)
    words = {"error": "error", "warning": "warning"}
    shown = [
        f"{number} not checked" if severity == "unknown" else count(number, words.get(severity, "note"))
        for severity in SEVERITIES
        if (number := counts[severity])
    ]
    return ", ".join(shown)


def _empty_site(content: SiteContent) -> Iterator[Problem]:
    if not content.spaces:
        yield Problem(content.site.title, "has no spaces")


def _empty_space(content: SiteContent) -> Iterator[Problem]:
    unread = {part.where for part in content.unread if part.name == "pages"}
    for space in content.spaces:
        if not space.pages and space.title not in unread:
            yield Problem(space.title, "no pages", space.space.id)


def _draft(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        if space.item.draft or (space.section and space.section.draft):
            yield Problem(space.title, "not published yet", space.space.id)


def _broken_link(content: SiteContent) -> Iterator[Problem]:
    yield from _links(content, "broken", "broken link")


def _in_app_link(content: SiteContent) -> Iterator[Problem]:
    yield from _links(content, "in-app", "only members can open")


def _links(content: SiteContent, status: str, words: str) -> Iterator[Problem]:
    for space in content.spaces:
        for link in space.links:
            target = link.target_reference
            named = (target.url or "") if target else ""
            for place in link.location_references if link.status == status else ():
                page = place.page
                where = f"{space.title}: {page.title}" if page else space.title
                yield Problem(where, f"{words}: {named or 'no target'}", space.space.id, page.id if page else "")


def _conflict_markers(content: SiteContent) -> Iterator[Problem]:
    for space, page, facts in _texts(content):
        for line in facts.conflicts:
            yield _on(space, page, f"unresolved conflict markers at line {line}", line)


def _empty_page(content: SiteContent) -> Iterator[Problem]:
    for space, page, facts in _texts(content):
        if facts.is_empty and not page.pages and not page.hidden:
            yield _on(space, page, "has no text")


def _unnamed_image(content: SiteContent) -> Iterator[Problem]:
    for space, page, facts in _texts(content):
        if facts.unnamed_images:
            images = count(len(facts.unnamed_images), "image")
            first = facts.unnamed_images[0]
            yield _on(space, page, f"{images} without alternative text, the first at line {first}", first)


def _hidden_page(content: SiteContent) -> Iterator[Problem]:
    for space, page in _pages(content):
        if page.hidden:
            yield _on(space, page, "hidden: not in the navigation, but anyone with the address can open it")


def _long_title(content: SiteContent) -> Iterator[Problem]:
    for space, page in _pages(content):
        if len(page.title) > LONGEST_TITLE:
            yield _on(space, page, f"title of {len(page.title)} characters: search engines show {LONGEST_TITLE}")


def _no_description(content: SiteContent) -> Iterator[Problem]:
    for space, page in _pages(content):
        if page.type == "document" and not page.description and not page.hidden and not page.no_index:
            yield _on(space, page, "no description for search engines")


def _open_requests(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        number = space.space.change_requests_open or 0
        if number:
            yield Problem(space.title, f"{count(number, 'open change request')}, not merged yet", space.space.id)


def _outdated_requests(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        for request in space.requests:
            if request.outdated:
                where = f"{space.title}: #{request.number} {request.subject or '(no subject)'}"
                why = "is outdated: the live content changed since its last update"
                yield Problem(where, why, space.space.id, request=request.id)


def _no_default(content: SiteContent) -> Iterator[Problem]:
    for where, siblings in _levels(content):
        if siblings and not any(item.default for item in siblings):
            yield Problem(where, "none is the default: its address has nothing to show")


def _duplicate_path(content: SiteContent) -> Iterator[Problem]:
    for where, siblings in _levels(content):
        paths = Counter(item.path for item in siblings if item.path)
        for path, number in paths.items():
            if number > 1:
                yield Problem(where, f"{number} items have the path /{path}: readers reach only one of them")


def _reserved_path(content: SiteContent) -> Iterator[Problem]:
    items = [*_without_groups(content.structure.structure)]
    for item in items:
        if item.path and not item.default and _is_served(item.path):
            yield Problem(
                item.title or item.path, f"the path /{item.path} is reserved: readers get something else there"
            )
    for space in content.spaces:
        is_at_root = space.item.default and (space.section is None or space.section.default)
        siblings = space.section.site_spaces if space.section else items
        level = [*items, *siblings] if is_at_root else siblings if space.item.default else ()
        taken = {item.path: item.title or item.path for item in level if item.path and not item.default}
        for page in space.by_id.values():
            if is_at_root and page.path and _is_served(page.path):
                yield _on(space, page, f"the path /{page.path} is reserved: readers get something else there")
            elif page.path in taken and page.type == "document":
                yield _on(space, page, f"readers of /{page.path} get “{taken[page.path]}”, which has the same path")


def _is_served(path: str) -> bool:
    return path in SERVED_FILES or path.startswith("~")


def _redirect_loop(content: SiteContent) -> Iterator[Problem]:
    for source, way in _redirect_ways(content):
        if _is_circle(source, way):
            yield Problem(f"Redirect {source}", f"redirect loop: {' → '.join((source, *way))}")


def _redirect_chain(content: SiteContent) -> Iterator[Problem]:
    for source, way in _redirect_ways(content):
        if len(way) > 1 and not _is_circle(source, way):
            yield Problem(f"Redirect {source}", f"leads to another redirect: {' → '.join((source, *way))}")


def _redirect_target(content: SiteContent) -> Iterator[Problem]:
    pages = {space.item.id: space.by_id for space in content.spaces}
    sections = {space.section.id for space in content.spaces if space.section}
    for redirect in content.redirects:
        to = redirect.destination
        space = to.site_space_id or ""
        is_gone = (
            (to.kind in ("site-page", "site-space") and space not in pages)
            or (to.kind == "site-page" and to.page_id not in pages.get(space, ()) and bool(pages.get(space)))
            or (to.kind == "site-section" and to.site_section_id not in sections)
        )
        if is_gone:
            yield Problem(f"Redirect {redirect.source}", "leads to something that is not in the site any more")


def _schema(content: SiteContent) -> Iterator[Problem]:
    schema = content.schema.json_schema if content.schema else None
    for mistake in islice(schema_mistakes(schema), MOST_MISTAKES) if schema is not None else ():
        yield Problem("Visitor schema", str(mistake))


def _unknown_claim(content: SiteContent) -> Iterator[Problem]:
    if _is_unread(content, "schema"):
        return
    schema = content.schema.json_schema if content.schema else None
    properties = schema.get("properties") if schema else None
    known: dict[str, object] = dict(properties) if isinstance(properties, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  # JSON
    for place, condition in _conditions(content):
        for name, nested in _CLAIM.findall(condition):
            inner = known.get(name)
            below = inner.get("properties") if isinstance(inner, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # JSON
            is_nested_unknown = nested and isinstance(below, dict) and nested not in below
            if name not in known or is_nested_unknown:
                claim = f"{name}.{nested}" if is_nested_unknown else name
                yield Problem(
                    place.where,
                    f"its condition uses the claim “{claim}”, which the visitor schema lacks",
                    place.space,
                    place.page,
                )


def _no_share_link(content: SiteContent) -> Iterator[Problem]:
    is_shared = content.site.visibility == "share-link" and not _is_unread(content, "share links")
    if is_shared and not any(link.active for link in content.share_links):
        yield Problem(content.site.title, "visible with a share link, and no link is active")


def _no_sign_in(content: SiteContent) -> Iterator[Problem]:
    how = content.authentication
    if how is None:
        return
    if how.backend == "integration" and not how.integration:
        yield Problem(content.site.title, "visitors sign in through an integration, and none is chosen")
    if how.backend == "custom" and not how.fallback_url:
        yield Problem(content.site.title, "no address for visitors who are not signed in")
    if not how.private_key:
        yield Problem(content.site.title, "no key signs visitors in: none of them can open the site")


def _open_comments(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        if space.space.comments:
            yield Problem(space.title, f"{count(space.space.comments, 'open comment')}", space.space.id)


def _outdated_comments(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        for page, number in Counter(space.outdated).items():
            comments = count(number, "open comment")
            is_are = "is" if number == 1 else "are"
            gone = "text" if page else "page"
            titled = space.by_id.get(page)
            where = f"{space.title}: {titled.title if titled else ''}" if page else space.title
            yield Problem(where, f"{comments} {is_are} outdated: the {gone} is gone", space.space.id, page)


def _changed_address(content: SiteContent) -> Iterator[Problem]:
    if content.published is None and content.site.published:
        # not a failure: otherwise no machine that sees the site for the first time, as in CI, could pass
        why = "former addresses are not known: this machine did not publish it, and had not seen it before"
        yield Problem(content.site.title, why, is_note=True)
    now = {space.item.id: space for space in content.spaces}
    reached = _reached(content) if content.former else NOWHERE
    for then, pages in content.former:
        space = now.get(then.id)
        if space is None:
            continue
        path = space_path(space.item, space.section)
        present = space.by_id
        moved = [
            (page, f"{then.path}/{page.path}", f"{path}/{present[page.id].path}")
            for page in flatten(pages)
            if page.path and page.type == "document" and page.id in present and present[page.id].path
        ]
        lost = [entry for entry in moved if entry[1] != entry[2] and not reached.has(entry[1])]
        if path != then.path and lost:
            yield Problem(
                space.title,
                f"its path changed from {then.path or '/'} to {path or '/'}, "
                f"and {count(len(lost), 'page')} have no redirect from the former address",
                space.space.id,
            )
            continue
        for page, before, after in lost:
            yield _on(space, present[page.id], f"its address changed from {before} to {after} without a redirect")


def _incoming_link(content: SiteContent) -> Iterator[Problem]:
    if not content.incoming:
        return
    pages = {page.id for _, page in _pages(content)}
    reached = _reached(content)
    base = urlsplit(content.site.urls.published or "").path.rstrip("/")
    for link in content.incoming:
        if link.target_page:
            if link.target_page not in pages:
                yield Problem(link.where, "links to a page that is not in this site any more", link.space, link.page)
            continue
        path = unquote(urlsplit(link.address).path).removeprefix(base).rstrip("/")
        is_file = "." in path.rpartition("/")[2] or path.startswith("/~")
        if not is_file and not reached.has(path):
            yield Problem(link.where, f"links to {path or '/'}, which this site does not have", link.space, link.page)


def _hostname(content: SiteContent) -> Iterator[Problem]:
    site = content.site
    named = {"hostname": site.hostname, "proxy": urlsplit(f"//{site.proxy.origin}").netloc if site.proxy else None}
    for name, host in named.items():
        problem = hostname_problem(host) if host is not None else ""
        if problem:
            yield Problem(f"{site.title}: {name}", f"“{host}” is not a valid hostname: {problem}")


def hostname_problem(host: str) -> str:
    """Why a text is not a hostname that readers can open; empty if it is one."""
    labels = host.lower().split(".")
    if not host:
        return "it is empty"
    if "://" in host or "/" in host or ":" in host:
        return "write it without scheme, port and path"
    if not host.isascii():
        return f"write it as {host.encode('idna').decode()}" if _has_idna(host) else "it has invalid characters"
    if len(host) > MAX_HOSTNAME:
        return f"it has more than {MAX_HOSTNAME} characters"
    wrong = next((label for label in labels if not _LABEL.fullmatch(label)), None)
    if wrong is not None:
        return f"the part “{wrong}” is invalid" if wrong else "it has an empty part"
    if len(labels) < 2 or labels[-1].isdigit():
        return "it needs a domain, such as docs.example.com"
    return ""


def _has_idna(host: str) -> bool:
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


def _deep_page(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        yield from _not_shown(space, space.pages, 1, None)


def _not_shown(
    space: SpaceContent, pages: Iterable[RevisionPage], level: int, hidden: RevisionPage | None
) -> Iterator[Problem]:
    for page in pages:
        if page.hidden:
            yield from _not_shown(space, page.pages, level + 1, hidden or page)
            continue
        if hidden:
            yield _on(space, page, f"below the hidden page “{hidden.title}”: the navigation does not show it")
        elif level > NAVIGATION_LEVELS:
            yield _on(space, page, f"{level} levels deep: readers open {level - 1} pages to see it in the navigation")
        yield from _not_shown(space, page.pages, level + 1, hidden)


def _failing_spec(content: SiteContent) -> Iterator[Problem]:
    if content.specs is None:
        return
    by_slug = {spec.slug: spec for spec in content.specs}
    by_address = spec_addresses(content.specs)
    for space, page, facts in _texts(content):
        for name, line in facts.specs:
            spec = by_slug.get(name) or by_address.get(name)
            if spec is None and not SpecReference(name, line).is_address:
                yield _on(space, page, f"the OpenAPI block at line {line} names “{name}”, which does not exist", line)
            elif spec and (spec.last_process_error_code or spec.last_processed_error_count):
                errors = spec.last_processed_errors or ()
                why = errors[0].message if errors else spec.last_process_error_code
                yield _on(space, page, f"the specification “{spec.slug}” of line {line} failed: {why}", line)


CHECKS: tuple[Check, ...] = (
    Check("empty-site", "a site without spaces", "error", (), _empty_site),
    Check("conflict-markers", "conflict markers", "error", ("pages", "texts"), _conflict_markers),
    Check("broken-link", "broken links", "error", ("pages", "links"), _broken_link),
    Check("empty-space", "spaces without pages", "error", ("pages",), _empty_space),
    Check("duplicate-path", "duplicate paths", "error", (), _duplicate_path),
    Check("reserved-path", "reserved paths", "error", ("pages",), _reserved_path),
    Check("redirect-loop", "redirect loops", "error", ("redirects", "pages"), _redirect_loop),
    Check("redirect-target", "targets of redirects", "error", ("redirects", "pages"), _redirect_target),
    Check("visitor-schema", "the visitor schema", "error", ("schema",), _schema),
    Check("unknown-claim", "claims of conditions", "error", ("schema", "pages"), _unknown_claim),
    Check("hostname", "hostnames", "error", (), _hostname),
    Check("failing-spec", "OpenAPI specifications", "error", ("specifications", "pages", "texts"), _failing_spec),
    Check("no-share-link", "active share links", "warning", ("share links",), _no_share_link),
    Check("no-sign-in", "how visitors sign in", "warning", ("visitors",), _no_sign_in),
    Check("no-default", "default spaces and sections", "warning", (), _no_default),
    Check("draft", "drafts in the structure", "warning", (), _draft),
    Check("empty-page", "pages without text", "warning", ("pages", "texts"), _empty_page),
    Check("in-app-link", "links that only members can open", "warning", ("pages", "links"), _in_app_link),
    Check("unnamed-image", "images without alternative text", "warning", ("pages", "texts"), _unnamed_image),
    Check("redirect-chain", "redirect chains", "warning", ("redirects", "pages"), _redirect_chain),
    Check(
        "changed-address",
        "changed addresses without a redirect",
        "warning",
        ("published pages", "pages", "redirects"),
        _changed_address,
    ),
    Check(
        "incoming-link",
        "links of other sites",
        "warning",
        ("links of other sites", "pages", "redirects"),
        _incoming_link,
    ),
    Check("long-title", "long titles", "info", ("pages",), _long_title),
    Check("no-description", "missing descriptions", "info", ("pages",), _no_description),
    Check("hidden-page", "hidden pages", "info", ("pages",), _hidden_page),
    Check("deep-page", "pages that the navigation does not show", "info", ("pages",), _deep_page),
    Check("open-requests", "open change requests", "info", ("space",), _open_requests),
    Check("outdated-requests", "outdated change requests", "info", ("change requests",), _outdated_requests),
    Check("open-comments", "open comments", "info", ("space",), _open_comments),
    Check("outdated-comments", "outdated comments", "info", ("pages", "comments"), _outdated_comments),
)
"""All checks, in the order of their findings within a severity."""
CHECK_NAMES = tuple(check.name for check in CHECKS)


def _is_unread(content: SiteContent, name: str) -> bool:
    return any(part.name == name for part in content.unread)


def _pages(content: SiteContent) -> Iterator[tuple[SpaceContent, RevisionPage]]:
    for space in content.spaces:
        for page in space.by_id.values():
            yield space, page


def _texts(content: SiteContent) -> Iterator[tuple[SpaceContent, RevisionPage, PageFacts]]:
    """The pages about whose texts there are facts, in the order of the tree."""
    for space in content.spaces:
        facts_of = {page: facts for page, facts in space.facts.items() if facts is not NOTHING_FOUND}
        for page_id, page in space.by_id.items() if facts_of else ():
            if page_id in facts_of:
                yield space, page, facts_of[page_id]


def _on(space: SpaceContent, page: RevisionPage, message: str, line: int = 0) -> Problem:
    return Problem(f"{space.title}: {page.title}", message, space.space.id, page.id, line)


def _levels(content: SiteContent) -> Iterator[tuple[str, Sequence[SiteSpace | SiteSection]]]:
    """The items that share an address: sections of the site, or spaces of the site or of a section."""
    items = [*_without_groups(content.structure.structure)]
    yield content.site.title, items
    for item in items:
        if isinstance(item, SiteSection):
            yield item.title, item.site_spaces


def _without_groups(items: Iterable[StructureItem]) -> Iterator[SiteSpace | SiteSection]:
    for item in items:
        if isinstance(item, SiteSectionGroup):
            yield from _without_groups(item.children)
        elif isinstance(item, SiteSpace | SiteSection):
            yield item


def _conditions(content: SiteContent) -> Iterator[tuple[Problem, str]]:
    """Each place with a condition, and the condition."""
    for item in _without_groups(content.structure.structure):
        if isinstance(item, SiteSection) and item.condition:
            yield Problem(item.title, ""), item.condition
    for space in content.spaces:
        if space.item.condition:
            yield Problem(space.title, "", space.space.id), space.item.condition
    for space, page in _pages(content):
        if page.condition:
            yield _on(space, page, ""), page.condition


def _redirect_ways(content: SiteContent) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The path of each redirect, and the paths to which it leads through other redirects, until one repeats."""
    targets = {redirect.source: path for redirect in content.redirects if (path := _target_path(content, redirect))}
    for source, first in targets.items():
        way = [first]
        while way[-1] in targets and not _is_circle(source, way):
            way.append(targets[way[-1]])
        yield source, tuple(way)


def _is_circle(source: str, way: Sequence[str]) -> bool:
    return way[-1] == source or way[-1] in way[:-1]


def _target_path(content: SiteContent, redirect: Redirect) -> str:
    """The path within the site to which a redirect leads; empty if it leads elsewhere."""
    to = redirect.destination
    if to.kind == "external":
        address, published = urlsplit(to.url or ""), urlsplit(content.site.urls.published or "")
        is_inside = bool(published.netloc) and address.netloc == published.netloc
        base = published.path.rstrip("/")
        return address.path.removeprefix(base).rstrip("/") if is_inside and address.path.startswith(base) else ""
    for space in content.spaces:
        is_section = to.kind == "site-section" and space.section and space.section.id == to.site_section_id
        if is_section:
            return _join(_section_path(space))
        if space.item.id == to.site_space_id:
            page = space.by_id.get(to.page_id or "")
            return _join(
                _section_path(space), "" if space.item.default else space.item.path, (page and page.path) or ""
            )
    return ""


class _Reached(NamedTuple):
    """The paths within a site at which readers get a page, perhaps through a redirect."""

    paths: Collection[str]
    wildcards: tuple[str, ...]

    def has(self, path: str) -> bool:
        """Whether readers who open a path get a page."""
        return path in self.paths or f"{path}/".startswith(self.wildcards)


NOWHERE = _Reached((), ())


def _reached(content: SiteContent) -> _Reached:
    sources = [(redirect.source.rstrip("/"), bool(redirect.capture_wildcard)) for redirect in content.redirects]
    wildcards = (source.removesuffix("/*") for source, is_all in sources if is_all or source.endswith("/*"))
    paths = {*_page_paths(content), *(source for source, _ in sources)}
    return _Reached(paths, tuple(f"{path}/" for path in wildcards))


def _page_paths(content: SiteContent) -> Iterator[str]:
    """The path within the site of each page, and of each space and section."""
    yield ""
    for space in content.spaces:
        section = _join(_section_path(space))
        for base in {space_path(space.item, space.section), section, f"{section}/{space.item.path}"}:
            yield base
            yield from (f"{base}/{page.path}" for page in space.by_id.values() if page.path)


def _section_path(space: SpaceContent) -> str:
    return space.section.path if space.section and not space.section.default else ""


def _join(*parts: str) -> str:
    return "".join(f"/{part}" for part in parts if part)
