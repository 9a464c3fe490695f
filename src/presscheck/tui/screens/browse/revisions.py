"""The revisions of a space or change request with their changes, and pages as they were in a revision."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import GetRevision, ListRevisionFiles
from presscheck.api.content_changes import EditChangeRequestContent, GetRevisionChanges, RevertPage
from presscheck.api.operation import ALL
from presscheck.api.spaces import GetSpace
from presscheck.documents.markdown.links import source_path
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NO_REFERENCES
from presscheck.engine.review.revert import plan_return
from presscheck.engine.review.revision_history import revisions
from presscheck.engine.shared_calls import page_in
from presscheck.engine.writes.page_merge import editors_of
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count, now, since, size_of
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.commands import key_for
from presscheck.tui.screens.browse.page_references import refers_to_content
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.references.file_contents import FilePlace
from presscheck.tui.screens.references.page_pictures import PagePictures
from presscheck.tui.screens.references.revision_references import RevisionReferences
from presscheck.tui.screens.revert_actions import make_revert
from presscheck.tui.screens.revision_lines import change_lines, revision_head
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, Contributor
    from presscheck.api.content import RevisionPage
    from presscheck.api.content_changes import ChangedPage, SemanticChange
    from presscheck.api.spaces import Space
    from presscheck.documents.terminal.references import References
    from presscheck.engine.review.revision_history import Step
    from presscheck.tui.screens.browse.session import ContentTree

CHUNK = 20
"""Number of revisions that are read at a time."""


class RevisionActions:
    """The command that lists the revisions of a space.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    def reason_history(self) -> str | None:
        """Return why no revisions can be listed: there is no space, or the service cannot list changes."""
        item = self._session.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        return self._screen.engine.missing_reason(GetRevisionChanges)

    def command_history(self) -> None:
        """List the revisions of the space, or of the change request in which it is shown."""
        item = self._session.item
        if item and item.space:
            request = self._session.library.requests.get(item.space.id)
            self._screen.app_context.push_screen(RevisionListScreen(item.space, request))


class _Row(NamedTuple):
    """A row of the list: a revision, or a change in it."""

    line: Line
    revision: str
    created_at: str
    change: SemanticChange | None = None


class RevisionListScreen(BaseScreen):
    """The revisions of a space or change request, newest first, each followed by its changes.

    Args:
        space: the space.
        request: the change request; None for main. In a change request, the last row leads to the revisions of main.
    """

    DEFAULT_CSS = "RevisionListScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "revert", "go_links", "find_here", "refresh", "close")

    def __init__(self, space: Space, request: ChangeRequest | None = None) -> None:
        super().__init__()
        self._space, self._request = space, request
        self._rows: list[_Row] = []
        self._steps: AsyncIterator[Step] | None = None
        self._contributors: Sequence[Contributor] = ()
        self._is_complete = False

    @override
    def title_line(self) -> Line:
        title = Span(sanitize(self._space.title), "title")
        if self._request is None:
            return (Span(" Revisions of ", "quiet"), title)
        return (
            Span(" Revisions of ", "quiet"),
            Span(f"{self._request_title} ", "accent strong"),
            Span("› ", "quiet"),
            title,
        )

    @property
    def _request_title(self) -> str:
        """The number and subject of the change request, as display text."""
        request = self._request
        return f"#{request.number} {sanitize(request.subject) or '(no subject)'}" if request else ""

    @override
    def body(self) -> ComposeResult:
        yield EmptyState()
        yield RowList(self._row, is_heading=self._is_heading)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).focus()
        self.command_refresh()

    @override
    def command_refresh(self) -> None:
        self._rows, self._steps, self._is_complete = [], None, False
        self._explain()
        self.run(self._read, group="revisions", exclusive=True)

    def command_open(self) -> None:
        """Open the page as it was in the revision.

        On the last row, load older revisions or, if all are loaded, list the revisions of main.
        """
        at = self.query_one(RowList).cursor
        if at == len(self._rows) and not self._is_complete:
            self.run(self._read, group="revisions", exclusive=True)
            return
        if at == len(self._rows) and self._request:
            self.app_context.push_screen(RevisionListScreen(self._space))
            return
        row = self._rows[at] if at < len(self._rows) else None
        page = row.change.page if row and row.change else None
        if row is None or row.change is None or page is None:
            self.notify("no page here: go to the line of a page")
        elif row.change.type == "page_deleted":
            self.notify("this revision deleted the page: an older one has it")
        elif page.type not in ("document", "computed"):
            self.notify("this has no text")
        else:
            self.app_context.push_screen(PageAsItWas(self._space, row.revision, row.created_at, page, self._request))

    def reason_revert(self) -> str | None:
        """Return why the row cannot be brought back. In a change request, only single pages can be brought back."""
        at = self.query_one(RowList).cursor
        if at >= len(self._rows):
            return "go to a revision first"
        change = self._rows[at].change
        if self._request and (change is None or change.page is None or change.type == "page_deleted"):
            return "go to the line of a page: in a change request, single pages are brought back"
        return _write_reason(self, self._request)

    def command_revert(self) -> Awaitable[None]:
        """Bring back the page or all pages in a new change request.

        On a revision of a change request, bring back the page in the same change request.
        """
        # the row is read now: until the first response arrives, the cursor may move or the rows may be reloaded
        return self._bring_back_row(self._rows[self.query_one(RowList).cursor])

    async def _bring_back_row(self, row: _Row) -> None:
        """Ask whether to bring back the page or all pages; in a change request, bring back the page of the row."""
        if await stays_locked(self, self._space.id):
            return
        page = row.change.page if row.change and row.change.type != "page_deleted" else None
        if self._request and page:
            if await _bring_back_in(self, self._request, row.revision, row.created_at, page):
                self.command_refresh()
            return
        choices = [Choice("page", sanitize(page.title) or "(no title)", "this page only", letter="p")] if page else []
        choices.append(Choice("all", f"All pages of {sanitize(self._space.title)}", "as they were then", letter="a"))
        chosen = await choose(self, "Bring back as of this revision", choices)
        if chosen:
            one = page if chosen == "page" else None
            await _bring_back(self, self._space, row.revision, row.created_at, one)

    def reason_go_links(self) -> str | None:
        """Return why no files can be listed: no revision is under the cursor."""
        at = self.query_one(RowList).cursor
        return None if at < len(self._rows) else "no revision here"

    async def command_go_links(self) -> None:
        """List the files of the space in the revision under the cursor, and open one of them."""
        row = self._rows[self.query_one(RowList).cursor]
        call = ListRevisionFiles(space_id=self._space.id, revision_id=row.revision, limit=ALL)
        files = (await self.engine.read(call)).items
        choices = [
            Choice(file.id, sanitize(file.name) or "(no name)", f"{size_of(file.size)} {sanitize(file.content_type)}")
            for file in files
        ]
        when = since(row.created_at, now()) if row.created_at else "earlier"
        title = f"{count(len(files), 'file')} {when}: {key_for('open')} opens one in the browser"
        chosen = await choose(self, title, choices, empty_text="no file")
        address = next((file.download_url for file in files if file.id == chosen), "")
        if address:
            open_address(self.app_context, address)

    async def _read(self) -> None:
        """Read the next revisions, and show each as soon as it is read."""
        try:
            if self._steps is None:
                self._steps = await self._newest()
            for _ in range(CHUNK):
                step = await anext(self._steps, None)
                if step is None:
                    self._is_complete = True
                    break
                self._rows += _rows_of(step, now(), self._contributors)
                self._show()
        except PresscheckError as error:
            self._steps, self._is_complete = None, True
            if not self._rows:
                self._explain(error)
                return
            self.app_context.show_error(error)
        self._show()

    def _explain(self, error: PresscheckError | None = None) -> None:
        """Show why there are no revisions."""
        loaded = Loaded[object](None, error)
        message = message_for(loaded, "revisions", " of this space", online=self.engine.status.online)
        self.query_one(EmptyState).show_message(message)

    async def _newest(self) -> AsyncIterator[Step]:
        """Return an iterator over the revisions of the space or change request, newest first."""
        space, request = self._space.id, self._request
        if request is None:
            return revisions(self.engine, space, (await self.engine.read(GetSpace(space_id=space))).revision)
        call = GetChangeRequest(space_id=space, change_request_id=request.id)
        request, self._contributors = await self.engine.read(call), await editors_of(self.engine.read, call)
        return revisions(self.engine, space, request.revision, request.revision_initial)

    def _show(self) -> None:
        rows = self.query_one(RowList)
        if self._rows or self._request:
            self.query_one(EmptyState).hide()
        else:
            self.query_one(EmptyState).show_empty("No revisions.", "This space has no content yet.")
        rows.show(len(self._rows) + (not self._is_complete or self._request is not None), cursor=rows.cursor)

    def _row(self, at: int, columns: int) -> Line:
        if at >= len(self._rows) and self._is_complete:
            began = "it began here" if self._rows else "it changes nothing yet"
            return (Span(f"   {began}: {key_for('open')} lists the revisions of main", "quiet"),)
        if at >= len(self._rows):
            return (Span(f"   older revisions: {key_for('open')} reads them", "quiet"),)
        return cut(self._rows[at].line, columns)

    def _is_heading(self, at: int) -> bool:
        return at < len(self._rows) and self._rows[at].change is None


class PageAsItWas(BaseScreen):
    """A page as it was in a revision.

    Args:
        space: the space of the page.
        revision: the id of the revision.
        created_at: the time of the revision.
        page: the page.
        request: the change request of the revision, in which the page is brought back; None for main.
    """

    DEFAULT_CSS = "PageAsItWas PageView { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("half_down", "revert", "find_here", "copy_text", "close")

    def __init__(
        self, space: Space, revision: str, created_at: str, page: ChangedPage, request: ChangeRequest | None = None
    ) -> None:
        super().__init__()
        self._space, self._revision, self._created_at, self._page = space, revision, created_at, page
        self._request = request
        self._markdown = ""
        self._references: References = NO_REFERENCES
        self._pictures = PagePictures(self, lambda: self.query_one(PageView).size.height, self._draw_again)

    @override
    def title_line(self) -> Line:
        when = since(self._created_at, now()) if self._created_at else "earlier"
        name = f"{sanitize(self._space.title)} › {sanitize(self._page.title)}"
        return (Span(f" {name}", "title"), Span(f"   as it was {when}", "waiting"))

    @override
    def body(self) -> ComposeResult:
        yield EmptyState()
        yield PageView()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(PageView).focus()
        self.command_refresh()

    @override
    def command_refresh(self) -> None:
        self._explain()
        self.run(self._read, group="page", exclusive=True)

    def reason_revert(self) -> str | None:
        """Return why the page cannot be reverted: the change request has ended, or edits cannot be sent."""
        return _write_reason(self, self._request)

    async def command_revert(self) -> None:
        """Bring the page back in its change request or, for a revision of main, in a new change request."""
        if await stays_locked(self, self._space.id):
            return
        if self._request:
            await _bring_back_in(self, self._request, self._revision, self._created_at, self._page)
            return
        await _bring_back(self, self._space, self._revision, self._created_at, self._page)

    def command_copy_text(self) -> None:
        """Copy the Markdown of the page as it was."""
        self.app_context.copy_to_clipboard(self._markdown)
        self.notify("copied the Markdown of the page")

    @on(PageView.PicturesNear)
    def pictures_near(self, event: PageView.PicturesNear) -> None:
        """Load the pictures that are visible or close to the visible lines."""
        self._pictures.load(event.names)

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Open a web address. Links between pages can only be followed in the browse screen."""
        if is_safe_url(event.target):
            open_address(self.app_context, event.target)
        else:
            self.notify("links between pages are followed in Browse, in the page as it is now")

    async def _read(self) -> None:
        try:
            call = page_in(self._space.id, self._revision, self._page.id)
            known = self.engine.known(call)  # a revision never changes
            page = known.value if known else await self.engine.read(call)
        except PresscheckError as error:
            self._explain(error)
            return
        self.query_one(EmptyState).hide()
        self._markdown = page.markdown or ""
        self.query_one(PageView).show(self._lay_out)
        if refers_to_content(self._markdown):
            self.run(self._read_content(page), group="content", exclusive=True)

    def _explain(self, error: PresscheckError | None = None) -> None:
        """Show why there is no page."""
        loaded = Loaded[object](None, error)
        self.query_one(EmptyState).show_message(
            message_for(loaded, "page", online=self.engine.status.online, verb="is")
        )

    async def _read_content(self, page: RevisionPage) -> None:
        """Read the content of the revision, and draw images, reusable content and titles of pages from it."""
        content = await self.engine.read(GetRevision(space_id=self._space.id, revision_id=self._revision))
        place = FilePlace(self._space.id, revision=self._revision)
        references = RevisionReferences(self._pictures, place, content, source_path(page), variables=page.variables)
        self._references = references
        references.load(self._markdown)
        self._draw_again()

    def _draw_again(self) -> None:
        """Redraw the page with the references loaded so far; the text being read keeps its position."""
        self.query_one(PageView).show_again(self._lay_out)

    def _lay_out(self, columns: int) -> PageLines:
        widest = min(columns, self.app_context.profile.text_width)
        return PageLines(self._markdown, widest, title=self._page.title, references=self._references)


async def _bring_back(
    screen: BaseScreen, space: Space, revision: str, created_at: str, page: ChangedPage | None
) -> None:
    """Create a change request that brings back a page or all pages from a revision of main, after a confirmation."""
    screen.notify("comparing with main …")
    when = since(created_at, now()) if created_at else "an earlier revision"
    plan = await plan_return(screen.engine, space.id, revision, when, page.id if page else "")
    what = sanitize(page.title) if page else f"all pages of {sanitize(space.title)}"
    await make_revert(screen, f"Bring back {what} as of {when}?", space.id, plan)


async def _bring_back_in(
    screen: BaseScreen, request: ChangeRequest, revision: str, created_at: str, page: ChangedPage
) -> bool:
    """Bring back a page from a revision of its change request, after a confirmation. Returns False if canceled."""
    when = since(created_at, now()) if created_at else "an earlier revision"
    title, subject = sanitize(page.title) or "(no title)", sanitize(request.subject) or "(no subject)"
    lines: list[Line] = [
        (Span(f"In #{request.number} {subject}, as a new revision."),),
        (Span("Later edits of the page in this change request are replaced."),),
    ]
    if not await confirm(screen, f"Bring back {title} as of {when}?", lines, "Bring back"):
        return False
    change = RevertPage(page=page.id, revision=revision)
    call = EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=(change,))
    await screen.engine.write(call).landed()
    screen.notify(f"brought back {title} in #{request.number}")
    return True


def _write_reason(screen: BaseScreen, request: ChangeRequest | None) -> str | None:
    """Return why no page can be brought back: the change request has ended, or edits cannot be sent."""
    if request and request.status in ("merged", "archived"):
        return f"the change request is {sanitize(request.status)}"
    return screen.engine.write_reason(EditChangeRequestContent)


def _rows_of(step: Step, moment: datetime, contributors: Sequence[Contributor]) -> list[_Row]:
    """Return a row for a revision and a row for each of its changes."""
    revision, changes = step.revision, step.changes
    created_at = revision.created_at or ""
    rows = [_Row(revision_head(revision, moment, contributors), revision.id, created_at)]
    lines = change_lines(changes.changes)
    rows += [_Row(line, revision.id, created_at, change) for line, change in zip(lines, changes.changes, strict=True)]
    if changes.more:
        rows.append(_Row((Span(f"   and {changes.more} more", "quiet"),), revision.id, created_at))
    elif not changes.changes:
        rows.append(_Row((Span("   no visible changes", "quiet"),), revision.id, created_at))
    return rows
