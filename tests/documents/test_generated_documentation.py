"""The generator of documentation: it writes all kinds of blocks, and its output is reproducible."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.generated_docs.documentation import Documentation, Page, check_page, real_repositories, sources
from tests.generated_docs.pieces import Piece, all_pieces, page_text, smallest
from tests.generated_docs.repositories import EVERYTHING, GeneratedRepository, handbook, long_page, tree, varied
from tests.root import ROOT

from presscheck.documents.block_tags import BLOCK_TAGS
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.schema import ALLOWED_CHILDREN, MARKS

INLINES = frozenset(
    ["link", "annotation", "mention", "emoji", "icon", "expression", "inline-math", "inline-image", "button"]
)


@pytest.fixture(scope="module")
def repository() -> GeneratedRepository:
    return varied(1)


def text_of(repository: GeneratedRepository) -> str:
    return "\n".join(page.text for page in (*repository.pages, *repository.snippets))


def digest(repository: GeneratedRepository) -> str:
    found = hashlib.sha256()
    for path, content in repository.contents():
        found.update(path.encode() + b"\0" + content)
    return found.hexdigest()


def types_in(node: dict[str, Any]) -> Iterator[str]:
    if "type" in node:
        yield node["type"]
    for name in ("nodes", "fragments", "leaves", "marks"):
        for inner in node.get(name, ()):
            yield from types_in(inner)


def test_generated_repositories_have_all_tags(repository: GeneratedRepository) -> None:
    text = text_of(repository)
    parts = {name for name in BLOCK_TAGS if name.startswith("swagger-")}
    names = (set(BLOCK_TAGS) - parts - {"details", "div"}) | {"include", "@mermaid/diagram"}  # those two are HTML
    assert {name for name in names if f"{{% {name}" not in text} == set()
    html = ("details", "div", "table", "figure", "ul", "ol", "pre", "picture", "mark", "kbd", "sub", "sup")
    assert [name for name in html if f"<{name}" not in text] == []


def test_generated_repositories_have_all_kinds_of_nodes(repository: GeneratedRepository) -> None:
    types = {kind for page in repository.pages for kind in types_in(markdown_to_nodes(page.body))}
    blocks = {"document", *ALLOWED_CHILDREN, *(kind for kinds in ALLOWED_CHILDREN.values() for kind in kinds)} - {
        "document"
    }
    assert blocks - types == set()
    assert INLINES - types == set()
    assert MARKS - types == set()


def test_generated_repositories_have_all_kinds_of_pieces(repository: GeneratedRepository) -> None:
    names = {piece.name for page in repository.pages for piece in all_pieces(page.pieces)}
    assert set(EVERYTHING) - names == set()


@pytest.mark.slow
def test_generated_repositories_have_all_forms_of_files() -> None:
    pages = [page for seed in (1, 2, 3) for page in varied(seed).pages]
    contents = [page.content for page in pages]
    assert any(b"\r\n" in content for content in contents)
    assert any(content.startswith(b"\xef\xbb\xbf") for content in contents)
    assert any(not content.endswith(b"\n") for content in contents)
    assert any(content.endswith(b"\n\n\n") for content in contents)
    fronts = "\n".join(page.front for page in pages)
    for part in ("\n...\n", "---  \n", "description:", "icon:", "cover:", "hidden: true", "layout:", "if:", "vars:"):
        assert part in fronts, part
    paths = "\n".join(page.path for page in pages)
    assert [part for part in (" ", "%", "(", "&", "ö", "語", "'", "+") if part not in paths] == []
    assert len(page_text(long_page(1))) > 400_000


@pytest.mark.slow
def test_text_is_the_same_in_every_process() -> None:
    script = (
        "from tests.documents.test_generated_documentation import digest, handbook, tree, varied\n"
        "print(digest(handbook(7)), digest(varied(7)), digest(tree(7, 50)))"
    )
    expected = f"{digest(handbook(7))} {digest(varied(7))} {digest(tree(7, 50))}"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == expected
    assert digest(varied(8)) != digest(varied(7))


def test_repository_is_generated_in_a_fifth_of_a_second() -> None:
    times: list[float] = []
    for seed in range(3):
        began = time.thread_time()
        varied(seed)
        times.append(time.thread_time() - began)
    assert min(times) < 0.2


def test_smallest_finds_the_pieces_that_fail_together() -> None:
    def fails(pieces: tuple[Piece, ...]) -> bool:
        text = page_text(pieces)
        return "first" in text and "<details>" in text and "second" in text

    inner = (Piece("paragraph", "other"), Piece("list", "* a\n* the second one\n* b"))
    pieces = (
        *(Piece("paragraph", f"number {number}") for number in range(20)),
        Piece("paragraph", "the first one"),
        Piece("hint", "{% hint %}", (Piece("details", "<details>", inner, "</details>"),), "{% endhint %}"),
        *(Piece("paragraph", f"number {number}") for number in range(20)),
    )
    assert page_text(smallest(pieces, fails)) == "the first one\n\n<details>\n* the second one\n</details>"


def test_failure_names_seed_and_smallest_page(repository: GeneratedRepository, tmp_path: Path) -> None:
    documentation = Documentation("varied-1", repository.write(tmp_path), repository)
    assert len(documentation.pages) == len(repository.pages) + len(repository.snippets)
    pieces = (Piece("paragraph", "A"), Piece("hint", "{% hint %}", (Piece("code", "```\nx\n```"),), "{% endhint %}"))

    def check(markdown: str) -> None:
        assert "```" not in markdown

    with pytest.raises(AssertionError, match=r"varied-1: a\.md fails with: code\n```\n"):
        check_page(documentation, Page("a.md", f"---\n---\n{page_text(pieces)}\n", pieces), check)
    check_page(documentation, Page("a.md", "A\n", pieces[:1]), check)


def test_folder_of_real_repositories_must_hold_some(tmp_path: Path) -> None:
    assert real_repositories(None) == []
    assert {source.directory for source in sources(None)} == {None}
    with pytest.raises(pytest.UsageError, match="there is no directory"):
        real_repositories(str(tmp_path / "gone"))
    with pytest.raises(pytest.UsageError, match="there is no directory"):
        real_repositories("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(pytest.UsageError, match="holds no documentation"):
        real_repositories(str(tmp_path))
    handbook(1, 3).write(tmp_path / "book")
    assert [source.directory for source in sources(str(tmp_path))][-1] == tmp_path / "book"
