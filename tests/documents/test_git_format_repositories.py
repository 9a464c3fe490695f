"""Repositories in the Git format: all pages, links, images and problems are read in limited time."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from tests.generated_docs.documentation import MANUAL, Documentation
from tests.generated_docs.repositories import Row

from presscheck.documents.git_format.repository import Repository, SourcePage, read_repository
from presscheck.documents.markdown.links import LinkResolver, find_links

FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.documentation


@pytest.fixture(scope="module")
def repository(documentation: Documentation) -> Repository:
    return read_repository(documentation.directory)


def texts_of(documentation: Documentation) -> set[str]:
    """Return the paths of all pages, without snippets."""
    return {page.path for page in documentation.pages if not page.path.startswith(".gitbook/")}


def rows_by_indentation(directory: Path) -> list[Row]:
    """Return the rows of a table of contents, read line by line."""
    rows: list[Row] = []
    lines = (directory / "SUMMARY.md").read_text("utf-8").splitlines()
    step = min((len(indent[0]) for line in lines if (indent := re.match(r" +(?=[*-] )", line))), default=2)
    for line in lines:
        if group := re.match(r"##+ +(.*)", line):
            rows.append(Row(-1, re.sub(r" *<.*>", "", group[1]), ""))
        elif item := re.match(r"( *)[*-] +\[(.*)\]\((.*?)\)", line):
            rows.append(Row(len(item[1]) // step, re.sub(r"\\(.)", r"\1", item[2]), item[3]))
    return rows


def rows_of(pages: tuple[SourcePage, ...], unlisted: set[str], depth: int = 0) -> list[Row]:
    """Return the rows of a table of contents for these pages."""
    rows: list[Row] = []
    for page in pages:
        if page.source and page.source in unlisted:
            continue
        is_group = page.kind == "group"
        title = page.link_title or page.title
        rows.append(Row(-1 if is_group else depth, title, "" if is_group else page.source or page.target))
        rows += rows_of(page.pages, unlisted, 0 if is_group else depth + 1)
    return rows


@pytest.mark.documentation("handbook", "varied", "manual")
def test_page_tree_follows_the_summary(documentation: Documentation, repository: Repository) -> None:
    unlisted = {finding.path for finding in repository.findings if "is not listed" in finding.message}
    assert {page.source for page in repository.walk() if page.source in unlisted and page.details["hidden"]} == unlisted
    rows = rows_of(repository.pages, unlisted)
    if documentation.generated:
        assert rows == [*documentation.generated.table]
        assert unlisted == documentation.generated.unlisted
    else:
        assert rows == rows_by_indentation(documentation.directory)


@pytest.mark.documentation("handbook", "varied", "manual")
def test_every_text_is_a_page_once(documentation: Documentation, repository: Repository) -> None:
    assert sorted(page.source for page in repository.walk() if page.source) == sorted(texts_of(documentation))
    snippets = {page.path for page in documentation.pages} - texts_of(documentation)
    assert sorted(snippet.source for snippet in repository.snippets) == sorted(snippets)


@pytest.mark.documentation("handbook", "varied", "manual")
def test_titles_and_bodies_match_the_files(documentation: Documentation, repository: Repository) -> None:
    for page in repository.walk():
        if page.source:
            text = (documentation.directory / page.source).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
            assert text.endswith(page.body)
            cut = text[: len(text) - len(page.body)]
            heading = re.search(r"^# +(.+)$", FRONT_MATTER.sub("", cut), re.MULTILINE)
            plain = re.sub(r"\\(.)", r"\1", re.sub(r" *<a .*?</a>", "", heading[1])).strip("#* ") if heading else None
            assert plain is None or page.title == plain


@pytest.mark.documentation("handbook", "varied", "tree")
def test_titles_and_bodies_match_the_generator(documentation: Documentation, repository: Repository) -> None:
    if not documentation.generated:
        return
    pages = {page.source: page for page in repository.walk()}
    for generated in documentation.generated.pages:
        page = pages[generated.path]
        assert (page.title, page.body) == (generated.title, generated.body), generated.path
    snippets = {snippet.source: snippet for snippet in repository.snippets}
    for generated in documentation.generated.snippets:
        snippet = snippets[generated.path]
        assert (snippet.title, snippet.body) == (generated.title, generated.body), generated.path


def relative_targets(text: str) -> set[str]:
    """Return the relative link targets that a complete Markdown parser finds, including targets in HTML."""
    targets: set[str] = set()
    for token in MarkdownIt("commonmark").parse(text):
        for child in token.children or ():
            targets.add(str(child.attrGet("href") or child.attrGet("src") or ""))
        if token.type in ("html_block", "inline"):
            targets.update(re.findall(r'(?:href|src)="([^"]+)"', token.content))
    return {target for target in targets if target and not re.match(r"[a-z]+:|//|#", target)}


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_every_link_to_a_file_is_followed(documentation: Documentation, repository: Repository) -> None:
    directory = documentation.directory
    places = LinkResolver(
        {page.source: page.source for page in repository.walk() if page.source},
        {file.source: file.source for file in repository.files},
    )
    followed = 0
    for page in repository.walk():
        if not page.source:
            continue
        folder = (directory / page.source).parent
        seen = {link.target for link in find_links(page.body)}
        for target in relative_targets(page.body):
            path = (folder / unquote(target.partition("#")[0])).resolve()
            is_page = path.is_dir() and any(entry.name.casefold() == "readme.md" for entry in path.iterdir())
            if path.is_file() or is_page:
                assert target in seen or unquote(target) in {unquote(link) for link in seen}, (page.source, target)
                destination = places.resolve(target, page.source)
                assert destination.kind in ("page", "file"), (page.source, target)
                expected = directory / destination.id
                assert expected == path or expected.parent == path, (page.source, target)
                followed += 1
    assert followed > (100 if documentation.generated else 50 if documentation.name == MANUAL else 500)


def test_broken_links_are_reported_with_their_lines(documentation: Documentation, repository: Repository) -> None:
    broken = [finding for finding in repository.findings if finding.message.endswith("target not found")]
    assert broken
    for finding in broken:
        text = (documentation.directory / finding.path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        line = text.split("\n")[finding.line - 1]
        target = finding.message.removesuffix(": target not found")
        assert target.replace("_", "") in line.replace("\\", "").replace("_", ""), finding


def test_broken_links_match_the_generator(documentation: Documentation, repository: Repository) -> None:
    if documentation.generated:
        reported = {
            (finding.path, finding.line, finding.message.removesuffix(": target not found"))
            for finding in repository.findings
            if finding.message.endswith("target not found")
        }
        assert reported == documentation.generated.broken()
        expected = ("target not found", "is not listed", "is listed again", "does not exist")
        assert [
            finding for finding in repository.findings if not any(part in finding.message for part in expected)
        ] == []


def test_pictures_have_dimensions(repository: Repository) -> None:
    assert repository.files
    assert all(file.dimensions for file in repository.files if file.content_type in ("image/png", "image/jpeg"))


def test_redirects_are_read(documentation: Documentation, repository: Repository) -> None:
    if documentation.generated:
        destinations = {former: destination.id for former, destination in repository.redirects.items()}
        assert destinations == documentation.generated.redirects


@pytest.mark.documentation("handbook", "varied", "tree", "manual")
def test_reading_takes_less_than_two_seconds(documentation: Documentation) -> None:
    began = time.thread_time()
    read_repository(documentation.directory)
    assert time.thread_time() - began < 2
