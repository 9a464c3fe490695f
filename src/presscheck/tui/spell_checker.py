"""Spell checking with aspell or hunspell, which use the same pipe protocol.

Each input line is `^` and a word. The answer to an unknown word begins with `&`, `?` or `#`. The language is that of
the program's settings: `LANG`, or `DICTIONARY` for hunspell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from presscheck.documents.markdown.prose_words import WordPlace
from presscheck.engine.child_programs import run_program
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize

PROGRAMS = {"aspell": ("--encoding=utf-8", "-a"), "hunspell": ("-i", "utf-8", "-a")}
"""The programs in order of preference, with their options."""
NOT_INSTALLED = "spell check needs aspell or hunspell, with a dictionary: install one of them"
TIMEOUT = 30.0
"""Seconds after which a program is killed."""
MOST_SUGGESTIONS = 5
"""Maximum number of suggestions per word."""
_DOUBTFUL = ("&", "#", "?")


@dataclass(frozen=True)
class DoubtfulWord:
    """A word that is missing from the dictionaries.

    Attributes:
        word: the word.
        places: its occurrences.
        suggestions: similar words from the dictionaries.
    """

    word: str
    places: tuple[WordPlace, ...]
    suggestions: tuple[str, ...]


def installed() -> list[str]:
    """Return the names of the installed programs."""
    return [name for name in PROGRAMS if which(name)]


class SpellChecker:
    """A spell checker that uses the first program with a dictionary.

    Raises:
        PresscheckError: no program is installed.
    """

    def __init__(self) -> None:
        self._programs = installed()
        if not self._programs:
            raise PresscheckError(NOT_INSTALLED)

    @property
    def name(self) -> str:
        """The name of the program."""
        return self._programs[0]

    async def doubtful(self, words: Mapping[str, Sequence[WordPlace]]) -> list[DoubtfulWord]:
        """Return the words that are missing from the dictionaries.

        Raises:
            PresscheckError: no program could check the words, for example because it has no dictionary.
        """
        asked = [word.replace("’", "'") for word in words]
        answers = await self._ask(asked)
        found: list[DoubtfulWord] = []
        for (word, places), lines in zip(words.items(), answers, strict=False):
            doubts = [line for line in lines if line.startswith(_DOUBTFUL)]
            if doubts:
                names = doubts[0].partition(": ")[2].split(", ") if ": " in doubts[0] else []
                suggestions = tuple(sanitize(name) for name in names[:MOST_SUGGESTIONS])
                found.append(DoubtfulWord(word, tuple(places), suggestions))
        return found

    async def learn(self, word: str) -> None:
        """Add a word to the user's own dictionary.

        Raises:
            PresscheckError: the program could not store the word.
        """
        await self._run(f"*{word.replace('’', chr(39))}\n#\n")

    async def _ask(self, words: Sequence[str]) -> list[list[str]]:
        """Return the lines of the answer for each word."""
        output = await self._run("".join(f"^{word}\n" for word in words))
        groups: list[list[str]] = [[]]
        for line in output.split("\n")[1:]:  # after the line that names the program
            if line.strip():
                groups[-1].append(line)
            else:
                groups.append([])
        return groups

    async def _run(self, text: str) -> str:
        """Return the output of the first program that succeeds. Programs that fail are not tried again.

        Raises:
            PresscheckError: the last program failed.
        """
        while True:
            try:
                return await _output(self.name, text)
            except PresscheckError:
                if len(self._programs) == 1:
                    raise
                self._programs.pop(0)


async def _output(name: str, text: str) -> str:
    ran = await run_program(name, (name, *PROGRAMS[name]), Path(), TIMEOUT, given=text.encode())
    if ran.code or not ran.output.startswith("@"):
        reason = sanitize(ran.errors.strip().partition("\n")[0]) or "it has no dictionary"
        raise PresscheckError(f"{name} could not check the spelling: {reason}")
    return ran.output
