"""Conversion of HTML in a separate process: hostile websites do not affect the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.bait import Bait

from presscheck.service import html_conversion
from presscheck.service.bounded_process import run_bounded
from presscheck.service.html_conversion import MOST_BYTES, MOST_LINKS, MOST_SECONDS, NotConverted, convert_html
from presscheck.service.jobs.web_crawler import CrawledPage

URL = "https://example.org/docs/"
TOO_LONG = f"its conversion takes more than {MOST_SECONDS} seconds"
HUGE = {
    "line breaks": (b"<br>" * 1_000_000, TOO_LONG),
    "open elements": (b"<b>" * 10_000, "the elements of the page are nested too deep"),
}
"""Pages, each with the reason why it is not converted."""


def test_a_page_is_converted_with_its_title_and_links() -> None:
    page = convert_html(b'<title>T</title><main><h1>A  b</h1><p><a href="c#d">x</a> <a href="http://[">y</a>', URL)
    assert (page.title, page.links) == ("A b", [f"{URL}c"])
    assert page.markdown == f"[x]({URL}c#d) [y](http://[)\n"


@pytest.mark.parametrize(("encoding", "text"), [("utf-8", "Öl"), ("utf-16", "Öl"), ("shift_jis", "灯油")])
def test_a_page_is_read_in_its_encoding(encoding: str, text: str) -> None:
    html = f'<meta charset="{encoding}"><main><h1>{text}</h1><p>{text} <a href="//пример.example/">x</a></main>'
    page = convert_html(html.encode(encoding), URL)
    assert (page.title, page.markdown) == (text, f"{text} [x](https://пример.example/)\n")


def test_only_links_to_imported_pages_are_rewritten() -> None:
    code = f"`[x]({URL}a)`"
    page = CrawledPage(URL, "T", "t", f"[{URL}a]({URL}a#b) {code} {URL}a [x](https://example.org/c)\n")
    rewritten = page.markdown({f"{URL}a": "/docs/a"})
    assert rewritten == f"[{URL}a](/docs/a#b) {code} {URL}a [x](https://example.org/c)\n"


def test_size_and_links_of_a_page_are_limited() -> None:
    with pytest.raises(NotConverted, match="more than 4 MB of HTML"):
        convert_html(b"x" * (MOST_BYTES + 1), URL)
    links = b"".join(b'<a href="%d">x</a>' % number for number in range(MOST_LINKS + 5))
    assert len(convert_html(links, URL).links) == MOST_LINKS


@pytest.mark.attack("forbidden outgoing addresses")
def test_kernel_denies_files_and_network_to_a_conversion(
    bait: Bait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = httpx.URL(bait.url)
    (tmp_path / "unchecked.py").write_text(f"""
import socket
from presscheck.service import html_conversion as program

def read_page(html, url):
    reached = []
    for attempt in (lambda: open({str(bait.file)!r}), lambda: socket.create_connection(("{url.host}", {url.port}))):
        try:
            attempt()
        except OSError as error:
            reached.append(type(error).__name__)
    return program.ConvertedPage("", " ".join(reached), [])

program.read_page = read_page
program.main()
""")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    converted = json.loads(run_bounded("unchecked", URL, stdin=b"<p>x", seconds=30))
    assert converted["markdown"] in ("PermissionError PermissionError", "OSError OSError")


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
def test_conversion_of_huge_html_ends_within_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hasty.py").write_text(
        "from presscheck.service import html_conversion as program\nprogram.MOST_SECONDS = 1\nprogram.main()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def run_hastily(_module: str, *words: str, **how: Any) -> bytes:
        return run_bounded("hasty", *words, **how)

    for kind, (html, reason) in HUGE.items():
        with monkeypatch.context() as patched:
            if reason == TOO_LONG:
                patched.setattr(html_conversion, "run_bounded", run_hastily)
            with pytest.raises(NotConverted) as raised:
                convert_html(html, URL)
        assert str(raised.value) == reason, kind
