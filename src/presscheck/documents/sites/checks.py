"""The checks before a site is published: a table with one function for each check.

Each finding has a place, a message and a severity. Errors are faults that readers would notice, warnings are
weaknesses, and everything else is information. If the data for a check could not be read, its result is *unknown*,
never passed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from presscheck.api.content import RevisionPage
from presscheck.api.site_settings import Redirect
from presscheck.api.site_structure import SiteSection, SiteSectionGroup, SiteSpace, StructureItem
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import (
    NOTHING_FOUND,
    PageFacts,
    SiteContent,
    SpaceContent,
    key_of,
    space_path,
    spec_addresses,
)
from presscheck.documents.visitors.claim_schema import MOST_MISTAKES, schema_claims, schema_mistakes
from presscheck.documents.visitors.conditional_text import condition_mistakes
from presscheck.documents.visitors.conditions import claim_paths, problem_of
from presscheck.text.phrases import count

Severity = Literal["error", "warning", "info", "unknown"]
Part = Literal["", "details", "hostname", "structure", "redirects", "share links", "sign-in", "schema", "comments"]
"""The part of the site's settings where a problem can be fixed; empty for problems on pages or outside presscheck."""
Level = Severity | Literal["off"]
"""The severity of a check's findings; `off` disables the check."""
SEVERITIES: tuple[Severity, ...] = ("error", "unknown", "warning", "info")
"""All severities, worst first."""
LONGEST_TITLE = 70
"""Number of characters of a title that search engines show."""
NAVIGATION_LEVELS = 6
"""Maximum depth of pages that readers are expected to find in the navigation."""
MAX_HOSTNAME = 253
MOST_REDIRECTS = 20
"""Redirects after which browsers show an error."""
SERVED_FILES = frozenset(("robots.txt", "sitemap.xml", "sitemap-pages.xml", "llms.txt", "llms-full.txt"))
"""Paths of generated files that every published site has at its root."""
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


@dataclass(frozen=True)
class Finding:
    """A problem of a site and its place.

    Attributes:
        check: the name of the check.
        severity: the severity; `unknown` if the check could not run.
        where: the titles of the space and the page, or of the part of the site.
        message: a description of the problem.
        space: the id of the space; empty outside spaces.
        page: the id of the page; empty outside pages.
        line: the line in the text of the page, counted from 1; 0 if the problem is not in a line.
        request: the id of the change request; empty if the problem does not concern a change request.
        part: the part of the settings where the problem can be fixed; empty for pages.
        item: the key of the structure item, the id of the redirect or the name of the setting.
        link: the link on the page, as written.
        unchecked: the names of the checks that could not run, for the finding `not-checked`.
        reason: the reason why these checks could not run.
    """

    check: str
    severity: Severity
    where: str
    message: str
    space: str = ""
    page: str = ""
    line: int = 0
    request: str = ""
    part: Part = ""
    item: str = ""
    link: str = ""
    unchecked: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Check:
    """A check of a site.

    Attributes:
        name: a stable name for programs.
        title: the subject of the check.
        severity: the default severity of its findings.
        needs: the names of the parts of a site that the check requires.
        find: yields the problems.
    """

    name: str
    title: str
    severity: Severity
    needs: tuple[str, ...]
    find: Callable[[SiteContent], Iterator[Problem]]


@dataclass(frozen=True)
class Problem:
    """A finding without the name of its check. `severity` is None for findings with the severity of the check."""

    where: str
    message: str
    space: str = ""
    page: str = ""
    line: int = 0
    severity: Severity | None = None
    request: str = ""
    part: Part = ""
    item: str = ""
    link: str = ""

    def finding(self, check: str, severity: Severity) -> Finding:
        """Return the problem as a finding of a check."""
        values: dict[str, Any] = {**vars(self), "severity": self.severity or severity}
        return Finding(check, **values)


def check_site(content: SiteContent, levels: Mapping[str, Level] | None = None) -> list[Finding]:
    """Run the checks on a site. Return the findings, worst first, then in the order of the checks.

    Args:
        content: the site.
        levels: severities that replace the defaults of checks, by name; `off` disables a check.
    """
    level_of: dict[str, Level] = {check.name: check.severity for check in CHECKS}
    level_of |= levels or {}
    checks = [check for check in CHECKS if level_of[check.name] != "off"]
    findings = [
        problem.finding(check.name, severity)
        for check in checks
        if (severity := level_of[check.name]) != "off"
        for problem in check.find(content)
    ]
    for part in content.unread:
        missed = [check for check in checks if part.name in check.needs]
        if missed:
            message = f"not checked: {', '.join(check.title for check in missed)} ({part.reason})"
            unchecked = tuple(check.name for check in missed)
            missing = Finding("not-checked", "unknown", part.where, message, unchecked=unchecked, reason=part.reason)
            findings.append(missing)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def summary(findings: Iterable[Finding]) -> str:
    """Count the findings by severity: `2 errors, 1 not checked, 14 warnings`. Empty without findings."""
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
        yield Problem(content.site.title, "has no spaces", part="structure")


def _empty_space(content: SiteContent) -> Iterator[Problem]:
    unread = {part.where for part in content.unread if part.name == "pages"}
    for space in content.spaces:
        if not space.pages and space.title not in unread:
            yield Problem(space.title, "no pages", space.space.id)


def _draft(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        if space.item.draft or (space.section and space.section.draft):
            item = space.item if space.item.draft or space.section is None else space.section
            yield Problem(space.title, "not published yet", space.space.id, part="structure", item=key_of(item))


def _broken_link(content: SiteContent) -> Iterator[Problem]:
    yield from _links(content, "broken", "broken link")
    site_links = [(space, link) for space in content.spaces for link in space.links if link.status != "broken"]
    missing_path = _missing_path_finder(content)
    for space, link in site_links:
        target = link.target_reference
        address = (target.url or "") if target else ""
        # the service checks links to pages of a space, but not links to addresses of the site
        path = missing_path(address) if address else ""
        for place in link.location_references if path else ():
            page = place.page
            where = f"{space.title}: {page.title}" if page else space.title
            message = f"broken link: {path}, which this site does not have"
            yield Problem(where, message, space.space.id, page.id if page else "", link=address)


def _in_app_link(content: SiteContent) -> Iterator[Problem]:
    yield from _links(content, "in-app", "only members can open")


def _links(content: SiteContent, status: str, words: str) -> Iterator[Problem]:
    for space in content.spaces:
        for link in space.links:
            target = link.target_reference
            named = (target.url or "") if target else ""
            anchor = target.internal_location.anchor if target and target.internal_location else None
            if target and target.page and anchor:
                message = f"{words}: {target.page.title} has no heading “{anchor}”"
            else:
                message = f"{words}: {named or 'no target'}"
            for place in link.location_references if link.status == status else ():
                page = place.page
                where = f"{space.title}: {page.title}" if page else space.title
                yield Problem(where, message, space.space.id, page.id if page else "", link=named)


def _conflict_markers(content: SiteContent) -> Iterator[Problem]:
    for space, page, facts in _texts(content):
        for line in facts.conflicts:
            yield _on(space, page, f"unresolved conflict markers at line {line}", line)


def _unreadable_condition(content: SiteContent) -> Iterator[Problem]:
    for space, page in _pages(content):
        for noun, words in (("title", page.title), ("link title", page.link_title), ("description", page.description)):
            for _, reason in condition_mistakes(words or "", is_markdown=False):
                yield _on(space, page, f"a condition in the {noun} hides text from everybody: {reason}")
    for space, page, facts in _texts(content):
        for line, reason in facts.conditions:
            yield _on(space, page, f"a condition at line {line} hides text from everybody: {reason}", line)


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
            why = "none is the default: its address has nothing to show"
            yield Problem(where, why, part="structure", item=key_of(siblings[0]))
    for item in _without_groups(content.structure.structure):
        if isinstance(item, SiteSection) and not item.site_spaces:
            yield Problem(
                item.title, "has no spaces: its address has nothing to show", part="structure", item=key_of(item)
            )


def _duplicate_path(content: SiteContent) -> Iterator[Problem]:
    for where, siblings in _levels(content):
        paths = Counter(item.path for item in siblings if item.path)
        for path, number in paths.items():
            if number > 1:
                second = [item for item in siblings if item.path == path][1]
                why = f"{number} items have the path /{path}: readers reach only one of them"
                yield Problem(where, why, part="structure", item=key_of(second))


def _reserved_path(content: SiteContent) -> Iterator[Problem]:
    items = [*_without_groups(content.structure.structure)]
    for item in items:
        if item.path and not item.default and _is_served(item.path):
            why = f"the path /{item.path} is reserved: readers get something else there"
            yield Problem(item.title or item.path, why, part="structure", item=key_of(item))
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
            yield _redirect(content, source, f"redirect loop: {' → '.join((source, *way))}")


def _redirect_chain(content: SiteContent) -> Iterator[Problem]:
    for source, way in _redirect_ways(content):
        if len(way) > 1 and not _is_circle(source, way):
            yield _redirect(content, source, f"leads to another redirect: {' → '.join((source, *way))}")


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
            yield _redirect(content, redirect.source, "leads to something that is not in the site any more")


def _redirect(content: SiteContent, source: str, message: str) -> Problem:
    redirect_id = next((redirect.id for redirect in content.redirects if redirect.source == source), "")
    return Problem(f"Redirect {source}", message, part="redirects", item=redirect_id)


def _schema(content: SiteContent) -> Iterator[Problem]:
    schema = content.schema.json_schema if content.schema else None
    for mistake in islice(schema_mistakes(schema), MOST_MISTAKES) if schema is not None else ():
        yield Problem("Visitor schema", str(mistake), part="schema")


def _unknown_claim(content: SiteContent) -> Iterator[Problem]:
    if _is_unread(content, "schema"):
        return
    schema = content.schema.json_schema if content.schema else None
    kinds = {claim.path: claim.kind for claim in schema_claims(schema)}
    for place, condition in _conditions(content):
        if problem := problem_of(condition):
            # not an error, because the service may accept conditions that presscheck cannot parse
            yield replace(place, message=f"the claims of its condition are not checked: {problem}", severity="unknown")
            continue
        for path in claim_paths(condition):
            # names after a claim that is not an object access its value, for example its length
            if path not in kinds and not any(
                kinds.get(path[:end], "object") != "object" for end in range(1, len(path))
            ):
                claim = ".".join(path)
                yield replace(place, message=f"its condition uses the claim “{claim}”, which the visitor schema lacks")


def _no_share_link(content: SiteContent) -> Iterator[Problem]:
    is_shared = content.site.visibility == "share-link" and not _is_unread(content, "share links")
    if is_shared and not any(link.active for link in content.share_links):
        yield Problem(content.site.title, "visible with a share link, and no link is active", part="share links")


def _no_sign_in(content: SiteContent) -> Iterator[Problem]:
    how = content.authentication
    if how is None:
        return
    problems = (
        (
            how.backend == "integration" and not how.integration,
            "visitors sign in through an integration, and none is chosen",
        ),
        (how.backend == "custom" and not how.fallback_url, "no address for visitors who are not signed in"),
        (not how.private_key, "no key signs visitors in: none of them can open the site"),
    )
    for is_so, message in problems:
        if is_so:
            yield Problem(content.site.title, message, part="sign-in")


def _open_comments(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        if space.space.comments:
            yield Problem(space.title, count(space.space.comments, "open comment"), space.space.id, part="comments")


def _outdated_comments(content: SiteContent) -> Iterator[Problem]:
    for space in content.spaces:
        for page, number in Counter(space.outdated).items():
            comments = count(number, "open comment")
            is_are = "is" if number == 1 else "are"
            gone = "text" if page else "page"
            titled = space.by_id.get(page)
            where = f"{space.title}: {titled.title if titled else ''}" if page else space.title
            message = f"{comments} {is_are} outdated: the {gone} is gone"
            yield Problem(where, message, space.space.id, page, part="comments")


def _changed_address(content: SiteContent) -> Iterator[Problem]:
    if content.published is None and content.site.published:
        # only information: otherwise a machine that sees the site for the first time, as in CI, could never pass
        why = "former addresses are not known: this machine did not publish it, and had not seen it before"
        yield Problem(content.site.title, why, severity="info")
    now = {space.item.id: space for space in content.spaces}
    if _is_unread(content, "redirects"):
        return
    reached = _reached(content) if content.former else NOTHING_REACHED
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
    missing_path = _missing_path_finder(content)
    for link in content.incoming:
        if link.target_page:
            if link.target_page not in pages and not _is_unread(content, "pages"):
                why = "links to a page that is not in this site any more"
                yield Problem(link.where, why, link.space, link.page, link=link.address)
        elif path := missing_path(link.address):
            why = f"links to {path}, which this site does not have"
            yield Problem(link.where, why, link.space, link.page, link=link.address)


def _missing_path_finder(content: SiteContent) -> Callable[[str], str]:
    """Return a function that checks the address of a link.

    The function returns the path within the site if readers get no page at the address, and an empty text for all other
    addresses. If pages or redirects could not be read, the result is always empty; the check is then reported as
    not run.
    """
    if _is_unread(content, "pages") or _is_unread(content, "redirects"):
        return lambda _: ""
    published = (content.site.urls.published or "").rstrip("/")
    base, reached = urlsplit(published).path, list[_Reached]()

    def path_of(address: str) -> str:
        if not published or not f"{address}/".startswith((f"{published}/", f"{published}#", f"{published}?")):
            return ""
        path = unquote(urlsplit(address).path).removeprefix(base).rstrip("/")
        if "." in path.rpartition("/")[2] or path.startswith("/~"):  # a file
            return ""
        if not reached:  # computed for the first link into the site, because it needs the paths of all pages
            reached.append(_reached(content))
        return "" if reached[0].has(path) else path or "/"

    return path_of


def _hostname(content: SiteContent) -> Iterator[Problem]:
    site = content.site
    named = {
        "hostname": site.hostname,
        "proxy": (_split(f"//{site.proxy.origin}").netloc or site.proxy.origin) if site.proxy else None,
    }
    for name, host in named.items():
        problem = hostname_problem(host) if host is not None else ""
        if problem:
            why = f"“{host}” is not a valid hostname: {problem}"
            # the API can change the proxy, but not the hostname
            part: Part = "hostname" if name == "hostname" else "details"
            yield Problem(f"{site.title}: {name}", why, part=part, item=name)


def hostname_problem(host: str) -> str:
    """Return why a text is not a valid public hostname; empty if it is valid."""
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
        for name, line, is_file in facts.specs:
            spec = by_address.get(name) if is_file else by_slug.get(name)
            if spec is None and not is_file:
                yield _on(space, page, f"the OpenAPI block at line {line} names “{name}”, which does not exist", line)
            elif spec and (spec.last_process_error_code or spec.last_processed_error_count):
                errors = spec.last_processed_errors or ()
                why = errors[0].message if errors else spec.last_process_error_code
                yield _on(space, page, f"the specification “{spec.slug}” of line {line} failed: {why}", line)


CHECKS: tuple[Check, ...] = (
    Check("empty-site", "a site without spaces", "error", (), _empty_site),
    Check("conflict-markers", "conflict markers", "error", ("pages", "texts"), _conflict_markers),
    Check("unreadable-condition", "conditions in texts", "error", ("pages", "texts"), _unreadable_condition),
    Check("broken-link", "broken links", "error", ("pages", "links", "redirects"), _broken_link),
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
    """Yield space, page and facts for each page with findings in its text, in the order of the tree."""
    for space in content.spaces:
        facts_of = {page: facts for page, facts in space.facts.items() if facts is not NOTHING_FOUND}
        for page_id, page in space.by_id.items() if facts_of else ():
            if page_id in facts_of:
                yield space, page, facts_of[page_id]


def _on(space: SpaceContent, page: RevisionPage, message: str, line: int = 0) -> Problem:
    return Problem(f"{space.title}: {page.title}", message, space.space.id, page.id, line)


def _levels(content: SiteContent) -> Iterator[tuple[str, Sequence[SiteSpace | SiteSection]]]:
    """Yield the top level and each section of a site: the title, and the items inside, whose paths must differ."""
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
    """Yield each condition with its place. The place is a problem without a message."""
    for item in _without_groups(content.structure.structure):
        if isinstance(item, SiteSection) and item.condition:
            yield Problem(item.title, "", part="structure", item=key_of(item)), item.condition
    for space in content.spaces:
        if space.item.condition:
            at = Problem(space.title, "", space.space.id, part="structure", item=key_of(space.item))
            yield at, space.item.condition
    for space, page in _pages(content):
        if page.condition:
            yield _on(space, page, ""), page.condition


def _redirect_ways(content: SiteContent) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the source of each redirect within the site, and the paths to which it leads through other redirects.

    The paths end when a path repeats, or after `MOST_REDIRECTS`.
    """
    targets = {redirect.source: path for redirect in content.redirects if (path := _target_path(content, redirect))}
    for source, first in targets.items():
        way = [first]
        while way[-1] in targets and len(way) < MOST_REDIRECTS and not _is_circle(source, way):
            way.append(targets[way[-1]])
        yield source, tuple(way)


def _is_circle(source: str, way: Sequence[str]) -> bool:
    return way[-1] == source or way[-1] in way[:-1]


def _split(address: str) -> SplitResult:
    """Split an address into its parts, which are all empty if it is not a URL."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _target_path(content: SiteContent, redirect: Redirect) -> str:
    """Return the path within the site to which a redirect leads; empty for targets outside or unknown targets."""
    to = redirect.destination
    if to.kind == "external":
        address, published = _split(to.url or ""), _split(content.site.urls.published or "")
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
    """The paths within a site at which readers get a page, directly or through a redirect."""

    paths: Collection[str]
    wildcards: tuple[str, ...]

    def has(self, path: str) -> bool:
        """Return whether readers get a page at a path."""
        return path in self.paths or f"{path}/".startswith(self.wildcards)


NOTHING_REACHED = _Reached((), ())


def _reached(content: SiteContent) -> _Reached:
    sources = [(redirect.source.rstrip("/"), bool(redirect.capture_wildcard)) for redirect in content.redirects]
    wildcards = (source.removesuffix("/*") for source, is_all in sources if is_all or source.endswith("/*"))
    paths = {*_page_paths(content), *(source for source, _ in sources)}
    return _Reached(paths, tuple(f"{path}/" for path in wildcards))


def _page_paths(content: SiteContent) -> Iterator[str]:
    """Yield the paths of all pages, spaces and sections within the site."""
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
