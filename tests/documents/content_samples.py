"""Generates random page trees and random edits of them, reproducible by seed."""

from __future__ import annotations

import copy
import random
from typing import Any

from presscheck.documents.pages.tree import Page, PagePosition, insert, move, remove, walk, with_slugs

Revision = dict[str, Any]
_WORDS = "token scope project member rights session error retry limit page guide quickstart install agent"
WORDS = _WORDS.split()


class Library:
    """Stores texts by id; equal texts share an id."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def write(self, text: str) -> str:
        known = next((key for key, kept in self.texts.items() if kept == text), None)
        key = known or f"d{len(self.texts)}"
        self.texts[key] = text
        return key

    def read(self, key: str) -> str:
        return self.texts[key]


class Editor:
    """Generates page trees and edits them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.library = Library()
        self._made = 0

    def sentence(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(3, 9))).capitalize() + "."

    def text(self, paragraphs: int = 4) -> str:
        return "\n\n".join(" ".join(self.sentence() for _ in range(3)) for _ in range(paragraphs)) + "\n"

    def page(self, side: str, kind: str = "document") -> Page:
        self._made += 1
        title = f"{self.random.choice(WORDS)} {self._made % 5}"
        page: Page = {"id": f"{side}{self._made}", "type": kind, "title": title}
        if kind == "link":
            return page | {"target": {"kind": "url", "url": "https://example.com"}}
        page |= {"slug": title.replace(" ", "-"), "pages": []}
        if kind == "document":
            page |= {"documentId": self.library.write(self.text()), "updatedAt": f"2026-01-{self._made % 28 + 1:02}"}
        return page

    def revision(self, pages: int) -> Revision:
        tree: list[Page] = [self.page("b", "group") for _ in range(2)]
        for _ in range(pages):
            tree = insert(tree, self.page("b", self.random.choice(["document"] * 9 + ["link"])), *self.spot(tree))
        files = [self.file("b") for _ in range(4)]
        return {"pages": with_slugs(tree), "files": files, "reusableContents": [], "variables": {"a": "1", "b": 2}}

    def file(self, side: str) -> Page:
        self._made += 1
        return {
            "id": f"f{side}{self._made}",
            "name": f"{self._made}.png",
            "size": self._made,
            "contentType": "image/png",
        }

    def spot(self, tree: list[Page], moving: PagePosition | None = None) -> tuple[str | None, int | None]:
        own = {place.page["id"] for place in walk([moving.page])} if moving else set()
        above = [p.page["id"] for p in walk(tree) if p.page["type"] != "link" and p.page["id"] not in own]
        into = None if moving and moving.page["type"] == "group" else self.random.choice([None, *above])
        return into, self.random.choice([None, 0, 1, 2])

    def edited(self, revision: Revision, side: str, edits: int) -> Revision:
        now = copy.deepcopy(revision)
        for _ in range(edits):
            self.random.choice([self.add, self.delete, self.move, self.rename, self.write, self.write, self.file_edit])(
                now, side
            )
        now["pages"] = with_slugs(now["pages"])
        return now

    def some(self, revision: Revision, kind: str | None = None) -> PagePosition | None:
        places = [item for item in walk(revision["pages"]) if kind in (None, item.page["type"])]
        return self.random.choice(places) if places else None

    def add(self, revision: Revision, side: str) -> None:
        revision["pages"] = insert(revision["pages"], self.page(side), *self.spot(revision["pages"]))

    def delete(self, revision: Revision, side: str) -> None:
        place = self.some(revision)
        if place:
            revision["pages"] = remove(revision["pages"], place.page["id"])

    def move(self, revision: Revision, side: str) -> None:
        place = self.some(revision)
        if place:
            revision["pages"] = move(revision["pages"], place.page["id"], *self.spot(revision["pages"], place))

    def rename(self, revision: Revision, side: str) -> None:
        place = self.some(revision)
        if place:
            name = self.random.choice(["title", "emoji"] + ["slug"] * ("slug" in place.page))
            place.page[name] = f"{side}{self.random.randrange(1000)}"

    def write(self, revision: Revision, side: str) -> None:
        place = self.some(revision, "document")
        if place:
            document = place.page.get("documentId")
            paragraphs = self.library.read(document).split("\n\n") if document else [""]
            paragraphs[self.random.randrange(len(paragraphs))] = self.sentence() + side + "\n"
            place.page.update(
                {"documentId": self.library.write("\n\n".join(paragraphs)), "updatedAt": f"2026-02-{side}"}
            )

    def file_edit(self, revision: Revision, side: str) -> None:
        if self.random.random() < 0.4:
            revision["files"].append(self.file(side))
        elif revision["files"]:
            item = self.random.choice(revision["files"])
            if self.random.random() < 0.3:
                revision["files"].remove(item)
            else:
                item["size"] = self.random.randrange(1000)
