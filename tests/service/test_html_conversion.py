"""Conversion of HTML in a process of its own: nothing that a website has takes the service with it."""

from __future__ import annotations

import time

import pytest

from presscheck.service.html_conversion import MOST_BYTES, MOST_LINKS, MOST_SECONDS, NotConverted, convert_html
from presscheck.service.jobs.web_crawler import Found

URL = "https://example.org/docs/"
HUGE = {
    "line breaks": b"<br>" * 1_000_000,
    "a numbered list": b"<ol>" + b"<li>x</li>" * 100_000,
    "cells that span columns": b"<table><tr>" + b"<td colspan=1000>x</td>" * 100_000,
    "open elements": b"<b>" * 1_000_000,
}


def test_a_page_is_converted_with_its_title_and_links() -> None:
    page = convert_html(b'<title>T</title><main><h1>A  b</h1><p><a href="c#d">x</a> <a href="http://[">y</a>', URL)
    assert (page.title, page.links) == ("A b", [f"{URL}c"])
    assert page.markdown == f"[x]({URL}c#d) [y](http://[)\n"


def test_only_links_to_imported_pages_are_rewritten() -> None:
    code = f"`[x]({URL}a)`"
    page = Found(URL, "T", "t", f"[{URL}a]({URL}a#b) {code} {URL}a [x](https://example.org/c)\n")
    rewritten = page.markdown({f"{URL}a": "/docs/a"})
    assert rewritten == f"[{URL}a](/docs/a#b) {code} {URL}a [x](https://example.org/c)\n"


def test_a_page_has_a_largest_size_and_a_number_of_links() -> None:
    with pytest.raises(NotConverted, match="more than 4 MB of HTML"):
        convert_html(b"x" * (MOST_BYTES + 1), URL)
    links = b"".join(b'<a href="%d">x</a>' % number for number in range(MOST_LINKS + 5))
    assert len(convert_html(links, URL).links) == MOST_LINKS


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
@pytest.mark.parametrize("kind", HUGE)
def test_huge_html_ends_within_its_limits(kind: str) -> None:
    begun = time.monotonic()
    with pytest.raises(NotConverted, match=r"takes more than|too long|too deep"):
        convert_html(HUGE[kind], URL)
    assert time.monotonic() - begun < 2 * MOST_SECONDS + 5
