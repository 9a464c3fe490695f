"""The text of reusable content, as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NO_REFERENCES
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.browse.file_contents import FilePlace
from presscheck.tui.screens.browse.page_navigation import text_width
from presscheck.tui.screens.browse.page_pictures import PagePictures
from presscheck.tui.screens.browse.page_references import RevisionReferences
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView

if TYPE_CHECKING:
    from presscheck.api.content import ReusableContent
    from presscheck.documents.terminal.references import References
    from presscheck.tui.screens.space_content.model import SpaceContent


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

    def title_line(self) -> Line:
        """The space, and the title of the piece."""
        title = sanitize(self._piece.title) or "(no title)"
        return (Span(f" {self._space_title} › {title}", "title"), Span("   reusable content", "quiet"))

    def body(self) -> ComposeResult:
        """The text."""
        yield PageView(self.style_for)

    def on_mount(self) -> None:
        """Show the text, and read what it includes."""
        super().on_mount()
        view = self.query_one(PageView)
        view.focus()
        if self._model.revision:
            source = self._piece.git.path if self._piece.git else ""
            place = FilePlace(self._model.space_id, self._model.change_request_id or "")
            references = RevisionReferences(self, place, self._model.revision, source, self._pictures, self._draw_again)
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
        widest = min(columns, text_width(self.app_context.profile))
        return PageLines(self._markdown, widest, title=self._piece.title, references=self._references)
