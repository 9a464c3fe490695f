"""Completion in the editor: blocks after `/`, people after `@`, pages and files after `[[` and `](`.

Only images are proposed after `![[`, `![…](` and `<img src="`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from posixpath import dirname, relpath, splitext
from typing import Literal

from presscheck.api.content import RevisionFile, RevisionPage
from presscheck.api.users import User
from presscheck.documents.markdown.links import source_path
from presscheck.documents.pages.file_urls import address_in_page
from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.markdown_editor.blocks import BLOCKS
from presscheck.tui.widgets.completion import Opening, Proposal, mention

Kind = Literal["block", "link", "target", "source"]
_OPENINGS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("block", re.compile(r"^[ \t]*/(\w*)$")),
    ("link", re.compile(r"!?\[\[([^\[\]\n]{0,80})$")),
    ("target", re.compile(r"(?:!\[[^\[\]\n]{0,200})?\]\(([^()\s]{0,200})$")),
    ("source", re.compile(r"(?:\{%-?[ \t]*file\b[^{}\n]{0,200}|<img\b[^<>\n]{0,200})\bsrc=\"([^\"\n]{0,200})$")),
)
_TARGETS = ("target", "source")
"""Kinds of completion that replace only the address of a link."""
_PICTURES = ("![", "<img")
"""The start of Markdown that shows an image."""


def opening(before: str) -> Opening | None:
    """Return the completion in progress at the cursor, or None. `before` is the line up to the cursor."""
    for kind, pattern in _OPENINGS:
        match = pattern.search(before[-300:])
        if match:
            at = match.start(1) if kind in _TARGETS else match.start()
            if kind == "block":
                at = match.end() - len(match[1]) - 1
            is_image = match[0].startswith(_PICTURES)
            return Opening(kind, at + max(0, len(before) - 300), match[1] or "", is_image)
    return mention(before)


def block_proposals() -> list[Proposal]:
    """Return proposals for all blocks."""
    return [Proposal(block.label, f"/{block.name}", block.text) for block in BLOCKS]


def people_proposals(people: Iterable[User]) -> list[Proposal]:
    """Return proposals for mentions of people, in the platform's Markdown."""
    return [
        Proposal(sanitize(user.display_name), "", f'[{_words(user.display_name)}](/~/users/{user.id} "mention") ')
        for user in people
        if user.display_name
    ]


def page_proposals(pages: Sequence[RevisionPage], page_id: str, *, with_words: bool) -> list[Proposal]:
    """Return proposals of links to the pages of a space, relative to the edited page.

    Args:
        pages: the tree of pages.
        page_id: the id of the edited page.
        with_words: whether to propose whole links instead of targets only.
    """
    known = [page for page in flatten(pages) if page.type == "document"]
    here = dirname(next((source_path(page) for page in known if page.id == page_id), "")) or "."
    proposals: list[Proposal] = []
    for page in known:
        source = source_path(page)
        if page.id == page_id or not source:
            continue
        target = relpath(source, here).replace(" ", "%20")
        text = f"[{_words(page.title)}]({target})" if with_words else f"{target})"
        proposals.append(Proposal(sanitize(page.title) or "(no title)", sanitize(source), text))
    return proposals


def file_proposals(files: Iterable[RevisionFile], kind: str, *, is_image: bool) -> list[Proposal]:
    """Return proposals of links to the files of a space, or only to its images.

    Args:
        files: the files of the space.
        kind: `link` for whole links, `target` and `source` for addresses in parentheses and in quotation marks.
        is_image: whether to propose only images.
    """
    proposals: list[Proposal] = []
    for file in files:
        if not file.name or (is_image and not file.content_type.startswith("image/")):
            continue
        address = address_in_page(file)
        text = f"{address})" if kind == "target" else address
        if kind == "link":
            words = _words(splitext(file.name)[0] if is_image else file.name)
            text = f"{'!' if is_image else ''}[{words}]({address})"
        note = file.git.path if file.git else file.content_type
        proposals.append(Proposal(sanitize(file.name), sanitize(note), text))
    return proposals


def _words(text: str) -> str:
    """Escape a text for use as the words of a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", " ".join(text.split()))
