"""Search in texts of many kinds, and the excerpts in its results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from presscheck.documents.markdown.search_terms import index_terms
from presscheck.service.content.relevance import marked, passages, terms_of
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.content.search import WHOLE, as_results, find, search, searched_pages
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


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('search') / 'd.sqlite'}")
    yield database
    database.close()


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A session whose writes are rolled back after the test."""
    with database.writing() as session:
        yield session
        session.rollback()


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


def test_reusable_content_is_found_with_the_pages_that_include_it(context: Context, session: Session) -> None:
    texts = {"Lamps": 'A lamp.\n\n{% include "/~/reusable/safety" %}\n', "Stoves": "Heat.\n"}
    pages = [new_page(title, slug=title.lower(), document=add_document(session, text)) for title, text in texts.items()]
    snippet = {"id": "safety", "title": "Safety", "document": add_document(session, "## Flames\n\nTrim the wick.\n")}
    revision = add_revision(session, "s", pages, created_at=NOW, created_by="u", reusable_contents=[snippet])
    row = SpaceRow(id="s", organization_id="o", title="S", revision_id=revision, created_at=NOW, updated_at=NOW)
    session.add(row)
    matches, terms = search(context, [row], "trim wick lamp")
    [hit] = matches["s"]
    assert hit.page["title"] == "Lamps"
    assert next((passage.title, passage.text) for passage in passages(terms, hit.text)) == ("Flames", "Trim the wick.")


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
    assert sorted(titles_for(context, space, query)) == sorted(titles)


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


def titles_for(context: Context, space: SpaceRow, query: str) -> list[str]:
    matches, _ = search(context, [space], query)
    return [hit.page["title"] for hit in matches.get(space.id, [])]


def test_matches_in_titles_come_first(context: Context, space: SpaceRow) -> None:
    assert titles_for(context, space, "wax") == ["Lamps"]
    assert titles_for(context, space, "l")[:2] == ["Lamps", "Long"]


def test_matching_sections_have_an_excerpt(context: Context, space: SpaceRow) -> None:
    matches, terms = search(context, [space], "oil")
    page = as_results(context, matches["s"], terms)[0]
    assert (page.path, [ancestor.title for ancestor in page.ancestors or ()]) == ("group/lamps", ["Group"])
    assert [(section.title, section.path, section.body) for section in page.sections or ()] == [
        ("Oil", "group/lamps#oil", "A lamp burns OIL. ## not a heading oil")
    ]
    assert page.urls.app == f"http://here/app/spaces/s/pages/{page.id}"


def test_long_excerpts_are_cut(context: Context, space: SpaceRow) -> None:
    matches, terms = search(context, [space], "needle")
    page = as_results(context, matches["s"], terms)[0]
    assert page.sections
    body = page.sections[0].body
    assert "needle" in body
    assert body.startswith("…") and body.endswith("…")
    assert len(body) < 200


def planted(session: Session, space_id: str, texts: dict[str, str], **details: str) -> SpaceRow:
    pages = [new_page(title, slug="", document=add_document(session, text), **details) for title, text in texts.items()]
    for number, page in enumerate(pages):
        page["slug"] = f"page-{number}"
    revision = add_revision(session, space_id, pages, created_at=NOW, created_by="u")
    row = SpaceRow(
        id=space_id, organization_id="o", title=space_id, revision_id=revision, created_at=NOW, updated_at=NOW
    )
    session.add(row)
    return row


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("wick", ["Wick", "Heading", "Often", "Once"]),
        ("how do I trim the wick", ["Wick", "Heading", "Often", "Once"]),
        ("back up", ["Back up"]),
        ('"oil lamp"', ["Phrase"]),
        ("lamp oil", ["Phrase", "Apart"]),
        ("phlogiston", []),
    ],
)
def test_best_matches_come_first(context: Context, query: str, titles: list[str]) -> None:
    text = {
        "Once": "Trim the wick. " + "Other words. " * 40,
        "Often": "Trim the wick, wick, wick and wick. " + "Other words. " * 40,
        "Heading": "Trim.\n\n## The wick\n\n" + "Other words. " * 40,
        "Wick": "Trim it.",
        "Back up": "Copy it away.",
        "Apart": "A lamp stands here, and over there is a can with oil.",
        "Phrase": "An oil lamp. Lamp oil.",
    }
    assert titles_for(context, planted(context.session, "w", text), query) == titles


def test_newer_pages_come_first_among_equal_matches(context: Context) -> None:
    old = planted(context.session, "a", {"Old": "A wick."}, updatedAt="2020-01-01T00:00:00.000Z")
    new = planted(context.session, "b", {"New": "A wick "}, updatedAt=NOW)
    found = find(context, searched_pages(context, [old, new]), "wick", WHOLE)
    assert [hit.page["title"] for hit in found.hits] == ["New", "Old"]


@pytest.mark.parametrize("query", ["lantren", "lanten", "lanxern", "lanternn"])
def test_unknown_word_matches_words_that_differ_in_one_letter(context: Context, query: str) -> None:
    space = planted(context.session, "w", {"Light": "A lantern.", "Dark": "Nothing."})
    found = find(context, searched_pages(context, [space]), query, WHOLE)
    assert [hit.page["title"] for hit in found.hits] == ["Light"] and not found.is_exact
    assert marked("A lantern.", found.terms) == [("A ", False), ("lantern", True), (".", False)]


def test_pages_with_most_words_are_found_if_none_has_all(context: Context) -> None:
    space = planted(context.session, "w", {"A": "One two.", "B": "One.", "C": "Two three one."})
    found = find(context, searched_pages(context, [space]), "one two three four", WHOLE)
    assert [hit.page["title"] for hit in found.hits] == ["C"] and not found.is_exact


def test_markup_and_urls_are_not_searched(context: Context) -> None:
    text = '{% hint style="info" %}\n[Words](https://example.org/address)<br>**str**ong\n{% endhint %}\n'
    space = planted(context.session, "w", {"A": text})
    for query, count in (("words", 1), ("address", 0), ("style", 0), ("endhint", 0), ("br", 0)):
        assert len(titles_for(context, space, query)) == count, query


@pytest.mark.slow
def test_hostile_queries_take_little_time(context: Context) -> None:
    words = [f"word{number}" for number in range(400)]
    texts = {f"Page {number}": " ".join([*words, "a " * 3000, "`" * 500, f"n{number}"]) for number in range(20)}
    space = planted(context.session, "w", texts)
    pages = searched_pages(context, [space])
    queries = (
        " ".join(words)[:512],
        " ".join(word[:-1] + "x" for word in words)[:512],
        "a " * 256,
        '"' * 512,
        '"a a a a a a a a a a a b"',
        "(a+)+$" * 80,
        "\x00\ud800",
        "x" * 512,
        "日" * 512,
    )
    for query in queries:
        start = time.thread_time()
        for hit in find(context, pages, query, WHOLE).hits[:20]:
            passages(terms_of(query), hit.text)
        assert time.thread_time() - start < 0.6, query
