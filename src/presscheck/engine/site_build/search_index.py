"""The search index of a static site, which the script of the site downloads at the first search.

The list of pages is one file. If the texts are larger than a megabyte, each section of the site has files of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.markdown.page_sections import page_sections, section_anchors

MAX_PART = 1_000_000
"""Maximum size of a file with texts, in bytes. Only a file with a single page may be larger."""
MAX_TOTAL = 20_000_000
"""Maximum size of all texts in bytes. Pages beyond it can be found only by their titles and headings."""
MAX_PAGE = 100_000
"""Maximum number of characters of a page."""


class IndexedPage(NamedTuple):
    """A page that readers can find.

    Attributes:
        url: the URL from the top of the site.
        section: the titles of the page's section and space.
        above: the titles of the page's ancestors.
        updated: the time of the last update, in the format of the API.
        markdown: the text without title and description.
    """

    title: str
    url: str
    description: str
    section: str
    above: tuple[str, ...]
    updated: str
    markdown: str


def index_files(pages: Iterable[IndexedPage]) -> dict[str, str]:
    """Return the files of the index by name: `pages.json`, and `texts-0.json` and so on."""
    entries: list[list[object]] = []
    texts: list[tuple[str, str]] = []
    total = 0
    for page in pages:
        text = _as_json([len(entries), _sections(page.markdown, is_whole=total < MAX_TOTAL)])
        total += len(text.encode())
        texts.append((page.section, text))
        entries.append([page.title, page.url, page.description, [page.section, *page.above], page.updated])
    parts = _parts(texts) if total > MAX_PART else [[text for _, text in texts]]
    names = [f"texts-{number}.json" for number in range(len(parts))]
    files = {name: f"[{','.join(part)}]\n" for name, part in zip(names, parts, strict=True)}
    return {"pages.json": _as_json({"pages": entries, "texts": names}) + "\n", **files}


def _parts(texts: list[tuple[str, str]]) -> list[list[str]]:
    """Divide the texts, each given with its section, into parts of limited size. No part has texts of two sections."""
    parts: list[list[str]] = []
    for _, group in groupby(texts, lambda pair: pair[0]):
        size = MAX_PART
        for _, text in group:
            size += len(text.encode())
            if size > MAX_PART:
                parts.append([])
                size = len(text.encode())
            parts[-1].append(text)
    return parts


def _sections(markdown: str, *, is_whole: bool) -> list[list[str]]:
    sections = page_sections(markdown)
    anchors = section_anchors(sections)
    room = MAX_PAGE if is_whole else 0
    rows: list[list[str]] = []
    for section, anchor in zip(sections, anchors, strict=True):
        text = with_emoji(section.text[:room])
        room -= len(text)
        rows.append([with_emoji(section.title), anchor, text])
    return rows


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
