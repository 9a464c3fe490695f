"""Addresses that generated pages point at: pages, files, anchors and snippets that are there, and some that are not."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from urllib.parse import quote

from tests.generated_docs.pieces import Chance

WEB = (
    "https://example.org/",
    "https://example.org/a_(b)?x=1&y=2#part",
    "http://localhost:8080/~user/%7Efile",
    "https://例え.example/パス",
    "mailto:support@example.org",
    "//cdn.example.org/script.js",
    "tel:+493012345",
)
MISSING = re.compile(r"(?:\.\./)*missing/page-\d+\.md(?:#part)?")
"""What every target looks like that leads nowhere; each stands once in a page."""


class Targets:
    """What a page may point at, written relative to it in the ways in which people write it."""

    def __init__(
        self,
        chance: Chance,
        source: str,
        pages: Sequence[str] = (),
        files: Sequence[str] = (),
        snippets: Sequence[str] = (),
    ) -> None:
        self.chance = chance
        self.source = source
        self.pages = pages or (source,)
        self.pictures = [file for file in files if not file.endswith((".pdf", ".yaml", ".txt"))] or ["picture.png"]
        self.files = files or ("file.pdf",)
        self.snippets = snippets
        self._missing = 0

    def page(self) -> str:
        """A page, at times a part of it; without blanks, so that it can stand anywhere."""
        target = quote(self._relative(self.chance.choice(self.pages)), safe="/.-_~" + "äöüßé日本語のページ")
        return target + self.chance.choice(("", "", "", "#part", "#the-%C3%A9tude"))

    def folder(self) -> str:
        """A folder that a page stands for."""
        folders = [page.removesuffix("README.md") for page in self.pages if page.endswith("/README.md")]
        return quote(self._relative(self.chance.choice(folders))) if folders else self.page()

    def picture(self) -> str:
        """An image."""
        return quote(self._relative(self.chance.choice(self.pictures)))

    def file(self) -> str:
        """A file of any kind."""
        return quote(self._relative(self.chance.choice(self.files)))

    def snippet(self) -> str:
        """A snippet to include; empty where there is none."""
        return self._relative(self.chance.choice(self.snippets)) if self.snippets else ""

    def web(self) -> str:
        """An address elsewhere."""
        return self.chance.choice(WEB)

    def missing(self) -> str:
        """A page that is not there."""
        self._missing += 1
        return self._relative(f"missing/page-{self._missing}.md") + self.chance.choice(("", "#part"))

    def any(self) -> str:
        """A target of any kind."""
        return self.chance.choice(
            (self.page, self.page, self.web, self.folder, self.missing, self._root, self._anchor)
        )()

    def _anchor(self) -> str:
        return "#part"

    def _root(self) -> str:
        return quote(f"/{self.chance.choice(self.pages)}")

    def _relative(self, path: str) -> str:
        found = posixpath.relpath(path, posixpath.dirname(self.source) or ".")
        return f"{found}/" if path.endswith("/") else found
