"""The manual as a space of the local service, and on a site that the service publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest
from bs4 import BeautifulSoup
from tests.docs.manual_pages import PAGES, headings_of
from tests.manual import DOCS, TABLES
from tests.service.server import line, serving

from presscheck.documents.git_format.repository import read_repository


class Published(NamedTuple):
    """A client for the API of a service, the space with the manual, and the URL of the site."""

    http: httpx.Client
    space: dict[str, str]
    site: str


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """Run `presscheck serve --docs docs` and publish a site."""
    with serving(tmp_path_factory.mktemp("data"), "--port", "0", "--docs", str(DOCS)) as process:
        base_url, token = line(process), line(process).removeprefix("token: ")
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{base_url}/v1", headers=headers, timeout=60) as http:
            [organization] = http.get("/orgs").json()["items"]
            [space] = http.get(f"/orgs/{organization['id']}/spaces").json()["items"]
            sites = f"/orgs/{organization['id']}/sites"
            made = http.post(sites, json={"title": "Manual", "spaces": [space["id"]]})
            assert made.status_code == 201, made.text
            answer = http.post(f"{sites}/{made.json()['id']}/publish")
            assert answer.status_code == 200, answer.text
            yield Published(http, space, answer.json()["urls"]["published"].rstrip("/"))


def test_reading_the_manual_reports_no_findings() -> None:
    assert [str(finding) for finding in read_repository(DOCS).findings] == []


def test_no_link_of_the_space_is_broken(published: Published) -> None:
    http, space, _ = published
    links = f"/spaces/{space['id']}/links"
    assert http.get(links, params={"status": "broken"}).json()["items"] == []
    assert len(http.get(links, params={"limit": 1000}).json()["items"]) > 50


def test_published_site_shows_the_pages(published: Published) -> None:
    http, _, site = published
    for page in PAGES[::25]:
        path = page.relative_to(DOCS)
        is_first = path.as_posix() == "README.md"
        address = (
            "" if is_first else (path.parent if path.name == "README.md" else path.with_suffix("")).as_posix().lower()
        )
        answer = http.get(f"{site}/{address}", headers={"authorization": ""}, follow_redirects=True)
        assert answer.status_code == 200, (page, answer.status_code)
        # parse only <main>: the menu is the same on every page and ten times as long
        _, begins, rest = answer.text.partition("<main")
        main = BeautifulSoup(f"{begins}{rest.partition('</main>')[0]}</main>", "html.parser").find("main")
        assert main
        shown = [heading.get_text().removesuffix("#").strip() for heading in main.find_all(["h1", "h2", "h3", "h4"])]
        assert shown == headings_of(page), page
        assert not [name for name in TABLES if f"{name}: begin" in main.get_text()]
        assert main.find("table") or "|---" not in page.read_text("utf-8")
