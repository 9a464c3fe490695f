"""Applies the suggestions in threads to the text of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presscheck.documents.diff.suggestion_targets import (
    SuggestionTarget,
    cell_problem,
    cell_text,
    find_target,
    replace_target,
)
from presscheck.documents.pages.comment_text import Suggestion, parse_suggestion

if TYPE_CHECKING:
    from presscheck.engine.review.threads import Thread

GONE = "the text that it is about is gone"
ALREADY_APPLIED = "the page already has this text"


@dataclass(frozen=True)
class AppliedSuggestions:
    """The text of a page after its suggestions were applied, and the threads with these suggestions."""

    markdown: str
    applied: tuple[Thread, ...]
    skipped: tuple[tuple[Thread, str], ...]
    """The threads whose suggestion was not applied, with the reason."""


def newest_suggestion(thread: Thread) -> Suggestion | None:
    """Return the newest suggestion in the sent messages of a thread, or None if there is none."""
    suggestions = [parse_suggestion(message.text) for message in thread.messages if message.pending is None]
    return next((suggestion for suggestion in reversed(suggestions) if suggestion), None)


def problem(target: SuggestionTarget | None, words: str) -> str | None:
    """Return why a suggestion cannot be applied: the commented text is gone, or `words` do not fit into a table cell.

    None if the suggestion can be applied.
    """
    if target is None:
        return GONE
    return cell_problem(words) if target.cell else None


def is_applied(target: SuggestionTarget, words: str) -> bool:
    """Return whether the page has the suggested text already.

    The thread can still be open: a user who may apply a suggestion may not be allowed to resolve its thread.
    """
    return target.text == (cell_text(words) if target.cell else words)


def apply_suggestions(markdown: str, threads: Sequence[Thread]) -> AppliedSuggestions:
    """Apply the newest suggestion of each thread.

    Suggestions with different words for the same text conflict: none of them is applied.
    """
    by_target: dict[SuggestionTarget, list[tuple[Thread, str]]] = {}
    skipped: list[tuple[Thread, str]] = []
    for thread in threads:
        suggestion, target = newest_suggestion(thread), find_target(thread.about, markdown)
        reason = problem(target, suggestion.words) if suggestion else GONE
        if target is None or suggestion is None or reason:
            skipped.append((thread, reason or GONE))
        else:
            by_target.setdefault(target, []).append((thread, suggestion.words))
    applied: list[Thread] = []
    # from the end of the page to its start, so that a replacement does not shift the remaining targets
    for target in sorted(by_target, key=_place, reverse=True):
        texts = by_target[target]
        others = [text for other in by_target if _overlap(target, other) for text in by_target[other]]
        if not others and len({words for _, words in texts}) == 1:
            if is_applied(target, texts[0][1]):
                skipped += [(thread, ALREADY_APPLIED) for thread, _ in texts]
                continue
            markdown = replace_target(markdown, target, texts[0][1])
            applied += [thread for thread, _ in texts]
        else:
            rivals = [thread for thread, _ in (*texts, *others)]
            skipped += [(thread, _conflict(thread, target, rivals)) for thread, _ in texts]
    order = {thread.id: number for number, thread in enumerate(threads)}
    return AppliedSuggestions(
        markdown,
        tuple(sorted(applied, key=lambda thread: order[thread.id])),
        tuple(sorted(skipped, key=lambda pair: order[pair[0].id])),
    )


def _place(target: SuggestionTarget) -> tuple[int, int]:
    """Return the line and the column at which a target starts."""
    return (target.cell.line, target.cell.start) if target.cell else (target.block.start_line, 0)


def _overlap(target: SuggestionTarget, other: SuggestionTarget) -> bool:
    """Return whether either target is a table that contains the cell of the other target."""
    return target != other and target.block == other.block and (target.cell is None or other.cell is None)


def _conflict(thread: Thread, target: SuggestionTarget, threads: Sequence[Thread]) -> str:
    """Describe the conflict of a suggestion with other suggestions for the same text."""
    others = [other.first.author for other in threads if other is not thread]
    place = "cell or its table" if target.cell else "block"
    return f"conflict: {' and '.join(dict.fromkeys(others))} suggested another text for the same {place}"
