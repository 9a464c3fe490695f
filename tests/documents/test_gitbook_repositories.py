"""Real documentation repositories, where they are at hand: all comes in, as it stands, and fast."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from presscheck.documents.git_format.repository import Repository, SourcePage, read_repository
from presscheck.documents.markdown.links import LinkResolver, find_links

DOCS = Path(__file__).parents[3] / "shared" / "docs"
REPOSITORIES = sorted(path for path in DOCS.iterdir() if path.is_dir()) if DOCS.is_dir() else []

pytestmark = pytest.mark.skipif(not REPOSITORIES, reason=f"no documentation repositories in {DOCS}")


@pytest.fixture(scope="module", params=REPOSITORIES, ids=lambda path: path.name)
def directory(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def repository(directory: Path) -> Repository:
    return read_repository(directory)


def table_of(directory: Path) -> list[tuple[int, str, str]]:
    """Depth, title and target of every line of the table, read by indentation alone."""
    found: list[tuple[int, str, str]] = []
    for line in (directory / "SUMMARY.md").read_text("utf-8").splitlines():
        if group := re.match(r"##+ +(.*)", line):
            found.append((-1, re.sub(r" *<.*>", "", group[1]), ""))
        elif item := re.match(r"( *)[*-] +\[(.*)\]\((.*?)\)", line):
            found.append((len(item[1]) // 2, re.sub(r"\\(.)", r"\1", item[2]), item[3]))
    return found


def tree_of(pages: tuple[SourcePage, ...], depth: int = 0) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    for page in pages:
        if page.details.get("hidden"):
            continue
        is_group = page.kind == "group"
        title = page.link_title or page.title
        found.append((-1 if is_group else depth, title, "" if is_group else page.source or page.target))
        found += tree_of(page.pages, 0 if is_group else depth + 1)
    return found


def test_the_tree_is_that_of_the_table(directory: Path, repository: Repository) -> None:
    assert tree_of(repository.pages) == table_of(directory)


def test_every_text_is_a_page_once(directory: Path, repository: Repository) -> None:
    texts = {str(path.relative_to(directory)) for path in directory.rglob("*.md")} - {"SUMMARY.md"}
    assert sorted(page.source for page in repository.walk() if page.source) == sorted(texts)


def test_titles_and_bodies_are_those_of_the_files(directory: Path, repository: Repository) -> None:
    for page in repository.walk():
        if page.source:
            text = (directory / page.source).read_text("utf-8").replace("\r\n", "\n")
            assert text.endswith(page.body)
            cut = text[: len(text) - len(page.body)]
            heading = re.search(r"^# +(.+)$", re.sub(r"\A---\n.*?\n---\n", "", cut, flags=re.DOTALL), re.MULTILINE)
            plain = re.sub(r"\\(.)", r"\1", re.sub(r" *<a .*?</a>", "", heading[1])).strip("* ") if heading else None
            assert plain is None or page.title == plain


def targets_by_parser(text: str) -> set[str]:
    """Relative targets as a full parser of Markdown sees them, those in HTML included."""
    found: set[str] = set()
    for token in MarkdownIt("commonmark").parse(text):
        for child in token.children or ():
            found.add(str(child.attrGet("href") or child.attrGet("src") or ""))
        if token.type in ("html_block", "inline"):
            found.update(re.findall(r'(?:href|src)="([^"]+)"', token.content))
    return {one for one in found if one and not re.match(r"[a-z]+:|//|#", one)}


def test_every_link_that_holds_on_disk_holds(directory: Path, repository: Repository) -> None:
    places = LinkResolver(
        {page.source: page.source for page in repository.walk() if page.source},
        {file.source: file.source for file in repository.files},
    )
    held = 0
    for page in repository.walk():
        if not page.source:
            continue
        folder = (directory / page.source).parent
        seen = {link.target for link in find_links(page.body)}
        for target in targets_by_parser(page.body):
            path = (folder / unquote(target.partition("#")[0])).resolve()
            is_page = path.is_dir() and any(one.name.casefold() == "readme.md" for one in path.iterdir())
            if path.is_file() or is_page:
                assert target in seen or unquote(target) in {unquote(one) for one in seen}, (page.source, target)
                found = places.resolve(target, page.source)
                assert found.kind in ("page", "file"), (page.source, target)
                expected = directory / found.id
                assert expected == path or expected.parent == path, (page.source, target)
                held += 1
    assert held > 500


def test_what_leads_nowhere_is_told_by_line(directory: Path, repository: Repository) -> None:
    broken = [problem for problem in repository.problems if problem.text.endswith("leads nowhere")]
    assert broken
    for problem in broken:
        line = (directory / problem.file).read_text("utf-8").splitlines()[problem.line - 1]
        target = problem.text.removesuffix(": leads nowhere")
        assert target.replace("_", "") in line.replace("\\", "").replace("_", ""), problem


def test_pictures_have_dimensions(repository: Repository) -> None:
    assert repository.files
    assert all(file.dimensions for file in repository.files if file.content_type in ("image/png", "image/jpeg"))


def test_reading_takes_less_than_two_seconds(directory: Path) -> None:
    began = time.process_time()
    read_repository(directory)
    assert time.process_time() - began < 2
