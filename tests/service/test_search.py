"""Search in texts of many kinds, and the excerpts in its results."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from presscheck.documents.markdown.search_terms import index_terms
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.content.search import as_results, search
from presscheck.service.db.engine import Database
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.spaces import SpaceRow

NOW = "2026-05-20T09:30:00.000Z"
TEXTS = {
    "Straße": "Ein Weg.",
    "Lamps": "Intro.\n\n## Oil\n\nA lamp burns OIL.\n\n```\n## not a heading oil\n```\n\n## Wax\n\nNone.\n",
    "Über": "ÄPFEL und Öl.",
    "Long": "word " * 100 + "needle " + "word " * 100,
    "100%": "a_b",
    "Tokyo": "これは日本語の文です。",
}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    database = Database(f"sqlite:///{tmp_path / 'd.sqlite'}")
    with database.writing.begin() as session:
        yield session
    database.close()


@pytest.fixture
def context(session: Session, tmp_path: Path) -> Context:
    user = UserRow(id="u", display_name="U", created_at=NOW)
    session.add_all((user, OrganizationRow(id="o", title="O", created_at=NOW)))
    return Context(session, user, "http://here", lambda: datetime(2026, 5, 20, tzinfo=UTC), tmp_path)


@pytest.fixture
def space(session: Session) -> SpaceRow:
    pages = [new_page(title, slug=title.lower(), document=add_document(session, text)) for title, text in TEXTS.items()]
    group = new_page("Group", slug="group", kind="group", pages=pages[1:])
    revision = add_revision(session, "s", [pages[0], group], created_at=NOW, created_by="u")
    row = SpaceRow(id="s", organization_id="o", title="S", revision_id=revision, created_at=NOW, updated_at=NOW)
    session.add(row)
    return row


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("oil", ["Lamps"]),
        ("lamp OIL", ["Lamps"]),
        ("äpfel", ["Über"]),
        ("öl", ["Über"]),
        ("STRASSE", ["Straße"]),
        ("n", ["Lamps", "Long"]),
        ("apfel ol", ["Über"]),
        ("日本語", ["Tokyo"]),
        ("本", ["Tokyo"]),
        ("日語", []),
        ("%", []),
        ("a_b", ["100%"]),
        ("axb", []),
        ("group", []),
    ],
)
def test_search_finds_pages(context: Context, space: SpaceRow, query: str, titles: list[str]) -> None:
    found = search(context, [space], query).get("s", [])
    assert sorted(hit.page["title"] for hit in found) == sorted(titles)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("Lamp, lamp: OIL!", ["lamp", "oil"]),
        ("a_b", ["a", "a_b", "b"]),
        ("__init__ _", ["_", "__init__", "init"]),
        ("É_b", ["b", "e", "e_b"]),
        ("x" * 70 + "_Y", ["x" * 64, "y"]),
        ("é" + "x" * 70, ["e" + "x" * 63]),
        ("“oil”", ["oil"]),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


def test_matches_in_titles_come_first(context: Context, space: SpaceRow) -> None:
    assert [hit.page["title"] for hit in search(context, [space], "wax")["s"]] == ["Lamps"]
    assert [hit.page["title"] for hit in search(context, [space], "l")["s"]][:2] == ["Lamps", "Long"]


def test_matching_sections_have_an_excerpt(context: Context, space: SpaceRow) -> None:
    hit = search(context, [space], "oil")["s"]
    page = as_results(context, hit, "oil")[0]
    assert (page.path, [ancestor.title for ancestor in page.ancestors or ()]) == ("group/lamps", ["Group"])
    assert [(section.title, section.path, section.body) for section in page.sections or ()] == [
        ("Oil", "group/lamps#oil", "A lamp burns OIL. ``` ## not a heading oil ```")
    ]
    assert page.urls.app == f"http://here/app/spaces/s/pages/{page.id}"


def test_long_excerpts_are_cut(context: Context, space: SpaceRow) -> None:
    page = as_results(context, search(context, [space], "needle")["s"], "needle")[0]
    assert page.sections
    body = page.sections[0].body
    assert "needle" in body
    assert body.startswith("…") and body.endswith("…")
    assert len(body) < 200
