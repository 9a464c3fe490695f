"""What is offered while a page is typed: blocks after `/`, people after `@`, pages after `[[` and `](`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from posixpath import dirname, relpath
from typing import Literal, NamedTuple

from presscheck.api.content import RevisionPage
from presscheck.api.users import User
from presscheck.documents.markdown.links import source_path
from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.markdown_editor.blocks import BLOCKS

Kind = Literal["block", "person", "link", "target"]
MOST = 8
"""The most proposals that are shown."""
_OPENINGS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("block", re.compile(r"^[ \t]*/(\w*)$")),
    ("person", re.compile(r"(?:^|(?<=[\s(*_]))@(\w[^@\n]{0,40})?$")),
    ("link", re.compile(r"\[\[([^\[\]\n]{0,80})$")),
    ("target", re.compile(r"\]\(([^()\s]{0,200})$")),
)


class Opening(NamedTuple):
    """What is being typed: its kind, where it starts in the line, and the text to search for."""

    kind: Kind
    start: int
    text: str


class Proposal(NamedTuple):
    """A text that can replace what was typed; `label` and `note` are display text."""

    label: str
    note: str
    text: str


def opening(before: str) -> Opening | None:
    """What is being typed at the end of a text without a line break; None if nothing is proposed there."""
    for kind, pattern in _OPENINGS:
        match = pattern.search(before[-300:])
        if match:
            at = match.start(1) if kind == "target" else match.start()
            if kind == "block":
                at = match.end() - len(match[1]) - 1
            return Opening(kind, at + max(0, len(before) - 300), match[1] or "")
    return None


def block_proposals() -> list[Proposal]:
    """All blocks."""
    return [Proposal(block.label, f"/{block.name}", block.text) for block in BLOCKS]


def people_proposals(people: Iterable[User]) -> list[Proposal]:
    """Mentions of people, as the platform writes them."""
    return [
        Proposal(sanitize(user.display_name), "", f'[{_words(user.display_name)}](/~/users/{user.id} "mention") ')
        for user in people
        if user.display_name
    ]


def page_proposals(pages: Sequence[RevisionPage], page_id: str, *, with_words: bool) -> list[Proposal]:
    """Links to the pages of a space, relative to the file of a page.

    Args:
        pages: the tree of pages.
        page_id: the page that is edited.
        with_words: whether the proposals are whole links, else only the targets.
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


def matching(proposals: Iterable[Proposal], text: str) -> list[Proposal]:
    """The proposals with all words of a text; those whose label begins with it first."""
    words = text.casefold().split()
    found = [
        proposal
        for proposal in proposals
        if all(word in f"{proposal.label} {proposal.note}".casefold() for word in words)
    ]
    found.sort(key=lambda proposal: not proposal.label.casefold().startswith(text.casefold()))
    return found[:MOST]


def _words(text: str) -> str:
    """A text as the words of a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", " ".join(text.split()))
