"""The site that `make docs` builds: no warnings, every page, and no resources from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from tests.docs.manual_pages import PAGES
from tests.manual import DOCS, SUMMARY, TABLES
from tests.root import ROOT

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Attributes with the addresses that a browser loads, by element."""
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


class Loaded(HTMLParser):
    """Collects the addresses that a browser loads with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADED:
            self.addresses += [value or "" for name, value in attrs if name == LOADED[tag]]


def build(folder: Path, config: Path = ROOT / "properdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build the site into a folder, as `make docs` does."""
    command = [sys.executable, "-m", "properdocs", "build", "--strict", "--config-file", config, "--site-dir", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(folder)
    output = built.stdout + built.stderr
    assert built.returncode == 0, output
    assert "WARNING" not in output and "not included" not in output, output
    return folder


def page_of(site: Path, page: Path) -> Path:
    """Return the file of the site for a page of the manual."""
    path = page.relative_to(DOCS)
    return site / (path.parent if path.name == "README.md" else path.with_suffix("")) / "index.html"


def test_every_page_is_on_the_site(site: Path) -> None:
    for page in PAGES:
        if page != SUMMARY:
            headings = re.findall(r"<h1\b.*?</h1>", page_of(site, page).read_text("utf-8"), re.DOTALL)
            title = page.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
            assert any(BeautifulSoup(one, "html.parser").find("h1", string=title) for one in headings), page


def test_every_page_is_in_the_navigation(site: Path) -> None:
    html = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")
    menu = html.find(class_="wy-menu")
    assert menu
    targets = {str(link["href"]).partition("#")[0] for link in menu.find_all("a")}
    paths = {page_of(site, page).parent.relative_to(site).as_posix() for page in PAGES if page != SUMMARY}
    assert {target.rstrip("/") or "." for target in targets} == paths


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES) / 2
    for page in pages:
        loaded = Loaded()
        loaded.feed(page.read_text("utf-8"))
        assert loaded.addresses
        assert not [address for address in loaded.addresses if re.match(r"(?:https?:)?//", address)], page
    for sheet in site.rglob("*.css"):
        assert not _IN_STYLE.findall(sheet.read_text("utf-8")), sheet


def test_generated_tables_are_rendered_as_tables(site: Path) -> None:
    for name in TABLES:
        page = next(page for page in PAGES if f"<!-- {name}: begin" in page.read_text("utf-8"))
        html = page_of(site, page).read_text("utf-8")
        made = html.partition(f"<!-- {name}: begin")[2].partition(f"<!-- {name}: end")[0]
        assert "<table>" in made and "|---" not in made, name
        assert "\\|" not in made


@pytest.mark.slow
def test_broken_links_fail_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "SUMMARY.md").write_text("# Pages\n\n* [Home](README.md)\n* [Keys](keys.md)\n")
    (docs / "README.md").write_text("# Home\n\n[gone](gone.md) and [lost](keys.md#lost)\n")
    (docs / "keys.md").write_text("# Keys\n")
    (tmp_path / "properdocs.yml").write_text((ROOT / "properdocs.yml").read_text("utf-8"), "utf-8")
    built = build(tmp_path / "site", tmp_path / "properdocs.yml")
    assert built.returncode == 1
    output = built.stdout + built.stderr
    assert "gone.md" in output and "#lost" in output
