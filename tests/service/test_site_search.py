"""Search of published sites: result pages, hidden content, and the quality of the ranking."""

from __future__ import annotations

import re
import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from html import unescape
from pathlib import Path

import httpx
import jwt
import pytest
from tests.generated_docs.documentation import Documentation
from tests.service.factories import World, insert, plant_world
from tests.service.questions import questions_of, reciprocal_rank
from tests.service.web_pages import changed, published, signing, write

from presscheck.api.site_structure import AddSiteSpace
from presscheck.api.sites import AdaptiveContentChange, UpdateSite
from presscheck.api.spaces import CreateSpace
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.revisions import add_document, add_revision, document_texts, new_page
from presscheck.service.content.search import WHOLE, find, searched_pages
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.git_import.importer import import_repository
from presscheck.service.http.operations import Caller, Context
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.spaces import SpaceRow


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


async def titles_at(browser: httpx.AsyncClient, url: str) -> list[str]:
    """Return the titles of the results on a page."""
    page = (await browser.get(url)).text
    return [unescape(re.sub("<[^>]*>", "", title)) for title in re.findall(r"<h2><a [^>]*>(.*?)</a></h2>", page)]


async def test_matches_are_marked_and_hostile_words_are_escaped(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    await write(world, "The <b>lamp</b> `<script>alert(1)</script>` & the lamps.\n")
    page = (await browser.get(address, params={"q": "lamp alert"})).text
    assert (
        "The <mark>lamp</mark> &lt;script&gt;<mark>alert</mark>(1)&lt;/script&gt; &amp; the <mark>lamps</mark>." in page
    )
    assert 'class="where"' not in page, "the only space needs no name"
    for query in ("<script>", '"><script>', "<mark>lamp", "{{ lamp }}", "lamp</mark>"):
        assert (await browser.get(address, params={"q": query})).text.lower().count("<script") == 1, "of the site"


async def test_result_in_a_tab_links_to_the_tab(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    tabs = "".join(f'{{% tab title="{name}" %}}\nUse {name} paraffin.\n{{% endtab %}}\n' for name in ("One", "Two"))
    await write(world, f"{{% tabs %}}\n{tabs}{{% endtabs %}}\n")
    page = (await browser.get(address, params={"q": "two paraffin"})).text
    assert re.search(r'<a href="[^"]*#two"><mark>Two</mark></a> Use <mark>Two</mark> <mark>paraffin</mark>', page)


async def test_results_have_counts_pages_and_filters(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Other"))
    await world.admin.send(AddSiteSpace(**at, space_id=other.id))
    lamps = [insert(f"Lamp {number}", "A lantern.\n") for number in range(24)]
    await changed(world, *lamps, insert("Unlisted", "A lantern.\n", hidden=True))
    world.space = other.id
    await changed(world, insert("The lantern", "Light.\n"))
    found = await browser.get(address, params={"q": "lantern"})
    assert found.headers["x-robots-tag"] == "noindex"
    page = found.text
    assert "25 results for “lantern”, 1 to 20" in page
    assert re.findall(r"<small>(\d+)</small>", page) == ["25", "1", "24"]
    first = await titles_at(browser, f"{address}?q=lantern")
    link = re.search(r'<a rel="next" href="([^"]*)">More results', page)
    second = await titles_at(browser, f"{address}{unescape(link[1])}") if link else []
    assert (len(first), len({*first, *second}), first[0]) == (20, 25, "The lantern")
    filters = re.findall(r'<a href="([^"]*&amp;in=[^"]*)"', page)
    by_space = [await titles_at(browser, f"{address}{unescape(filtered)}") for filtered in filters]
    assert sorted(map(len, by_space)) == [1, 20]
    for number in ("0", "-1", "x", "²", "99999999", "3"):
        assert await titles_at(browser, f"{address}?q=lantern&page={number}")
    typing = f"{address}?q=lantern&typing"
    assert await titles_at(browser, typing) == first[:8]
    shown = (await browser.get(typing)).text
    assert "25 results for “lantern”, 1 to 8" in shown
    assert ">Start</a>" not in shown and "A <mark>lantern" not in shown, "the list shows neither"


@pytest.mark.attack("conditional content")
async def test_results_and_corrections_do_not_reveal_hidden_words(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="visitor-auth")
    hidden = '{% if visitor.claims.plan == "pro" %}\nGolden handles.\n{% endif %}\n'
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    key = await signing(world, at)
    await browser.get(address, params={"jwt_token": jwt.encode({"plan": "free"}, key, "HS256")})
    pages: dict[str, list[str]] = {}
    for text in (f"Golder lanterns.\n\n{hidden}", "Golder lanterns.\n"):
        await write(world, text)
        for query in ("golden", "goldew", "lanterns golden", "handles", "handlas", "lanterns"):
            page = (await browser.get(address, params={"q": query})).text
            assert "handles" not in page.replace(query, "")
            pages.setdefault(query, []).append(page)
    assert all(with_hidden == without for with_hidden, without in pages.values())
    assert "<mark>lanterns</mark>" in pages["lanterns"][0], "the other words of the page are found"


def plant(world: World, notes: dict[str, str], pages: dict[str, str], keeps: Sequence[str] = ()) -> None:
    """Add a live revision with reusable content.

    Args:
        world: the world with the space.
        notes: texts of reusable content by name.
        pages: texts of pages by name.
        keeps: names of pages that keep their live document.
    """
    with closing(Database(world.database_url)) as database, database.writing.begin() as session:
        space = session.get_one(SpaceRow, world.space)
        live = session.get_one(RevisionRow, space.revision_id)
        kept = {page["title"]: page["documentId"] for page in live.tree if page["title"] in keeps}
        space.revision_id = add_revision(
            session,
            world.space,
            [
                new_page(name, slug=name.lower(), document=kept.get(name) or add_document(session, text))
                for name, text in pages.items()
            ],
            created_at="2026-05-20T09:30:00.000Z",
            created_by=None,
            reusable_contents=[
                {
                    "id": name,
                    "title": name,
                    "document": add_document(session, text),
                    "git": {"oid": "0", "path": f".gitbook/includes/{name}.md"},
                }
                for name, text in notes.items()
            ],
        )


@pytest.mark.engines
async def test_reusable_content_is_found_with_the_pages_that_include_it(
    world: World, browser: httpx.AsyncClient
) -> None:
    address, _ = await published(world)
    notes = {
        "safety": '## Open flames\n\nKeep the wick trimmed.\n\n{% include "inner.md" %}\n',
        "inner": "Beware of draughts.\n",
        "unused": "Nobody reads kerosene.\n",
        "round": '{% include "round.md" %}\nTurnip.\n',
    }
    pages = {
        "Home": "Welcome.\n",
        "Lamps": 'A lamp.\n\n{% include ".gitbook/includes/safety.md" %}\n\n## After\n\nMore.\n',
        "Lists": '- one\n\n  {% include ".gitbook/includes/safety.md" %}\n',
        "Code": '```\n{% include ".gitbook/includes/safety.md" %}\n```\n',
        "Round": '{% include ".gitbook/includes/round.md" %}\n\n{% include "none.md" %}\n',
        "None": '{% include "none.md" %}\n\n{% include "/~/reusable/unused2" %}\n',
    }
    plant(world, notes, pages)
    assert await titles_at(browser, f"{address}?q=wick") == ["Lists", "Lamps"]
    assert await titles_at(browser, f"{address}?q=lamp+draughts") == ["Lamps"], "one word of the page, one of a note"
    assert await titles_at(browser, f"{address}?q=kerosene") == [], "no page includes it"
    assert await titles_at(browser, f"{address}?q=turnip") == ["Round"]
    page = (await browser.get(address, params={"q": "trimmed"})).text
    assert re.search(r'<a href="[^"]*/lamps#open-flames">Open flames</a> Keep the wick <mark>trimmed</mark>', page)
    assert '<h2 id="open-flames">' in (await browser.get(f"{address}lamps")).text
    assert await titles_at(browser, f"{address}?q=darughts") == ["Lists", "Lamps"], "a typo"
    plant(world, notes | {"inner": "Beware of gusts.\n"}, pages, keeps=[*pages])
    assert await titles_at(browser, f"{address}?q=gusts") == ["Lists", "Lamps"]
    assert await titles_at(browser, f"{address}?q=draughts") == []


@pytest.mark.attack("conditional content")
async def test_search_applies_conditions_in_and_around_reusable_content(
    world: World, browser: httpx.AsyncClient
) -> None:
    address, at = await published(world, visibility="visitor-auth")
    hidden = '{% if visitor.claims.plan == "pro" %}\nGolden.\n{% endif %}\n'
    around = '{% if visitor.claims.plan == "pro" %}\n{% include ".gitbook/includes/all.md" %}\n{% endif %}\n'
    ends = '{% if visitor.claims.plan == "pro" %}\n{% include ".gitbook/includes/end.md" %}\nSecret.\n{% endif %}\n'
    notes = {"part": f"Silver.\n\n{hidden}", "all": "Copper.\n", "end": "{% endif %}\nBronze.\n"}
    plant(world, notes, {"Home": f'Iron.\n\n{{% include ".gitbook/includes/part.md" %}}\n\n{around}\n{ends}'})
    key = await signing(world, at)
    await browser.get(address, params={"jwt_token": jwt.encode({"plan": "pro"}, key, "HS256")})
    words = ("silver", "golden", "copper", "bronze", "secret")
    for enabled, expected in ((True, ["silver"]), (False, list(words))):
        await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=enabled)))
        found = [word for word in words if await titles_at(browser, f"{address}?q={word}")]
        assert found == expected


@pytest.mark.slow
@pytest.mark.documentation("handbook", "manual")
def test_page_of_a_question_is_among_the_first_results(documentation: Documentation, tmp_path: Path) -> None:
    world = plant_world(f"sqlite:///{tmp_path / 'd.sqlite'}", "http://127.0.0.1")
    with closing(Database(world.database_url)) as database:
        with database.writing.begin() as session:
            organization = session.get_one(OrganizationRow, world.organization)
            owner = session.get_one(UserRow, world.users["admin"])
            import_repository(session, organization, owner, documentation.directory, store=DiskBlobStore(tmp_path))
        with database.snapshot() as session:
            context = Context(session, Caller("", "", None, None), "http://127.0.0.1", system_clock, tmp_path)
            spaces = session.query(SpaceRow).filter(SpaceRow.id != world.space).all()
            pages = searched_pages(context, spaces)
            texts = document_texts(session, [page.page["documentId"] for page in pages if page.page.get("documentId")])
            questions = questions_of([(page, texts.get(page.page.get("documentId", ""), "")) for page in pages], 40)
            assert questions
            ranks = [
                reciprocal_rank(
                    question,
                    [(hit.place.space_id, hit.page["id"]) for hit in find(context, pages, question.query, WHOLE).hits],
                )
                for question in questions
            ]
    assert statistics.mean(ranks) >= 0.8
