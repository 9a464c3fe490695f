"""The tab of reusable content: its pieces, the pages that include them, and their texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.content import GetChangeRequestReusableContent, GetDocument, GetReusableContent, ReusableContent
from presscheck.api.links import ContentLocation
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NO_REFERENCES
from presscheck.text.phrases import count
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.admin.details import fact_lines
from presscheck.tui.screens.admin.facts import facts
from presscheck.tui.screens.references.file_contents import FilePlace
from presscheck.tui.screens.references.included_texts import INVALID, document_markdown
from presscheck.tui.screens.references.page_pictures import PagePictures
from presscheck.tui.screens.references.revision_references import RevisionReferences
from presscheck.tui.screens.space_content.content_list import ContentList
from presscheck.tui.screens.space_content.session import pages_by_title
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import Column
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.documents.terminal.references import References
    from presscheck.tui.screens.space_content.session import SpaceContent

USED_COLUMNS = 12


class ReusableText(BaseScreen):
    """The text of a piece of reusable content.

    Args:
        session: the content of the space.
        piece: the reusable content.
        markdown: the text.
    """

    DEFAULT_CSS = "ReusableText PageView { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("half_down", "labels", "find_here", "copy_text", "close")

    def __init__(self, session: SpaceContent, piece: ReusableContent, markdown: str) -> None:
        super().__init__()
        self._session, self._piece, self._markdown = session, piece, markdown
        self._pictures = PagePictures(self, lambda: self.query_one(PageView).size.height, self._draw_again)
        self._references: References = NO_REFERENCES

    @override
    def title_line(self) -> Line:
        title = sanitize(self._piece.title) or "(no title)"
        return (Span(f" {self._session.space_title} › {title}", "title"), Span("   reusable content", "quiet"))

    @override
    def body(self) -> ComposeResult:
        yield PageView()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        view = self.query_one(PageView)
        view.focus()
        if revision := self._session.revision.value:
            source = self._piece.git.path if self._piece.git else ""
            place = FilePlace(self._session.space_id, self._session.change_request_id or "")
            references = RevisionReferences(self._pictures, place, revision, source)
            self._references = references
            references.load(self._markdown)
        view.show(self._lay_out)

    def command_copy_text(self) -> None:
        """Copy the Markdown of the text."""
        self.app_context.copy_to_clipboard(self._markdown)
        self.notify("copied the Markdown")

    @on(PageView.PicturesNear)
    def pictures_near(self, event: PageView.PicturesNear) -> None:
        """Load the pictures that are visible or close to the visible lines."""
        self._pictures.load(event.names)

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Open a web address. Links between pages can only be followed in pages that include the text."""
        if is_safe_url(event.target):
            open_address(self.app_context, event.target)
        else:
            self.notify("links between pages are followed in a page that includes this text")

    def _draw_again(self) -> None:
        """Redraw the text with the references loaded so far; the text being read keeps its position."""
        self.query_one(PageView).show_again(self._lay_out)

    def _lay_out(self, columns: int) -> PageLines:
        widest = min(columns, self.app_context.profile.text_width)
        return PageLines(self._markdown, widest, title=self._piece.title, references=self._references)


class ReusableList(ContentList[ReusableContent]):
    """The list of reusable content.

    Args:
        session: the content of the space.
    """

    name, nouns = "Reusable content", "reusable content"
    footer = ("open", "web", "copy_text", "find_here", "refresh", "close")

    def __init__(self, session: SpaceContent) -> None:
        title = Column[ReusableContent]("title", lambda piece: (Span(_title_of(piece), "strong"),))
        file = Column[ReusableContent](
            "file", lambda piece: (Span(sanitize(piece.git.path if piece.git else ""), "quiet"),)
        )
        super().__init__(session, (title, file, Column("used on", self._used, USED_COLUMNS)))

    @override
    @property
    def loaded(self) -> Loaded[Sequence[ReusableContent]]:
        return self.session.revision.map(lambda revision: revision.reusable_contents)

    @override
    def summary(self) -> Line:
        if not self.total:
            return ()
        enter, web = key_for("open"), key_for("web")
        return (Span(f"{enter} reads it, or lists its pages; {web} opens the app, which can edit it", "quiet"),)

    @override
    def empty(self) -> Message:
        return Message("No reusable content in this space.")

    def _used(self, piece: ReusableContent) -> Line:
        return self.session.used_on(len(self.session.pages_with_reusable(piece)))

    def reason_edit(self) -> str | None:
        """Return why reusable content cannot be edited: the API has no operation that edits it."""
        return f"the API cannot edit reusable content: {key_for('web')} opens the space in the app"

    reason_edit_other = reason_edit

    @override
    def text(self, item: ReusableContent) -> str:
        return f'{{% include "/{item.git.path}" %}}' if item.git else ""

    @override
    def command_web(self) -> None:
        """Open the space or change request in the web app, where reusable content can be edited."""
        if address := self.session.app_address:
            open_address(self.session.screen.app_context, address)
        else:
            self.session.screen.notify("this space has no web address")

    async def command_open(self) -> None:
        """Show the text of the piece, the pages that include the piece, or its details, as the user chooses."""
        piece, session = self.current, self.session
        if piece is None:
            return
        pages = pages_by_title(session.pages_with_reusable(piece))
        choices = [
            *([Choice("read", "Read", "its text")] if piece.document else []),
            Choice("used", "Where used", count(len(pages), "page")),
            Choice("facts", "Details", "from the service"),
        ]
        chosen = await choose(session.screen, _title_of(piece), choices, ranked=True)
        if chosen == "facts":
            await self._show_facts(piece)
        elif chosen == "read" and piece.document:
            await self._read(piece, piece.document)
        elif chosen == "used":
            target = ContentLocation(kind="reusable-content", reusable_content=piece)
            await session.show_uses(sanitize(piece.title), pages, target)

    async def _read(self, piece: ReusableContent, document: str) -> None:
        screen = self.session.screen
        call = GetDocument(space_id=self.session.space_id, document_id=document)
        text = await asyncio.to_thread(document_markdown, await screen.engine.read(call))
        if text is None:
            screen.notify(INVALID)
            return
        screen.app_context.push_screen(ReusableText(self.session, piece, text))

    async def _show_facts(self, piece: ReusableContent) -> None:
        """Show the current details of a piece from the service."""
        session, screen = self.session, self.session.screen
        request = session.change_request_id
        path: dict[str, Any] = {"space_id": session.space_id, "reusable_content_id": piece.id}
        call: Operation[ReusableContent] = (
            GetChangeRequestReusableContent(**path, change_request_id=request)
            if request
            else GetReusableContent(**path)
        )
        known = await screen.engine.read(call)
        columns = max(20, screen.size.width)
        used = [sanitize(page.title) for page in pages_by_title(session.pages_with_reusable(piece))]
        label = Span("  Pages with it: ", "quiet")
        lines: list[Line] = [(), *fact_lines(facts(known), columns), ()]
        lines += wrap([label, Span(", ".join(used) or "none that is known")], columns)
        screen.app_context.push_screen(TextScreen(_title_of(known), lines))


def _title_of(piece: ReusableContent) -> str:
    return sanitize(piece.title) or "(no title)"
