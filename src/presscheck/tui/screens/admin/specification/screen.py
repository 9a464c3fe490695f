"""The screen of an OpenAPI specification: its state, and the operations and schemas of its latest version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.openapi import (
    GetLatestOpenAPISpecContent,
    GetLatestOpenAPISpecVersion,
    GetOpenAPISpec,
    OpenAPISpec,
    OpenAPISpecContent,
    OpenAPISpecVersion,
    PutOpenAPISpec,
)
from presscheck.api.spaces import ListSpaces
from presscheck.documents.terminal.openapi import Listed, contents, description_in, listed_lines
from presscheck.engine.forms.parts_form import PartsForm
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import NotFound, PresscheckError
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.operation_form import StoredForm, fill_in
from presscheck.tui.screens.admin.records.runs import status_line, writing_reason
from presscheck.tui.screens.admin.records.screen import POLL_SECONDS
from presscheck.tui.screens.admin.specification.version_comparison import VersionComparison
from presscheck.tui.screens.page.uses import choose_use
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.engine.results import Result

METHOD_STYLES = {"get": "link", "post": "added", "put": "waiting", "patch": "waiting", "delete": "removed"}
METHOD_COLUMNS, GROUP_COLUMNS = 9, 18
MOST_REASONS = 5
"""Maximum number of source errors that are shown in full."""
WIDE = 90
"""Minimum width in cells for the column of groups."""


class SpecificationScreen(BaseScreen):
    """The screen of a specification.

    Args:
        organization: the organization of the specification.
        specification: the specification as listed.
    """

    SCOPE = "admin"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "backlinks", "history", "edit", "find_here", "copy", "close")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {
        "backlinks": "where used",
        "history": "changes",
        "edit": "new source",
        "copy": "copy name",
    }
    DEFAULT_CSS = "SpecificationScreen #state { margin-top: 1; } SpecificationScreen RowList { margin-top: 1; }"

    def __init__(self, organization: Organization, specification: OpenAPISpec) -> None:
        super().__init__()
        self._organization, self.specification = organization, specification
        self._version: OpenAPISpecVersion | None = None
        self._comparison = VersionComparison(self, organization, specification)
        self._description: Mapping[str, Any] | None = None
        self._listed: list[Listed] = []
        self._shown: list[Listed] = []
        self._text = ""
        self._is_loaded = False
        self._error: PresscheckError | None = None

    @property
    def _path(self) -> dict[str, Any]:
        return {"organization_id": self._organization.id, "spec_slug": self.specification.slug}

    @override
    def title_line(self) -> Line:
        name = sanitize(self.specification.slug)
        return (Span(" Administration › OpenAPI › ", "quiet"), Span(name, "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="state")
        yield StatusLine(id="version")
        yield StatusLine(id="compared")
        yield EmptyState()
        yield RowList(self._row, key=self._key, has_mark_column=False)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._watch(GetOpenAPISpec(**self._path), self._take_specification, "specification")
        self._watch(GetLatestOpenAPISpecVersion(**self._path), self._take_version, "version")
        self._watch(GetLatestOpenAPISpecContent(**self._path), self._take_content, "content")
        self.set_interval(POLL_SECONDS, self._poll)
        self._rows.focus()
        self.draw()

    def _watch(self, call: Operation[Any], take: Any, group: str) -> None:
        self.subscribe(self.engine.watch(call), take, group=group, shows_errors=False)

    @property
    def _rows(self) -> RowList:
        return self.query_one(RowList)

    @property
    def is_busy(self) -> bool:
        """True while the service is processing the specification."""
        return self.specification.processing_state in ("pending", "progress")

    def _poll(self) -> None:
        if self.is_busy and self.is_shown and self.engine.status.online:
            self._refresh()

    def _refresh(self) -> None:
        for operation in (GetOpenAPISpec, GetLatestOpenAPISpecVersion, GetLatestOpenAPISpecContent):
            self.engine.refresh(operation(**self._path))

    def _take_specification(self, result: Result[OpenAPISpec | None]) -> None:
        was_busy = self.is_busy
        self.specification = result.value or self.specification
        if was_busy and not self.is_busy:
            self._refresh()
        self.draw()

    def _take_version(self, result: Result[OpenAPISpecVersion | None]) -> None:
        self._version = result.value or self._version
        self.draw()

    def _take_content(self, result: Result[OpenAPISpecContent | None]) -> None:
        self._error = result.error
        self._is_loaded = self._is_loaded or result.state != "cached" or result.value is not None
        if result.value:
            description = description_in(result.value.filesystem)
            if description != self._description:
                self._description = description
                self._listed = contents(description or {})
                self._arrange()
                if description is not None:
                    self._comparison.start(description)
        self.draw()

    def _arrange(self) -> None:
        self._shown = [one for one in self._listed if self._text in f"{one.method} {one.name} {one.summary}".lower()]

    @override
    def draw(self) -> None:
        if not self.is_mounted or self.is_leaving:
            return
        self.query_one("#state", StatusLine).show(self._facts())
        self.query_one("#version", StatusLine).show(self._version_line())
        compared = self.query_one("#compared", StatusLine)
        compared.show(self._comparison.line())
        compared.display = self._comparison.is_known
        self._rows.show(len(self._shown))
        self._rows.display = bool(self._shown)
        empty = self.query_one(EmptyState)
        if self._shown:
            empty.hide()
            if self.focused is None:
                self._rows.focus()
        else:
            self._show_empty(empty)
        self.refresh_status_bars()

    def _facts(self) -> Line:
        """Return the state, the visibility and the errors."""
        one = self.specification
        errors = one.last_processed_error_count or len(one.last_processed_errors or ())
        failed = errors or one.last_process_error_code
        state = (Span("✗ failed", "removed"),) if failed and not self.is_busy else status_line(one.processing_state)
        first = one.last_processed_errors[0].message if one.last_processed_errors else one.last_process_error_code or ""
        words = ": ".join(filter(None, (count(errors, "error") if errors else "", sanitize(first))))
        visibility = Span(f"   {sanitize(one.visibility or 'private')}", "quiet")
        return (Span(" "), *state, visibility, Span(f"   {words}" if words else "", "removed"))

    def _version_line(self) -> Line:
        """Return the title and version from the description, the age of the version, and the number of operations."""
        known = self._description or {}
        about: Any = known.get("info")
        info = cast("Mapping[str, Any]", about if isinstance(about, dict) else {})
        name = " ".join(sanitize(str(info[part])) for part in ("title", "version") if info.get(part))
        processed = None if isinstance(self._error, NotFound) else self.specification.last_processed_at
        at = self._version.created_at if self._version else processed
        made = f"latest version from {since(at, now())}" if at else ""
        operations = sum(one.kind == "operation" for one in self._listed)
        number = count(operations, "operation") if self._listed else ""
        line = " · ".join(filter(None, (made, number)))
        return (Span(f" {name}", "strong"), Span(f"   {line}", "quiet"))

    def _show_empty(self, empty: EmptyState) -> None:
        if self._listed:
            empty.show_empty("No row has this text.")
        elif self.is_busy:
            empty.show_loading("The service is processing it …")
        elif isinstance(self._error, NotFound):
            reasons = [one.message for one in (self.specification.last_processed_errors or ())[:MOST_REASONS]]
            hint = f"{key_for('edit')} gives it another source: an address or a file."
            empty.show_empty("It has no version yet.", "\n".join([*filter(None, reasons), hint]))
        elif not self.engine.status.online and not self._is_loaded:
            empty.show_offline("The latest version is not in the cache.")
        elif self._error:
            empty.show_failed("Could not load the latest version", self._error.message)
        elif not self._is_loaded:
            empty.show_loading("Loading the latest version …")
        else:
            empty.show_empty("The latest version has no operations.")

    def _key(self, index: int) -> Listed | None:
        return self._shown[index] if index < len(self._shown) else None

    def _row(self, index: int, columns: int) -> Line:
        one = self._shown[index]
        sign = one.method.upper() if one.method else "schema"
        style = METHOD_STYLES.get(one.method, "quiet")
        group_columns = GROUP_COLUMNS if columns >= WIDE else 0
        room = max(10, columns - METHOD_COLUMNS - group_columns)
        words = f"   {'deprecated · ' if one.is_deprecated else ''}{sanitize(one.summary)}".rstrip()
        return (
            *pad((Span(f" {sign}", style),), METHOD_COLUMNS),
            *pad(cut((Span(sanitize(one.name), "strong"), Span(words, "quiet")), room - 1), room),
            *(cut((Span(sanitize(one.group), "quiet"),), group_columns) if group_columns else ()),
        )

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the commands of the new row."""
        self.refresh_status_bars()

    def reason_open(self) -> str | None:
        """Return why nothing can be opened: no operation or schema is listed."""
        return None if self._shown else "there is no operation here"

    def command_open(self) -> None:
        """Show an operation with its parameters, or a schema."""
        at = self._rows.cursor
        if at < len(self._shown) and self._description is not None:
            one = self._shown[at]
            lines = [(Span("  "), *line) for line in listed_lines(self._description, one, max(20, self.size.width - 4))]
            title = sanitize(f"{one.method.upper()} {one.name}".strip())
            self.app_context.push_screen(TextScreen(title, [(), *(lines or [(Span("  It says no more.", "quiet"),)])]))

    async def command_backlinks(self) -> None:
        """List the pages that use the specification, and open the chosen page."""
        one = self.specification
        names = frozenset(filter(None, (one.slug, one.source_url)))
        await whole_listing(self.engine, ListSpaces(organization_id=self._organization.id))  # the search reads these
        uses = await self.engine.specification_uses(self._organization.id, names)
        chosen = await choose_use(self, sanitize(one.slug), uses)
        if chosen:
            await self.app_context.go(Place.page(chosen.space, chosen.page))

    def reason_edit(self) -> str | None:
        """Return why the source cannot be replaced: writes are disabled, or the user may not create content."""
        permissions = self._organization.permissions
        if reason := writing_reason(self):
            return reason
        may = permissions.admin or permissions.create_content
        return None if may else "you need the role create in the organization"

    async def command_edit(self) -> None:
        """Replace the source with an address or a file. The service creates a new version."""
        present = {field.name: "" for field in PartsForm(PutOpenAPISpec, self._path).fields}
        present["source__url"] = self.specification.source_url or ""
        title = f"New source of {sanitize(self.specification.slug)}"
        form = StoredForm(title, PutOpenAPISpec.stored_name(), self._path, present, self._path)
        key = f"form {PutOpenAPISpec.stored_name()} {self.specification.slug}"
        if await fill_in(self, form, key) is not None:
            self.notify("the service makes a new version of it")
            self._refresh()

    def reason_web(self) -> str | None:
        """Return why the source cannot be opened in the browser: it has no address."""
        return None if self.specification.source_url else "it was given as text: it has no address"

    def command_web(self) -> None:
        """Open the address of the source."""
        if self.specification.source_url:
            open_address(self.app_context, self.specification.source_url)

    def command_copy(self) -> None:
        """Copy the name of the specification, which pages use to refer to it."""
        self.app_context.copy_to_clipboard(sanitize(self.specification.slug))
        self.notify("copied the name")

    async def command_find_here(self) -> None:
        """Show only rows that contain a text."""

        def apply(text: str) -> None:
            self._text = text
            self._arrange()
            self.draw()

        await self.find.open(RowFilter(lambda: self._rows, apply), self._rows)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._comparison)


def specification_screen(organization: Organization, specification: OpenAPISpec) -> SpecificationScreen:
    """Return the screen of a specification."""
    return SpecificationScreen(organization, specification)
