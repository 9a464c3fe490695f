"""The references of a text in a revision: titles of pages, files, reusable content, variables, pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from presscheck.api.content import ReusableContent, Revision, RevisionFile, RevisionPage
from presscheck.documents.markdown.links import LinkResolver, LinkTarget
from presscheck.documents.pages.tree import flatten
from presscheck.documents.terminal.references import Included, Picture
from presscheck.tui.screens.references.included_texts import IncludedTexts, Piece

if TYPE_CHECKING:
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.references.file_contents import FilePlace
    from presscheck.tui.screens.references.page_pictures import PagePictures

NOT_THERE = "The space had no such reusable content then."
INCLUDE = "include"
"""Occurs in every text that includes reusable content."""
on_page = re.compile(r"/~(?:/spaces/([\w-]+))?/pages/([\w-]+)").match
file_by_id = re.compile(r"/~/files/([\w-]+)").fullmatch
_variable = re.compile(r"(space|page)\.vars\.([\w-]+)").fullmatch


class SpaceLinks:
    """The pages of a space and, once loaded, its files and reusable content.

    The indexes are built when a link is first drawn, once for all pages of the space.

    Args:
        pages: the tree of pages.
        revision: the content; None until it is loaded.
    """

    def __init__(self, pages: tuple[RevisionPage, ...], revision: Revision | None) -> None:
        self.pages, self.revision = pages, revision

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of pages by id."""
        return {page.id: page.title for page in flatten(self.pages)}

    @cached_property
    def pieces(self) -> dict[str, ReusableContent]:
        """Reusable content by id."""
        return {piece.id: piece for piece in self.revision.reusable_contents} if self.revision else {}

    @cached_property
    def resolver(self) -> LinkResolver:
        """The resolver of links to pages, files and reusable content."""
        revision = self.revision
        return LinkResolver.of(
            self.pages, revision.files if revision else (), revision.reusable_contents if revision else ()
        )

    @cached_property
    def _files(self) -> dict[str, RevisionFile]:
        """Files by id, and by download address without the signature."""
        files = self.revision.files if self.revision else ()
        by_address = {_unsigned(file.download_url): file for file in files if file.download_url}
        return {**by_address, **{file.id: file for file in files}}

    def file(self, address: str, source: str) -> RevisionFile | None:
        """Return the file to which an address refers in a page; None if there is none. `source` is the page's path."""
        if by_id := file_by_id(address):
            return self._files.get(by_id[1])
        found = self.resolver.resolve(address, source)
        if found.kind == "web":
            return self._files.get(_unsigned(address))
        return self._files.get(found.id) if found.kind == "file" else None


class RevisionReferences:
    """The references of a text in a revision.

    Args:
        pictures: reads and draws images, and redraws the text when content has loaded.
        place: the place of the content.
        revision: the content.
        source: the source path of the text, to which its links are relative.
        variables: the variables of the page.
    """

    def __init__(
        self,
        pictures: PagePictures,
        place: FilePlace,
        revision: Revision,
        source: str,
        *,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        self._place, self._source, self._pictures = place, source, pictures
        self._links, self._variables = SpaceLinks(revision.pages, revision), variables
        self._texts = IncludedTexts(pictures.screen, self._texts_changed)
        self._markdown = ""

    def load(self, markdown: str) -> None:
        """Read the reusable content that a text includes."""
        self._markdown = markdown
        if INCLUDE in markdown:
            self._texts.load(markdown, self._piece)

    def _texts_changed(self) -> None:
        self.load(self._markdown)
        self._pictures.on_change()

    def target(self, address: str) -> LinkTarget | None:
        """Return the target of a link to a page, or a broken target; None for other links."""
        if address.startswith("#"):
            return None
        page = on_page(address)
        if address.startswith("/~"):
            if file_by_id(address):
                return None if self._links.file(address, "") else LinkTarget(is_broken=True)
            is_here = page and page[1] in (None, self._place.space)
            return page_target(self._links.titles.get(page[2])) if page and is_here else None
        found = self._links.resolver.resolve(address, self._source)
        if found.kind == "page":
            return LinkTarget(self._links.titles.get(found.id, ""))
        return LinkTarget(is_broken=True) if found.kind == "broken" else None

    def included(self, address: str) -> Included | None:
        """Return the reusable content at an address. If it cannot be shown, the result has a note with the reason."""
        return self._texts.included(address, self._piece) or Included("", note=NOT_THERE)

    def _piece(self, address: str) -> Piece | None:
        found = self._links.resolver.resolve(address, self._source)
        piece = self._links.pieces.get(found.id) or self._links.pieces.get(address.rpartition("/")[2])
        return Piece(self._place.space, piece) if piece else None

    def variable(self, expression: str) -> str | None:
        """Return the value of a variable of the space or the page; None if there is none."""
        revision = self._links.revision
        return value_of(expression, revision.variables if revision else None, self._variables)

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Return None: a revision does not include API descriptions."""
        return None

    def shows(self, condition: str) -> bool | None:
        """Return None: authors see content with any condition."""
        return None

    def picture(self, address: str, columns: int) -> Picture | None:
        """Return the picture of an image, or a note why it is not drawn; None if only the caption is shown."""
        return self._pictures.picture(self._place, self._links.file(address, self._source), address, columns)

    def component(self, tag: str, columns: int) -> list[Line] | None:
        """Return None: an integration would render the current state of its block, not the state in the revision."""
        return None


def page_target(title: str | None) -> LinkTarget:
    """Return the target of a link to a page with this title; broken if the title is None."""
    return LinkTarget(title) if title is not None else LinkTarget(is_broken=True)


def value_of(expression: str, of_space: Mapping[str, Any] | None, of_page: Mapping[str, Any] | None) -> str | None:
    """Return the value of a variable as text; None if there is none."""
    match = _variable(expression.strip())
    values = of_space if match and match[1] == "space" else of_page
    value = (values or {}).get(match[2]) if match else None
    return str(value) if isinstance(value, str | int | float) else None


def _unsigned(address: str) -> str:
    return address.partition("#")[0].partition("?")[0]
