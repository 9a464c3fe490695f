"""The tab of reusable content: pieces that pages include, which pages these are, and the text as pages show it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.content import GetChangeRequestReusableContent, GetDocument, GetReusableContent
from presscheck.api.links import ContentLocation
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NO_REFERENCES
from presscheck.text.phrases import count
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, wrap
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.admin.details import fact_lines
from presscheck.tui.screens.admin.facts import facts
from presscheck.tui.screens.references.file_contents import FilePlace
from presscheck.tui.screens.references.included_texts import INVALID, document_markdown
from presscheck.tui.screens.references.page_pictures import PagePictures
from presscheck.tui.screens.references.revision_references import RevisionReferences
from presscheck.tui.screens.space_content.loader import pages_by_title
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.content import ReusableContent
    from presscheck.api.operation import Operation
    from presscheck.documents.terminal.references import References
    from presscheck.tui.screens.space_content.context import SpaceContentContext
    from presscheck.tui.screens.space_content.model import SpaceContent

USED_COLUMNS = 12


class ReusableText(BaseScreen):
    """The text of a piece of reusable content.

    Args:
        model: the content of its space.
        piece: the piece.
        markdown: its text.
    """

    DEFAULT_CSS = "ReusableText PageView { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("half_down", "labels", "find_here", "copy_text", "close")

    def __init__(self, model: SpaceContent, piece: ReusableContent, markdown: str) -> None:
        super().__init__()
        self._piece, self._markdown = piece, markdown
        self._space_title = model.space_title
        self._pictures = PagePictures(self, lambda: self.query_one(PageView).size.height, self._draw_again)
        self._references: References = NO_REFERENCES
        self._model = model

    @override
    def title_line(self) -> Line:
        title = sanitize(self._piece.title) or "(no title)"
        return (Span(f" {self._space_title} › {title}", "title"), Span("   reusable content", "quiet"))

    @override
    def body(self) -> ComposeResult:
        yield PageView()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        view = self.query_one(PageView)
        view.focus()
        if self._model.revision:
            source = self._piece.git.path if self._piece.git else ""
            place = FilePlace(self._model.space_id, self._model.change_request_id or "")
            references = RevisionReferences(self._pictures, place, self._model.revision, source)
            self._references = references
            references.want(self._markdown)
        view.show(self._lay_out)

    def command_copy_text(self) -> None:
        """Copy the Markdown of the text."""
        self.app_context.copy_to_clipboard(self._markdown)
        self.notify("copied the Markdown")

    @on(PageView.PicturesNear)
    def pictures_near(self, event: PageView.PicturesNear) -> None:
        """Read the pictures that are visible, or soon will be."""
        self._pictures.load(event.names)

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Open an address; links between pages are followed in a page that includes the text."""
        if is_safe_url(event.target):
            open_address(self.app_context, event.target)
        else:
            self.notify("links between pages are followed in a page that includes this text")

    def _draw_again(self) -> None:
        """Draw the text with what is known now; what is read stays where it is."""
        self.query_one(PageView).show_again(self._lay_out)

    def _lay_out(self, columns: int) -> PageLines:
        widest = min(columns, self.app_context.profile.text_width)
        return PageLines(self._markdown, widest, title=self._piece.title, references=self._references)


class ReusableTab:
    """The reusable content.

    Args:
        screen: the screen of links and files.
    """

    name, noun = "Reusable content", "reusable content"
    footer = ("open", "web", "copy_text", "find_here", "refresh", "close")

    def __init__(self, screen: SpaceContentContext) -> None:
        self._screen = screen

    @property
    def pieces(self) -> tuple[ReusableContent, ...]:
        """The pieces."""
        return self._screen.model.reusable_contents

    @property
    def total(self) -> int | None:
        """How many there are."""
        return len(self.pieces) if self._screen.model.revision else None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.pieces)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.pieces[index].id if index < self.count else None

    def summary(self) -> Line:
        """What can be done with it."""
        if not self.pieces:
            return ()
        return (Span("enter reads it, or lists its pages; o opens the app, which can edit it", "quiet"),)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        return self._columns((Span("title", "quiet"),), (Span("file", "quiet"),), (Span("used on", "quiet"),), columns)

    def row(self, index: int, columns: int) -> Line:
        """Title, file and use."""
        piece = self.pieces[index]
        users = len(self._screen.model.pages_with_reusable(piece))
        used = (Span(count(users, "page")) if users else Span("no page", "waiting"),)
        return self._columns(
            (Span(sanitize(piece.title) or "(no title)", "strong"),),
            (Span(sanitize(piece.git.path) if piece.git else "", "quiet"),),
            used if self._screen.model.linked else (),
            columns,
        )

    def _columns(self, title: Line, file: Line, used: Line, columns: int) -> Line:
        room = max(8, columns - USED_COLUMNS)
        half = room // 2
        return (
            *pad(cut(title, half - 1), half),
            *pad(cut(file, room - half - 1), room - half),
            *cut(used, USED_COLUMNS),
        )

    def empty(self) -> tuple[str, str]:
        """Why nothing is listed."""
        return "No reusable content in this space.", ""

    def address(self, index: int) -> str:
        """None: the service gives no address for it."""
        return ""

    def open_web(self, index: int) -> None:
        """Open the space or the change request in the app, where reusable content is edited."""
        if address := self._screen.model.app_address:
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("this space has no web address")

    def text(self, index: int) -> str:
        """The tag that includes it in a page."""
        piece = self.pieces[index] if index < self.count else None
        return f'{{% include "/{piece.git.path}" %}}' if piece and piece.git else ""

    async def open(self, index: int) -> None:
        """Choose among its text, the pages that include it, and what the service knows of it."""
        piece = self.pieces[index]
        pages = pages_by_title(self._screen.model.pages_with_reusable(piece))
        name = sanitize(piece.title) or "(no title)"
        choices = [
            *([Choice("read", "Read", "its text")] if piece.document else []),
            Choice("used", "Where used", count(len(pages), "page")),
            Choice("facts", "Details", "from the service"),
        ]
        chosen = await self._screen.ask(Picker(name, choices))
        if chosen == ("facts",):
            await self._show_facts(piece)
        if chosen == ("read",) and piece.document:
            await self._read(piece, piece.document)
        if chosen != ("used",):
            return
        target = ContentLocation(kind="reusable-content", reusable_content=piece)
        await self._screen.show_uses(sanitize(piece.title), pages, target)

    async def _read(self, piece: ReusableContent, document: str) -> None:
        """Show the text of a piece."""
        call = GetDocument(space_id=self._screen.model.space_id, document_id=document)
        text = await asyncio.to_thread(document_markdown, await self._screen.engine.read(call))
        if text is None:
            self._screen.notify(INVALID)
            return
        self._screen.app_context.push_screen(ReusableText(self._screen.model, piece, text))

    async def _show_facts(self, piece: ReusableContent) -> None:
        """Show what the service knows of a piece now."""
        screen, model = self._screen, self._screen.model
        request = model.change_request_id
        path: dict[str, Any] = {"space_id": model.space_id, "reusable_content_id": piece.id}
        call: Operation[ReusableContent] = (
            GetChangeRequestReusableContent(**path, change_request_id=request)
            if request
            else GetReusableContent(**path)
        )
        known = await screen.engine.read(call)
        lines = fact_lines(facts(known), screen.columns)
        used = [sanitize(page.title) for page in pages_by_title(model.pages_with_reusable(piece))]
        label = Span("  Pages with it: ", "quiet")
        lines += [(), *wrap([label, Span(", ".join(used) or "none that is known")], screen.columns)]
        screen.app_context.push_screen(TextScreen(sanitize(known.title) or "(no title)", [(), *lines]))
