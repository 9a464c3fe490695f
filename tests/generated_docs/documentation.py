"""The documentation that tests run on: generated repositories, the manual, and those of a folder that the user names.

`PRESSCHECK_DOCS` names a folder with a repository in each of its folders; the tests then run on them as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from tests.generated_docs.pieces import Piece, page_text, pieces_of, smallest
from tests.generated_docs.repositories import GeneratedRepository, handbook, tree, varied
from tests.root import ROOT

VARIABLE = "PRESSCHECK_DOCS"
SEEDS = (1, 2, 3) if "PRESSCHECK_CASES" in os.environ else (1, 2)
"""The generated repositories of a kind."""
MANUAL = "manual"
"""The kind of documentation that is the manual of the project itself."""
MOST_TRIES = 2_000
"""Texts that are tried while a page is made smaller."""


@dataclass(frozen=True)
class Page:
    """The text of a page, as pieces: generated ones, or what stands between the blank lines of a real one."""

    path: str
    text: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Documentation:
    """A repository in a directory; `generated` says what is in it where it was generated."""

    name: str
    directory: Path
    generated: GeneratedRepository | None = None

    @cached_property
    def pages(self) -> list[Page]:
        """Every page and snippet, in the order of their paths."""
        known = (
            {page.path: page for page in (*self.generated.pages, *self.generated.snippets)} if self.generated else {}
        )
        pages: list[Page] = []
        for location in sorted(self.directory.rglob("*.md")):
            path = str(location.relative_to(self.directory))
            if path != "SUMMARY.md":
                text = location.read_bytes().decode("utf-8-sig")
                pages.append(Page(path, text, known[path].pieces if path in known else pieces_of(text)))
        return pages

    def sample(self, step: int) -> list[Page]:
        """Every page; of a repository that `PRESSCHECK_DOCS` names one in `step`, unless `PRESSCHECK_CASES` is set."""
        is_whole = self.generated or self.name == MANUAL or "PRESSCHECK_CASES" in os.environ
        return self.pages if is_whole else self.pages[::step]


@dataclass(frozen=True)
class Source:
    """Where documentation comes from: a generator, or a directory."""

    name: str
    make: Callable[[], GeneratedRepository] | None = None
    directory: Path | None = None

    def documentation(self, empty: Path) -> Documentation:
        """The documentation; a generated one is written into an empty directory."""
        if self.make is None:
            assert self.directory
            return Documentation(self.name, self.directory)
        generated = self.make()
        return Documentation(self.name, generated.write(empty / generated.name), generated)


def sources(environment: str | None, kinds: Iterable[str] = ("handbook", "varied")) -> list[Source]:
    """The generated repositories of these kinds, the manual if it is among them, and those of the folder.

    A kind such as `varied-2` is the one with this seed.

    Raises:
        pytest.UsageError: the folder is missing, or holds no repository.
    """
    makers = {"handbook": handbook, "varied": varied, "tree": tree}
    seeds: dict[str, Sequence[int]] = {"handbook": SEEDS[:1], "varied": SEEDS, "tree": SEEDS[:1]}
    found = [
        Source(f"{name}-{seed}", lambda name=name, seed=seed: makers[name](seed))
        for kind in kinds
        if kind != MANUAL
        for name, _, only in [kind.partition("-")]
        for seed in ([int(only)] if only else seeds[name])
    ]
    found += [Source(MANUAL, directory=ROOT / "docs")] if MANUAL in kinds else []
    return found + [Source(path.name, directory=path) for path in real_repositories(environment)]


def real_repositories(environment: str | None) -> list[Path]:
    """The repositories of the folder that `PRESSCHECK_DOCS` names; none where it is not set.

    Raises:
        pytest.UsageError: the folder is missing, or holds no repository.
    """
    if environment is None:
        return []
    folder = Path(environment)
    if not environment or not folder.is_dir():
        raise pytest.UsageError(f"{VARIABLE}: there is no directory {environment!r}")
    repositories = sorted(path for path in folder.iterdir() if path.is_dir() and next(path.rglob("*.md"), None))
    if not repositories:
        raise pytest.UsageError(f"{VARIABLE}: {environment} holds no documentation repository")
    return repositories


def named_sources(kinds: Iterable[str] = ("handbook", "varied")) -> list[Source]:
    """The sources, as the environment names them."""
    return sources(os.environ.get(VARIABLE), kinds)


def check_page(documentation: Documentation, page: Page, check: Callable[[str], None]) -> None:
    """Check the text of a page; where that fails, say with how few of its pieces it still does.

    Raises:
        AssertionError: the check failed; with the names of the fewest pieces, their text, and why it fails.
    """
    first = failure(check, page.text)
    if first is None:
        return
    tries = iter(range(MOST_TRIES))

    def fails(pieces: tuple[Piece, ...]) -> bool:
        return next(tries, None) is not None and type(failure(check, page_text(pieces))) is type(first)

    whole = (Piece("the whole file", page.text),)
    pieces = smallest(next((form for form in (page.pieces, pieces_of(page.text)) if fails(form)), whole), fails)
    text = page_text(pieces)
    reason = failure(check, text) or first
    names = ", ".join(piece.name for piece in pieces)
    raise AssertionError(
        f"{documentation.name}: {page.path} fails with: {names}\n{text}\n"
        f"written: {text!r}\n{type(reason).__name__}: {reason}"
    ) from reason


def failure(check: Callable[[str], None], text: str) -> Exception | None:
    """Why a text fails a check."""
    try:
        check(text)
    except Exception as error:  # whatever the product raises is what is looked for
        return error
    return None
