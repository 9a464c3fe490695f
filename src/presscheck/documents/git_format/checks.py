"""Checks a documentation folder without a service: problems in its files, and mistakes that readers of its pages see.

Links, anchors, sizes, conflicts, conditions and images follow the same rules as the checks of sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from presscheck.documents.block_tags import BLOCK_TAGS, OLD_NAMES
from presscheck.documents.git_format.config import CONFIG_FILE
from presscheck.documents.git_format.files import MAX_FILE, read_text
from presscheck.documents.git_format.findings import Finding, Fix
from presscheck.documents.git_format.repository import AnchoredLink, Folder, PageText, read_folder
from presscheck.documents.markdown.anchors import PageAnchors, encode_fragment, page_anchors
from presscheck.documents.markdown.block_splitter import HTML_NAMES, UnpairedTag, text_lines, unpaired_tags
from presscheck.documents.markdown.code_ranges import code_ranges, unclosed_fence
from presscheck.documents.markdown.links import unnamed_images
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.markdown.parser import parse
from presscheck.documents.merge.conflict_blocks import START_SIGNS, unresolved_conflicts
from presscheck.documents.visitors.conditional_text import condition_mistakes

_not_name = re.compile(r"[^a-z0-9]+")
_prefix = re.compile(r"\Aid(?=\d)")
_path = re.compile(r"[^\s\"'<>()?#]+").match
_OF_LINKS = ("broken-link", "missing-file", "missing-snippet")
_key = re.compile(r"[A-Za-z][\w-]*:(?:\s|$)").match


def check_folder(path: Path) -> list[Finding]:
    """Return the findings in a folder, sorted by their place. Paths are relative to the folder.

    Raises:
        OSError: the folder does not exist.
    """
    folder = read_folder(path)
    cases = _Cases(folder)
    findings = [cases.with_fix(finding) for finding in folder.findings]
    findings += _anchors(folder)
    for source, page in folder.texts.items():
        findings += _text(source, page)
    for source, entry in folder.files.entries.items():
        if entry.size > MAX_FILE and source not in folder.texts:
            message = f"has {entry.size:,} bytes; the limit for a file is {MAX_FILE:,}"
            findings.append(Finding(source, 1, message, "too-large"))
    for source, location in ((folder.settings.summary, folder.files.root), (CONFIG_FILE, path)):
        if (location / source).is_file():
            findings += _conflicts(source, read_text(source, location / source).text)
    root = folder.settings.root
    moved = (_below(root, finding) if root else finding for finding in findings)
    return sorted(moved, key=lambda finding: finding.place)


class _Cases:
    """Finds the files that broken links would reach if case were ignored."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._sources: dict[str, list[str]] = {}

    def with_fix(self, finding: Finding) -> Finding:
        """Add a fix to a finding of a broken link, if exactly one file matches the target when case is ignored.

        Any other finding is returned unchanged.
        """
        if not finding.target or finding.rule not in _OF_LINKS:
            return finding
        if not self._sources:
            for source in self._folder.files:
                self._sources.setdefault(source.casefold(), []).append(source)
        for target in (finding.target, f"{finding.target}.md"):
            similar = self._sources.get(target.casefold(), [])
            if len(similar) == 1:
                right = similar[0][: len(finding.target)]
                return finding._replace(fix=_renamed(self._line(finding), finding.column - 1, finding.target, right))
        return finding

    def _line(self, finding: Finding) -> str:
        page = self._folder.texts[finding.path]
        return page.text.split("\n")[finding.line - 1]


def _renamed(line: str, start: int, target: str, right: str) -> Fix | None:
    """Return the fix of a link whose target differs from the path of a file only in upper and lower case.

    Return None if no target begins at `start`, or if there is nothing to replace.

    Args:
        line: the line with the link.
        start: the offset of the target in the line.
        target: the source path to which the link leads.
        right: the source path of the file.
    """
    written = _path(line, start)
    if written is None:
        return None
    old = written[0].split("/")
    names, wrong = right.split("/"), target.split("/")
    new = list(old)
    for at in range(1, min(len(old), len(names)) + 1):
        if unquote(old[-at]) != wrong[-at]:
            break
        new[-at] = old[-at] if names[-at] == wrong[-at] else quote(names[-at]) if "%" in old[-at] else names[-at]
    fixed = "/".join(new)
    return Fix(written[0], fixed) if fixed != written[0] else None


def _below(root: str, finding: Finding) -> Finding:
    """Return a finding with paths relative to the folder. `root` is the path of the content in the folder."""
    path = finding.path if finding.path == CONFIG_FILE else f"{root}/{finding.path}"
    return finding._replace(path=path, target=finding.target and f"{root}/{finding.target}")


def _text(source: str, page: PageText) -> Iterator[Finding]:
    body, first = page.body, page.body_line
    if problem := size_problem(body):
        yield Finding(source, first, problem, "too-large")
        return
    yield from _conflicts(source, page.text)
    yield from _front_matter(source, page.text)
    for line, reason in condition_mistakes(body):
        message = f"a condition hides text from everybody: {reason}"
        yield Finding(source, first + line - 1, message, "unreadable-condition")
    for start in unnamed_images(body):
        line, column = first + body.count("\n", 0, start), start - body.rfind("\n", 0, start)
        yield Finding(source, line, "image without alternative text", "unnamed-image", column)
    yield from _unpaired(source, page)


def _conflicts(source: str, text: str) -> Iterator[Finding]:
    for block in unresolved_conflicts(text) if START_SIGNS in text else ():
        yield Finding(source, block.first + 1, "unresolved conflict markers", "conflict-markers")


def _front_matter(source: str, text: str) -> Iterator[Finding]:
    """Report front matter without a closing fence, because a reader would see it as text."""
    lines = text[:1000].split("\n", 2)
    if lines[0].rstrip() == "---" and len(lines) > 1 and _key(lines[1]) and "\n---" not in text and "\n..." not in text:
        yield Finding(source, 1, "the front matter is not closed with ---", "front-matter")


def _unpaired(source: str, page: PageText) -> Iterator[Finding]:
    body, first = page.body, page.body_line
    fence = unclosed_fence(body)
    if fence is not None and _reaches_end(body, fence):
        yield Finding(source, first + body.count("\n", 0, fence), "the code is not closed", "unclosed-block")
    if "{%" not in body and "<" not in body:
        return
    lines = text_lines(body)
    unpaired = [tag for tag in unpaired_tags(lines) if _needs_pair(tag)]
    code = {
        line
        for start, end in (code_ranges(body) if unpaired else ())
        for line in range(body.count("\n", 0, start), body.count("\n", 0, end) + 1)
    }
    for tag in unpaired:
        if tag.line in code:
            continue
        is_html = tag.name in HTML_NAMES
        opening = f"<{tag.name}>" if is_html else f"{{% {tag.name} %}}"
        ending = f"</{tag.name}>" if is_html else f"{{% end{tag.name} %}}"
        column = max(0, lines[tag.line].rfind("{%" if tag.is_end else opening[:2])) + 1
        if tag.is_end:
            message, rule = f"{ending} closes nothing: {opening} is missing", "unopened-block"
        else:
            message, rule = f"{opening} is not closed: {ending} is missing", "unclosed-block"
        yield Finding(source, first + tag.line, message, rule, column)


def _reaches_end(body: str, fence: int) -> bool:
    """Return whether the code of an unclosed fence includes the rest of the page.

    Otherwise the list item or quotation around the fence ends the code. `fence` is the offset of the fence.
    """
    first = body.count("\n", 0, fence)
    code = (token.map for token in parse(body, {}) if token.type == "fence" and token.map and token.map[0] == first)
    return any(not "".join(body.split("\n")[end:]).strip() for _, end in code)


def _needs_pair(tag: UnpairedTag) -> bool:
    """Return whether a tag that has no counterpart is a mistake.

    An end tag of HTML or of a condition is not: its start tag may be within a line.
    """
    if tag.name in HTML_NAMES:
        return not tag.is_end
    known = BLOCK_TAGS.get(OLD_NAMES.get(tag.name, tag.name))
    return known is not None and tag.name != "if" and (tag.is_end or known.content == "blocks")


def _anchors(folder: Folder) -> Iterator[Finding]:
    known: dict[str, PageAnchors] = {}

    for link in folder.anchored:
        if link.page not in known:
            known[link.page] = _anchors_of(folder, link.page)
        anchors = known[link.page]
        if anchors.is_complete and link.anchor not in anchors.lines:
            yield _with_anchor(link, anchors.lines)


def _anchors_of(folder: Folder, source: str) -> PageAnchors:
    page = folder.texts[source]
    if size_problem(page.body):
        return PageAnchors(is_complete=False)

    def included(target: str) -> str | None:
        destination = folder.places.resolve(target, source)
        return folder.texts[destination.id].body if destination.kind == "snippet" else None

    return page_anchors(page.body, included=included)


def _with_anchor(link: AnchoredLink, anchors: Iterable[str]) -> Finding:
    """Return the finding of a link to a missing anchor.

    It has a fix if exactly one anchor of the page differs from the missing anchor only in signs and case.
    """
    name = _bare(link.anchor)
    similar = [anchor for anchor in anchors if _bare(anchor) == name]
    if not name or len(similar) != 1:
        return link.finding
    return link.finding._replace(fix=Fix(link.fragment, encode_fragment(similar[0])))


def _bare(anchor: str) -> str:
    """Return only the letters and digits of an anchor, in lower case, to compare anchors of different programs."""
    return _prefix.sub("", _not_name.sub("", anchor.lower()))
