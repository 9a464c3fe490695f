"""Relevance of pages for a query, and excerpts with the matching words.

Words are compared without case and accents, and a word of the query also matches longer words that start with it.
Matches in the title count most, then matches in a heading, then matches in the text, which are weighted by frequency
and rarity (BM25). The order does not depend on the database, which only selects the candidate pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

from presscheck.documents.markdown.page_sections import PageSection, page_sections, section_anchors
from presscheck.documents.markdown.search_terms import MAX_TERM, fold, query_phrases, split_unspaced

MOST_TERMS = 16
"""Maximum number of terms of a query; further words are ignored."""
MOST_SECTIONS = 5
"""Maximum number of sections per page in a result."""
BEFORE, LENGTH = 40, 180
"""Number of characters in an excerpt before its first match, and in total."""
MOST_MATCHES = 200
"""Maximum number of matches of a text that are examined."""

_PREFIX, _JOINED, _CORRECTED = 0.5, 0.9, 0.6
"""Weights of inexact matches: a prefix of a word, two words of the query written as one, a corrected word."""
_TITLE, _HEADING, _DESCRIPTION, _ABOVE = 6.0, 3.0, 1.5, 0.7
_K, _B, _USUAL_LENGTH = 1.2, 0.4, 700
_QUOTED = re.compile(r'"([^"]*)"?|([^"]+)')
_SIGNS = re.compile(r"[^\w\s]+")
_NOT_WORDS = re.compile(r"[\W_]+")
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_QUESTION_WORDS = (
    "a an and are as at be by can do does for from how i in is it its me my of on or that the there this to was we"
    " what when where which who why will with you your"
)
_OPTIONAL = frozenset(_QUESTION_WORDS.split())
"""Common words of questions, which a page need not contain if the query has other words."""


class SearchText(NamedTuple):
    """The text of a page, prepared for search.

    Attributes:
        sections: the text as readers see it.
        headings: the normalized titles of the sections, one per line.
        body: the normalized text.
        words: the number of words in `body`.
    """

    sections: tuple[PageSection, ...]
    headings: str
    body: str
    words: int

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        return 500 + 300 * len(self.sections) + 2 * len(self.body) + len(self.headings)


class Term(NamedTuple):
    """A word or quoted phrase of a query.

    Attributes:
        words: the normalized words.
        needles: the strings to find in normalized text, each with the weight of a match, the best first.
        lookups: alternative queries of the index. Each is a tuple of words that must all occur, and whether the last
            word is a prefix.
        is_required: whether a page must contain the term.
    """

    words: str
    needles: tuple[tuple[str, float], ...]
    lookups: tuple[tuple[tuple[str, ...], bool], ...]
    is_required: bool

    def weight_in(self, text: str) -> float:
        """Return the weight of the best needle that occurs in normalized text, from 0 to 1; 0 if none occurs."""
        for needle, weight in self.needles:
            if needle in text:
                return weight
        return 0.0

    def frequency_in(self, text: str) -> float:
        """Return the number of occurrences of the best matching needle, times its weight; 0 if none occurs."""
        for needle, weight in self.needles:
            count = text.count(needle)
            if count:
                return weight * count
        return 0.0


class Fields(NamedTuple):
    """The normalized short texts of a page. `above` has the titles of its ancestors."""

    title: str
    description: str
    above: str


class Passage(NamedTuple):
    """A matching section of a page: its title, which is empty at the start of the page, its anchor, and an excerpt."""

    title: str
    anchor: str
    text: str


def normalized(text: str) -> str:
    """Return the words of a text in lower case without accents, with one space before, between and after them."""
    words = text.translate(_ASCII).split() if text.isascii() else _NOT_WORDS.sub(" ", split_unspaced(text)).split()
    return f" {' '.join(words)} " if words else " "


def search_text(markdown: str) -> SearchText:
    """Prepare the Markdown of a page for search."""
    sections = tuple(page_sections(markdown))
    body = normalized("\n".join([section.text for section in sections]))
    headings = "\n".join([normalized(section.title) for section in sections if section.title])
    return SearchText(sections, headings, body, body.count(" "))


def terms_of(query: str) -> list[Term]:
    """Return the terms of a query, at most `MOST_TERMS`. Question words are optional if there are other words."""
    phrases = [*dict(_phrases(query)).items()][:MOST_TERMS]
    are_optional = any(words not in _OPTIONAL for words, _ in phrases)
    joined: dict[str, list[str]] = {}
    for (first, is_open), (second, is_prefix) in pairwise(phrases):
        if is_open and is_prefix and " " not in first + second:
            joined.setdefault(first, []).append(first + second)
            joined.setdefault(second, []).append(first + second)
    terms: list[Term] = []
    for words, is_prefix in phrases:
        needles = [(f" {words} ", 1.0)]
        lookups = [(_in_index(words), is_prefix)]
        for word in joined.get(words, ()):
            needles.append((f" {word} ", _JOINED))
            lookups.append((_in_index(word), False))
        if is_prefix:
            needles.append((f" {words}", _PREFIX))
        is_required = not (are_optional and words in _OPTIONAL)
        terms.append(Term(words, tuple(needles), tuple(lookups), is_required))
    return terms


def _phrases(query: str) -> Iterator[tuple[str, bool]]:
    """Yield the phrases of a query like `query_phrases`, but split unquoted words at all punctuation except `_`."""
    for quoted, words in _QUOTED.findall(query):
        yield from query_phrases(f'"{quoted}"' if quoted else _SIGNS.sub(" ", words))


def corrected(term: Term, words: Sequence[str]) -> Term:
    """Return a term that matches the given words instead of the words of `term`."""
    return term._replace(
        needles=tuple((f" {word} ", _CORRECTED) for word in words),
        lookups=tuple(((word,), False) for word in words),
    )


def one_letter_off(word: str, alphabet: str) -> Iterator[str]:
    """Yield the words that differ from `word` by one missing, added or replaced letter, or by two swapped letters.

    Words may repeat, and `word` itself may be among them.
    """
    for at in range(len(word) + 1):
        start, end = word[:at], word[at:]
        if end:
            yield start + end[1:]
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
        for letter in alphabet:
            yield start + letter + end
            if end:
                yield start + letter + end[1:]


def rarity(pages: int, with_term: int) -> float:
    """Return the weight of a term that `with_term` of `pages` pages contain: the rarer the term, the higher."""
    return log(1 + (pages - with_term + 0.5) / (with_term + 0.5))


def matched_terms(terms: Sequence[Term], fields: Fields, text: SearchText) -> list[bool]:
    """Return for each term whether a page contains the term."""
    return [
        any(term.weight_in(field) for field in (fields.title, fields.description, text.headings, text.body))
        for term in terms
    ]


def score(terms: Sequence[Term], rarities: Sequence[float], fields: Fields, text: SearchText) -> float:
    """Return the score of a page: BM25 of its text, plus bonuses for short texts and for all terms as one phrase."""
    total = 0.0
    norm = _K * (1 - _B + _B * text.words / _USUAL_LENGTH)
    for term, rare in zip(terms, rarities, strict=True):
        frequency = term.frequency_in(text.body)
        total += rare * frequency * (_K + 1) / (frequency + norm)
        total += rare * (_DESCRIPTION * term.weight_in(fields.description) + _ABOVE * term.weight_in(fields.above))
    total += _TITLE * _title_score(terms, rarities, fields.title)
    if any(term.weight_in(text.headings) for term in terms):
        headings = text.headings.split("\n")
        total += _HEADING * max(_title_score(terms, rarities, heading) for heading in headings)
    if len(terms) > 1:
        phrase = f" {' '.join(term.words for term in terms)}"
        total += sum(rarities) * (phrase in text.body)
    return total


def _title_score(terms: Sequence[Term], rarities: Sequence[float], title: str) -> float:
    """Return how well a title matches, or 0 if no term matches.

    The score is higher if the title has few other words, and highest if it has all terms as one phrase.
    """
    weights = [term.weight_in(title) for term in terms]
    matched = sum(weight > 0 for weight in weights)
    if not matched:
        return 0.0
    coverage = sum(term.words.count(" ") + 1 for term, weight in zip(terms, weights, strict=True) if weight)
    coverage /= title.count(" ") - 1
    total = sum(rare * weight for rare, weight in zip(rarities, weights, strict=True))
    is_phrase = matched == len(terms) and f" {' '.join(term.words for term in terms)}" in title
    return total * (0.4 + 0.6 * min(1.0, coverage)) * (1.3 if is_phrase else 1.0)


def passages(terms: Sequence[Term], text: SearchText) -> list[Passage]:
    """Return the sections that match, at most `MOST_SECTIONS`, the best first."""
    scored: list[tuple[float, int]] = []
    for number, section in enumerate(text.sections):
        title, body = normalized(section.title), normalized(section.text)
        value = sum(
            (2 * term.weight_in(title) + term.weight_in(body)) * (1.0 if term.is_required else 0.1) for term in terms
        )
        if value:
            scored.append((-value, number))
    anchors = section_anchors(text.sections) if scored else []
    best = [number for _, number in sorted(scored)[:MOST_SECTIONS]]
    return [
        Passage(section.title, anchors[number], excerpt(section.text, terms))
        for number in best
        for section in (text.sections[number],)
    ]


def excerpt(text: str, terms: Sequence[Term]) -> str:
    """Return the part of a text that contains the most different terms; without a match, the start of the text."""
    flat = " ".join(text.split())
    matches = [*_matches(flat, terms)]
    at, most = 0, 0
    for number, (start, _, _) in enumerate(matches):
        inside = len({term for begin, _, term in matches[number : number + 50] if begin < start + LENGTH - BEFORE})
        if inside > most:
            at, most = start, inside
    start = max(0, at - BEFORE) if at + LENGTH - BEFORE < len(flat) else max(0, min(at - BEFORE, len(flat) - LENGTH))
    start = flat.find(" ", start, at) + 1 or start if start else 0
    end = start + LENGTH
    end = flat.rfind(" ", at + 1, end) if end < len(flat) and flat.rfind(" ", at + 1, end) > at + 20 else end
    return ("…" if start else "") + flat[start:end].strip() + ("…" if end < len(flat) else "")


def marked(text: str, terms: Sequence[Term]) -> list[tuple[str, bool]]:
    """Split a text into matching and other parts. Each part comes with whether it matches a term."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end, _ in _matches(text, terms):
        if start >= at:
            parts += ((text[at:start], False), (text[start:end], True))
            at = end
    return [part for part in (*parts, (text[at:], False)) if part[0]]


def _matches(text: str, terms: Sequence[Term]) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and term number (from 1) of the first `MOST_MATCHES` matches in a text."""
    pattern = _pattern(terms)
    folded, offsets = _folded(text)
    for number, match in enumerate(pattern.finditer(folded)):
        if number == MOST_MATCHES:
            return
        start, end = match.span()
        if end > start:
            yield (
                (offsets[start], offsets[end - 1] + 1, match.lastindex or 0)
                if offsets
                else (start, end, match.lastindex or 0)
            )


_fold_character = lru_cache(5_000)(fold)


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters the offset in `text`.

    For ASCII texts, the list is empty, because the offsets are the same.
    """
    folded = fold(text)
    if text.isascii():
        return folded, []
    pieces = [*map(_fold_character, text)]
    offsets = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), offsets


def _pattern(terms: Sequence[Term]) -> re.Pattern[str]:
    parts: list[str] = []
    for term in terms:
        needles = [needle for needle, _ in sorted(term.needles, key=lambda needle: -len(needle[0]))]
        parts.append("(" + "|".join(_needle_pattern(needle) for needle in needles) + ")")
    return re.compile("|".join(parts))


def _needle_pattern(needle: str) -> str:
    words = needle.split()
    if split_unspaced(words[0]) != words[0]:
        return r"[\W_]*".join(re.escape(word) for word in words)
    ending = r"(?![^\W_])" if needle.endswith(" ") else r"[^\W_]*"
    return r"(?<![^\W_])" + r"[\W_]+".join(re.escape(word) for word in words) + ending


def _in_index(words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word[:MAX_TERM] for word in words.split()))
