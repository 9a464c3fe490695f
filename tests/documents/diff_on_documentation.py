"""Random edits of pages that resemble the edits of authors."""

import random
import re
from collections.abc import Callable

from presscheck.documents.diff.word_diff import word_count
from presscheck.documents.markdown.block_splitter import split_blocks

NEW = ("quokka", "zephyr", "marmot", "tundra", "lichen", "sextant", "gourd", "walnut")
Editing = Callable[[random.Random, list[str]], tuple[list[str], int] | None]
"""A function that edits the lines of a page. Returns None if the page has nothing to edit in this way."""


def new_words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(NEW) for _ in range(count))


def prose(lines: list[str]) -> list[int]:
    """Return the numbers of lines that are paragraphs of more than a dozen plain words, with a blank line below."""
    found: list[int] = []
    for block in split_blocks("\n".join(lines)):
        is_plain = not re.search(r"[\n<>{}|\[\]`*_]", block.text)
        is_apart = not "".join(lines[block.start_line + 1 : block.start_line + 2]).strip()
        if block.kind == "paragraph" and is_plain and is_apart and word_count(block.text) > 12:
            found.append(block.start_line)
    return found


def word(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    at = prose(lines)
    if not at:
        return None
    number = chance.choice(at)
    words = lines[number].split(" ")
    which = chance.choice([at for at, one in enumerate(words) if one.isalpha()] or [-1])
    if which < 0:
        return None
    gone, words[which] = word_count(words[which]), chance.choice(NEW)
    return [*lines[:number], " ".join(words), *lines[number + 1 :]], gone + 1


def sentence(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    at = prose(lines)
    if not at:
        return None
    number, count = chance.choice(at), chance.randint(4, 9)
    return [*lines[:number], f"{lines[number]} And {new_words(chance, count)}.", *lines[number + 1 :]], count + 1


def block(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    at = prose(lines)
    if not at:
        return None
    number = chance.choice(at)
    if chance.random() < 0.5:
        count = chance.randint(5, 20)
        return [*lines[:number], f"The {new_words(chance, count)}.", "", *lines[number:]], count + 1
    return [*lines[:number], *lines[number + 2 :]], word_count(lines[number])


def move(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    at = prose(lines)
    if len(at) < 3:
        return None
    one, other = chance.sample(at, 2)
    kept = [*lines[:one], *lines[one + 2 :]]
    to = other - 2 if other > one else other
    return [*kept[:to], lines[one], "", *kept[to:]], 0


def cell(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    rows = [at for at, line in enumerate(lines) if re.fullmatch(r"\|[^|`]*[a-z][^|`]*\|(?:[^|`]*\|)+\s*", line)]
    if not rows:
        return None
    number = chance.choice(rows)
    cells = lines[number].strip().strip("|").split("|")
    which = chance.randrange(len(cells))
    words = word_count(cells[which])
    cells[which] = f" {new_words(chance, 2)} "
    return [*lines[:number], f"|{'|'.join(cells)}|", *lines[number + 1 :]], words + 2


def code(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    rows = [
        found.start_line + at
        for found in split_blocks("\n".join(lines))
        if found.kind == "code"
        for at, line in enumerate(found.text.split("\n"))
        if at and word_count(line) > 3 and "```" not in line
    ]
    if not rows:
        return None
    number = chance.choice(rows)
    spots = list(re.finditer(r"\b[A-Za-z]{3,}\b", lines[number]))
    if not spots:
        return None
    spot = chance.choice(spots)
    line = lines[number][: spot.start()] + chance.choice(NEW) + lines[number][spot.end() :]
    return [*lines[:number], line, *lines[number + 1 :]], 2


def item(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    rows = [at for at, line in enumerate(lines) if re.match(r"[*-] +\w[^<>{}\[\]`*_]{8,}$", line)]
    if not rows:
        return None
    number, count = chance.choice(rows), chance.randint(2, 6)
    return [*lines[:number], f"* {new_words(chance, count)}", *lines[number:]], count


def front(chance: random.Random, lines: list[str]) -> tuple[list[str], int] | None:
    count = chance.randint(2, 5)
    if lines[0].rstrip() == "---":
        return [lines[0], f"keywords: {new_words(chance, count)}", *lines[1:]], count + 1
    return ["---", f"description: {new_words(chance, count)}", "---", "", *lines], count + 1


KINDS: dict[str, Editing] = {one.__name__: one for one in (word, sentence, block, move, cell, code, item, front)}
