"""A page as the visitors of an audience see it, without the content that conditions hide from them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.content import RevisionPage
from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NoReferences
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.documents.visitors.conditions import Path, judge
from presscheck.engine.shared_calls import live_page
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.sites.adaptive.audience_dialog import claims_text
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.engine.publish.audiences import AdaptivePlace, Audience
    from presscheck.engine.results import Result


WIDEST = 96
"""Maximum width of readable text in cells."""


class VisitorReferences(NoReferences):
    """References for drawing a page, which evaluate its conditions for the visitors of an audience.

    Args:
        audience: the audience.
        known: the claims of the schema; None if the schema is not loaded.
        is_on: whether the site has adaptive content. If not, conditions do not apply.
    """

    def __init__(self, audience: Audience, known: Collection[Path] | None, *, is_on: bool = True) -> None:
        self._audience, self._known, self._is_on = audience, known, is_on

    @override
    def shows(self, condition: str) -> bool | None:
        """Return whether the visitors meet a condition.

        None means unknown, so the block is drawn with its condition.
        """
        if self._audience.problem:
            return None
        return not self._is_on or judge(condition, self._audience.claims, self._known).holds


class VisitorPage(BaseScreen):
    """A page as the visitors of an audience see it.

    Args:
        place: the page.
        audience: the audience.
        known: the claims of the schema; None if the schema is not loaded.
        is_on: whether the site has adaptive content. If not, conditions do not apply.
        doubt: why it is unknown whether the visitors see the page; empty if they see it.
    """

    SCOPE = "site"
    FOOTER = ("down", "half_down", "find_here", "open_all", "close")
    DEFAULT_CSS = """
    VisitorPage #visitor { margin-top: 1; }
    VisitorPage PageView { margin: 1 0 0 1; }
    """

    def __init__(
        self,
        place: AdaptivePlace,
        audience: Audience,
        known: Collection[Path] | None,
        *,
        is_on: bool = True,
        doubt: str = "",
    ) -> None:
        super().__init__()
        self._place, self._audience, self._doubt = place, audience, doubt
        self._references = VisitorReferences(audience, known, is_on=is_on)
        self._loaded = Loaded[RevisionPage]()
        self._text: str | None = None

    @override
    def title_line(self) -> Line:
        title = visible_words(self._place.title, self._references.shows)
        return (Span(" View as › ", "quiet"), Span(sanitize(title), "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="visitor")
        with Vertical():
            yield EmptyState()
            yield PageView()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        claims = claims_text(self._audience)
        name = sanitize(self._audience.name)
        doubt = f"  ? it cannot be told whether they see this page: {self._doubt}" if self._doubt else ""
        about = Span(sanitize(doubt), "waiting") if doubt else Span(f"  {sanitize(claims)}", "quiet")
        self.query_one("#visitor", StatusLine).show((Span(" As ", "quiet"), Span(name, "accent strong"), about))
        self.query_one(PageView).display = False
        self.draw()
        call = live_page(self._place.space_id, self._place.page_id)
        self.subscribe(self.engine.watch(call), self._take_page, group="page", shows_errors=False)

    def _take_page(self, result: Result[RevisionPage | None]) -> None:
        self._loaded = self._loaded.after(result)
        self.draw()

    @override
    def draw(self) -> None:
        view, empty = self.query_one(PageView), self.query_one(EmptyState)
        page = self._loaded.value
        if page is None:
            empty.show_message(message_for(self._loaded, "page", online=self.engine.status.online, verb="is"))
            return
        if page.markdown == self._text:
            return
        self._text = page.markdown
        shows = self._references.shows
        text, title = visible_text(page.markdown or "", shows), visible_words(page.title, shows)
        empty.hide()
        view.display = True
        controls = Controls()
        view.show(
            lambda columns: PageLines(
                text, min(columns, WIDEST), title=title, references=self._references, controls=controls
            ),
            line=0,
        )
        view.focus()

    def command_open_all(self) -> None:
        """Expand all tabs, expandables and tables, or collapse them again."""
        view = self.query_one(PageView)
        view.show_all(shows_all=not (view.controls and view.controls.shows_all))
