"""Translations of the labels on published pages."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path

import httpx
from tests.service.factories import World, insert
from tests.service.web_pages import changed, published, write

from presscheck.api.site_settings import GetCustomization, UpdateCustomization
from presscheck.documents.block_tags import HINTS
from presscheck.service.web import translations
from presscheck.service.web.translations import KEYS, translated


def test_all_labels_are_translated_and_all_translations_are_used() -> None:
    templates = Path(translations.__file__).with_name("templates").glob("*.html")
    used = {match for path in templates for match in re.findall(r'"([^"]+)"\|t', path.read_text("utf-8"))}
    chosen = {"System", "Light", "Dark", "Yes", "Partly", "No", "Read this page in {0}", "Go to {0}", "Pages under {0}"}
    labels = {"Link to this heading", "Done", "Not done", *(hint.label for hint in HINTS.values())}
    assert used | chosen | labels == set(KEYS)


def test_regions_use_their_language_and_unknown_languages_english() -> None:
    assert [translated("Search", language) for language in ("de", "pt-BR", "sv", "")] == [
        "Suche",
        "Pesquisar",
        "Search",
        "Search",
    ]
    assert translated("Anything else", "de") == "Anything else"


async def test_labels_of_a_page_are_in_its_language(world: World) -> None:
    address, at = await published(world)
    await write(world, "Text.\n\n## Part\n\n> [!WARNING]\n> Mind the step.\n\n- [ ] it\n")
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    looks["internationalization"] = {"locale": "de"}
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    async with httpx.AsyncClient() as browser:
        page = (await browser.get(address)).text
        assert '<html lang="de"' in page and 'placeholder="Suche"' in page and "<small>Weiter</small>" in page
        assert re.search(r'Zuletzt geändert <time datetime="[^"]+">20\d\d-\d\d-\d\d</time>', page)
        assert "<h1>Seite nicht gefunden</h1>" in (await browser.get(f"{address}none")).text
        assert "Keine Treffer für “zebra”" in (await browser.get(address, params={"q": "zebra"})).text
        assert 'data-copy="Kopieren"' in page and '<nav class="neighbours" aria-label="Vorherige und ' in page
        for label in ("Link zu dieser Überschrift", "Warnung", "Nicht erledigt"):
            assert f'aria-label="{label}"' in page
        await changed(world, insert("Unten", into="guide"))
        found = (await browser.get(address, params={"q": "{0} unten"})).text
        assert "1 Treffer für „{0} unten“</p>" in found and 'aria-label="Seiten unter Guide"' in found
