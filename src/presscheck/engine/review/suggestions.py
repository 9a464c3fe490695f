"""Applies suggestions of threads to the text of a page: all that can be applied, as one new text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presscheck.documents.pages.quotes import find_quoted_line
from presscheck.documents.pages.suggestions import Suggestion, block_at, parse_suggestion, replace_block

if TYPE_CHECKING:
    from presscheck.documents.markdown.block_splitter import Block
    from presscheck.engine.review.threads import Thread

GONE = "the text that it is about is gone"


@dataclass(frozen=True)
class AppliedSuggestions:
    """The text of a page with suggestions applied."""

    markdown: str
    applied: tuple[Thread, ...]
    skipped: tuple[tuple[Thread, str], ...]
    """The threads whose suggestion was not applied, and why."""


def newest_suggestion(thread: Thread) -> Suggestion | None:
    """The newest suggestion in a thread that was sent."""
    suggestions = [parse_suggestion(message.text) for message in thread.messages if message.pending is None]
    return next((suggestion for suggestion in reversed(suggestions) if suggestion), None)


def block_of(thread: Thread, markdown: str) -> Block | None:
    """The block of a page that a thread is about; None if it is gone."""
    line = find_quoted_line(thread.about, enumerate(markdown.split("\n")))
    return block_at(markdown, line) if line is not None else None


def apply_suggestions(markdown: str, threads: Sequence[Thread]) -> AppliedSuggestions:
    """Apply the newest suggestion of each thread; different suggestions for one block are all left out."""
    by_block: dict[Block, list[tuple[Thread, str]]] = {}
    skipped: list[tuple[Thread, str]] = []
    for thread in threads:
        suggestion, block = newest_suggestion(thread), block_of(thread, markdown)
        if suggestion is None or block is None:
            skipped.append((thread, GONE))
        else:
            by_block.setdefault(block, []).append((thread, suggestion.words))
    applied: list[Thread] = []
    # from the last block to the first, so that the lines of the others stay where they are
    for block in sorted(by_block, key=lambda block: -block.start_line):
        texts = by_block[block]
        if len({words for _, words in texts}) == 1:
            markdown = replace_block(markdown, block, texts[0][1])
            applied += [thread for thread, _ in texts]
        else:
            skipped += [(thread, _conflict(thread, [other for other, _ in texts])) for thread, _ in texts]
    order = {thread.id: number for number, thread in enumerate(threads)}
    return AppliedSuggestions(
        markdown,
        tuple(sorted(applied, key=lambda thread: order[thread.id])),
        tuple(sorted(skipped, key=lambda pair: order[pair[0].id])),
    )


def _conflict(thread: Thread, threads: Sequence[Thread]) -> str:
    """Why a suggestion for a block with other suggestions is left out."""
    others = [other.first.author for other in threads if other is not thread]
    return f"conflict: {' and '.join(dict.fromkeys(others))} suggested another text for the same block"
