"""What a text of a revision refers to: titles of pages, files, reusable content, variables, pictures."""

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
    from presscheck.tui.screens.references.file_contents import FilePlace
    from presscheck.tui.screens.references.page_pictures import PagePictures

NOT_THERE = "The space had no such reusable content then."
INCLUDE = "include"
"""What stands only in texts that may include reusable content."""
on_page = re.compile(r"/~(?:/spaces/([\w-]+))?/pages/([\w-]+)").match
file_by_id = re.compile(r"/~/files/([\w-]+)").fullmatch
_variable = re.compile(r"(space|page)\.vars\.([\w-]+)").fullmatch


class SpaceLinks:
    """The pages of a space and, where its content is loaded, its files and reusable content.

    The titles and the resolver are made when a link is drawn, once for all pages of the space.

    Args:
        pages: the tree of pages.
        revision: the content; None until it is loaded.
    """

    def __init__(self, pages: tuple[RevisionPage, ...], revision: Revision | None) -> None:
        self.pages, self.revision = pages, revision

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of pages, by their ids."""
        return {page.id: page.title for page in flatten(self.pages)}

    @cached_property
    def pieces(self) -> dict[str, ReusableContent]:
        """The reusable content, by its ids."""
        return {piece.id: piece for piece in self.revision.reusable_contents} if self.revision else {}

    @cached_property
    def resolver(self) -> LinkResolver:
        """Resolves links between pages, and to files and reusable content."""
        revision = self.revision
        return LinkResolver.of(
            self.pages, revision.files if revision else (), revision.reusable_contents if revision else ()
        )

    @cached_property
    def _files(self) -> dict[str, RevisionFile]:
        """The files by their ids, and by the addresses that the service gives for them, without what signs these."""
        files = self.revision.files if self.revision else ()
        by_address = {_unsigned(file.download_url): file for file in files if file.download_url}
        return {**by_address, **{file.id: file for file in files}}

    def file(self, address: str, source: str) -> RevisionFile | None:
        """The file of the space that an address leads to, from the page with a source path; None if it is none."""
        if by_id := file_by_id(address):
            return self._files.get(by_id[1])
        found = self.resolver.resolve(address, source)
        if found.kind == "web":
            return self._files.get(_unsigned(address))
        return self._files.get(found.id) if found.kind == "file" else None


class RevisionReferences:
    """What a text refers to in one revision: titles of pages, reusable content, variables, pictures.

    Args:
        pictures: reads and draws the images; draws the text again when more is known.
        place: where the content is.
        revision: the content.
        source: the source path of the text, from which its links lead.
        variables: those of the page.
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

    def want(self, markdown: str) -> None:
        """Read the reusable content that a text includes."""
        self._markdown = markdown
        if INCLUDE in markdown:
            self._texts.want(markdown, self._piece)

    def _texts_changed(self) -> None:
        self.want(self._markdown)
        self._pictures.on_change()

    def target(self, address: str) -> LinkTarget | None:
        """What a link to a page leads to, and whether a link is broken."""
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
        """The reusable content that an address names, with its text, or with why that is not shown."""
        return self._texts.included(address, self._piece) or Included("", note=NOT_THERE)

    def _piece(self, address: str) -> Piece | None:
        found = self._links.resolver.resolve(address, self._source)
        piece = self._links.pieces.get(found.id) or self._links.pieces.get(address.rpartition("/")[2])
        return Piece(self._place.space, piece) if piece else None

    def variable(self, expression: str) -> str | None:
        """The value of a variable of the space or the page."""
        revision = self._links.revision
        return value_of(expression, revision.variables if revision else None, self._variables)

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """None: a revision does not have the API descriptions of its time."""
        return None

    def shows(self, condition: str) -> bool | None:
        """None: the text is shown to its authors, with all conditions."""
        return None

    def picture(self, address: str, columns: int) -> Picture | None:
        """The picture for an image: of a file of the revision, else a note."""
        return self._pictures.picture(self._place, self._links.file(address, self._source), address, columns)


def page_target(title: str | None) -> LinkTarget:
    """The target of a link to a page with a title; broken without a page."""
    return LinkTarget(title) if title is not None else LinkTarget(is_broken=True)


def value_of(expression: str, of_space: Mapping[str, Any] | None, of_page: Mapping[str, Any] | None) -> str | None:
    """The value of a variable, as text; None if there is none."""
    match = _variable(expression.strip())
    values = of_space if match and match[1] == "space" else of_page
    value = (values or {}).get(match[2]) if match else None
    return str(value) if isinstance(value, str | int | float) else None


def _unsigned(address: str) -> str:
    return address.partition("#")[0].partition("?")[0]
