"""The writer of the Git format: reading what it writes gives the same pages, and unchanged files keep their bytes.

A file that says something else is written anew and loses its form: the order and quotes of front matter and keys that
the platform does not know, underlined titles, Windows line ends and the byte order mark. Groups in the table of
contents are headings of the second level. In the varied repositories, the table of contents is always written anew:
some of its entries name files that do not exist, which become pages without a file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.generated_docs.documentation import Documentation
from tests.generated_docs.repositories import GeneratedRepository, handbook, tree
from tests.table import each_case

from presscheck.documents.git_format.config import RepositoryConfig
from presscheck.documents.git_format.files import git_oid
from presscheck.documents.git_format.models import Cover, Repository, Snippet, SourcePage
from presscheck.documents.git_format.repository import read_repository
from presscheck.documents.git_format.writer import repository_texts, write_page
from presscheck.documents.markdown.links import Destination
from presscheck.documents.pages.front_matter import find_front_matter


def meaning(pages: tuple[SourcePage, ...]) -> tuple[SourcePage, ...]:
    """Return the pages without properties that are not written and without the ids of files, which may differ."""
    return tuple(replace(page, oid="", unknown_keys=(), pages=meaning(page.pages)) for page in pages)


def read_back(directory: Path, repository: Repository, config: RepositoryConfig | None = None) -> Repository:
    for path, text in repository_texts(repository, config).items():
        location = directory / path
        location.parent.mkdir(parents=True, exist_ok=True)
        location.write_bytes(text)
    for file in repository.files:
        location = directory / file.source
        location.parent.mkdir(parents=True, exist_ok=True)
        location.write_bytes(file.read())
    return read_repository(directory)


@each_case("generated", [handbook(1), tree(1, 100)])
def test_plain_repositories_are_written_byte_for_byte(tmp_path: Path, generated: GeneratedRepository) -> None:
    directory = generated.write(tmp_path)
    texts = repository_texts(read_repository(directory))
    written = {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*.md")}
    written["SUMMARY.md"] = written["SUMMARY.md"].replace(b"\n###", b"\n##")
    assert {path: text for path, text in texts.items() if path.endswith(".md")} == written


@pytest.mark.documentation("handbook", "varied", "manual")
def test_written_repository_is_read_as_the_same_pages(tmp_path: Path, documentation: Documentation) -> None:
    repository = read_repository(documentation.directory)
    again = read_back(tmp_path, repository)
    assert meaning(again.pages) == meaning(repository.pages)
    assert [replace(snippet, oid="") for snippet in again.snippets] == [
        replace(snippet, oid="") for snippet in repository.snippets
    ]
    assert again.redirects == repository.redirects


@pytest.mark.documentation("handbook", "varied", "manual")
def test_equivalent_files_keep_their_bytes(documentation: Documentation) -> None:
    former = {
        str(path.relative_to(documentation.directory)): path.read_bytes()
        for path in documentation.directory.rglob("*")
        if path.is_file()
    }
    texts = repository_texts(read_repository(documentation.directory), None, former)
    changed = {path for path, text in texts.items() if text != former.get(path)}
    # entries without a file, and the same page twice
    assert changed - {".gitbook.yaml"} <= ({"SUMMARY.md"} if documentation.name.startswith("varied") else set())


@pytest.mark.documentation("handbook", "manual")
def test_page_is_written_in_the_form_that_it_was_read_from(documentation: Documentation) -> None:
    repository = read_repository(documentation.directory)
    pages = [page for page in repository.walk() if page.source]
    others = [page.source for page in pages if git_oid(write_page(page).encode()) != page.oid]
    # unknown keys in front matter are lost
    unknown = [source for source in others if not _has_unknown_keys(documentation.directory / source)]
    assert unknown == []
    assert len(others) <= 0.06 * len(pages)


def _has_unknown_keys(file: Path) -> bool:
    front = find_front_matter(file.read_text("utf-8-sig"))
    keys = {line.partition(":")[0] for line in front.yaml.splitlines() if line[:1].isalpha()} if front else set[str]()
    return bool(keys - {"description", "icon", "emoji", "hidden", "noIndex", "if", "vars", "cover", "coverY", "layout"})


@settings(max_examples=400)
@given(
    st.text(
        st.characters(codec="utf-8") | st.sampled_from(" :#-'\"\n\\&*!|>\x85\u2028\ufeff😀"), min_size=1, max_size=60
    )
)
def test_description_is_written_as_pyyaml_writes_it(text: str) -> None:
    """libyaml is tested as well: it writes some texts, for example with emoji, in another form."""
    page = SourcePage("page", "Title", "title", source="title.md", details={"description": text})
    expected = yaml.safe_dump({"description": text}, allow_unicode=True, width=1_000_000)
    assert write_page(page).startswith(f"---\n{expected}---\n")


def test_every_detail_of_a_page_is_written(tmp_path: Path) -> None:
    layout = {
        "width": "wide",
        "coverSize": "full",
        "coverMask": "none",
        "cover": True,
        "title": False,
        **dict.fromkeys(
            (
                "description",
                "tableOfContents",
                "outline",
                "pagination",
                "metadata",
                "tags",
                "actions",
                "anchors",
            ),
            True,
        ),
    }
    details = {
        "description": "yes: “no” # 1",
        "icon": "lamp",
        "hidden": False,
        "noIndex": True,
        "condition": "visitor.claims.beta",
        "variables": {"version": "1.0", "count": 3},
        "layout": layout,
    }
    cover = Cover("https://example.org/a b.png", "https://example.org/dark.png", 12.5, 300)
    titles = ("C# \\* back", "snake_case_name", "[a] & <b>", "1. First", "# Hash", 'The "quote" #')
    inner = tuple(
        SourcePage("document", title, f"p-{number}", source=f"guides/p {number}.md", link_title='Say "hi" & \\go')
        for number, title in enumerate(titles)
    )
    inner = tuple(replace(page, slug=page.source[7:-3].replace(" ", "-")) for page in inner)
    pages = (
        SourcePage("document", "Home", "readme", "README.md", body="# Own heading\n", details=details, cover=cover),
        SourcePage("document", "- No file", "no-file"),
        SourcePage("link", "Web & more", target="https://example.org/a?b=(c)&d=e#f"),
        SourcePage("group", "Guides", "other", pages=inner),
        SourcePage("link", "Part", target="guides/p 0.md#part"),
    )
    pages = (*pages[:3], pages[4], pages[3])
    snippets = (Snippet(".gitbook/includes/note.md", "", "note", "---\nRule\n"),)
    redirects = {"old/a b": Destination("page", "guides/p 1.md", "part"), "old/c": Destination("page", "README.md")}
    written = Repository("r", pages, snippets=snippets, redirects=redirects)
    config = RepositoryConfig("docs", "README.md", "toc/LIST.md")
    again = read_back(tmp_path, written, config)
    assert meaning(again.pages) == meaning(pages)
    assert [(snippet.title, snippet.body) for snippet in again.snippets] == [("note", "---\nRule\n")]
    assert again.redirects == redirects


def test_changed_texts_are_written() -> None:
    page = SourcePage("document", "Home", "readme", "README.md", body="Text.\n")
    former = repository_texts(Repository("r", (page,)))
    former["README.md"] = b"Home\r\n====\r\nText.\r\n"
    assert repository_texts(Repository("r", (page,)), None, former) == former
    for other in (
        replace(page, title="House"),
        replace(page, body="Word.\n"),
        replace(page, details={"hidden": False}),
    ):
        repository = Repository("r", (other,))
        assert repository_texts(repository, None, former)["README.md"] == repository_texts(repository)["README.md"]
    moved = Repository("r", (replace(page, source="home.md"),))
    assert repository_texts(moved, None, former)["SUMMARY.md"] != former["SUMMARY.md"]
    redirected = Repository("r", (page,), redirects={"old": Destination("page", "README.md")})
    assert repository_texts(redirected, None, former)[".gitbook.yaml"] != former[".gitbook.yaml"]
