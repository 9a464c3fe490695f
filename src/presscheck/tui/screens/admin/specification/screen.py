"""The screen of an OpenAPI specification: its state, and the operations and schemas of its latest version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

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
from presscheck.errors import NotFound
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.operation_form import StoredForm, fill_in
from presscheck.tui.screens.admin.records.runs import status_line, writing_reason
from presscheck.tui.screens.admin.records.screen import POLL_SECONDS
from presscheck.tui.screens.admin.specification.version_comparison import VersionComparison
from presscheck.tui.screens.page.uses import choose_use
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.engine.results import Result


METHOD_STYLES = {"get": "link", "post": "added", "put": "waiting", "patch": "waiting", "delete": "removed"}
METHOD_COLUMNS, GROUP_COLUMNS = 8, 18
WIDE = 90
"""Minimum width in cells for the column of groups."""
MOST_REASONS = 5
"""Maximum number of processing errors that are listed."""


class OperationList(List[Listed]):
    """The operations and schemas of the latest version.

    Args:
        screen: the screen of the specification.
    """

    nouns, place = "operations", " of the latest version"
    footer = ("open", "backlinks", "history", "edit", "find_here", "copy", "close")

    def __init__(self, screen: SpecificationScreen) -> None:
        self._screen = screen
        super().__init__(
            (
                Column("method", _method, METHOD_COLUMNS),
                Column("operation or schema", _name),
                Column(
                    "group", lambda listed: (Span(sanitize(listed.group), "quiet"),), GROUP_COLUMNS, from_width=WIDE
                ),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Listed]]:
        return self._screen.operations

    @override
    def key_of(self, item: Listed) -> Listed:
        return item

    @override
    def empty(self) -> Message:
        return Message("The latest version has no operations.")

    @override
    def explanation(self, *, online: bool) -> Message:
        if not self.loaded.value and self._screen.is_busy:
            return Message("The service is processing it …", state="loading")
        if not self.loaded.value and isinstance(self.loaded.error, NotFound):
            errors = (self._screen.specification.last_processed_errors or ())[:MOST_REASONS]
            hint = f"{key_for('edit')} gives it another source: an address or a file."
            return Message("It has no version yet.", "\n".join([*(error.message for error in errors), hint]))
        return super().explanation(online=online)

    def reason_open(self) -> str | None:
        """Return why nothing can be opened: no operation or schema is listed."""
        return None if self.current else "there is no operation here"

    def command_open(self) -> None:
        """Show an operation with its parameters, or a schema."""
        listed = self.current
        if listed:
            description, columns = self._screen.description or {}, max(20, self._screen.size.width - 4)
            lines = [(Span("  "), *line) for line in listed_lines(description, listed, columns)]
            title = sanitize(f"{listed.method.upper()} {listed.name}".strip())
            page = TextScreen(title, [(), *(lines or [(Span("  It says no more.", "quiet"),)])])
            self._screen.app_context.push_screen(page)


class SpecificationScreen(TabScreen):
    """The screen of a specification.

    Args:
        organization: the organization of the specification.
        specification: the specification as listed.
    """

    SCOPE = "admin"
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {
        "backlinks": "where used",
        "history": "changes",
        "edit": "new source",
        "copy": "copy name",
    }
    DEFAULT_CSS = "SpecificationScreen #state { margin-top: 1; }"

    def __init__(self, organization: Organization, specification: OpenAPISpec) -> None:
        super().__init__()
        self._organization, self.specification = organization, specification
        self._version: OpenAPISpecVersion | None = None
        self._comparison = VersionComparison(self, organization, specification)
        self.description: Mapping[str, Any] | None = None
        self.operations = Loaded[Sequence[Listed]]()
        self.lists = Tabs(self, [OperationList(self)])

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
        yield from super().body()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._watch(GetOpenAPISpec(**self._path), self._take_specification, "specification")
        self._watch(GetLatestOpenAPISpecVersion(**self._path), self._take_version, "version")
        self._watch(GetLatestOpenAPISpecContent(**self._path), self._take_content, "content")
        self.set_interval(POLL_SECONDS, self._poll)
        self.redraw()

    def _watch(self, call: Operation[Any], take: Any, group: str) -> None:
        self.subscribe(self.engine.watch(call), take, group=group, shows_errors=False)

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
        self.redraw()

    def _take_version(self, result: Result[OpenAPISpecVersion | None]) -> None:
        self._version = result.value or self._version
        self.redraw()

    def _take_content(self, result: Result[OpenAPISpecContent | None]) -> None:
        self.operations = Loaded(self.operations.value, result.error)
        if result.value:
            description = description_in(result.value.filesystem)
            if description != self.description or self.operations.value is None:
                self.description = description
                self.operations = Loaded(contents(description or {}), result.error)
                if description is not None:
                    self._comparison.start(description)
        self.redraw()

    @override
    def draw(self) -> None:
        self.query_one("#state", StatusLine).show(self._facts())
        self.query_one("#version", StatusLine).show(self._version_line())
        compared = self.query_one("#compared", StatusLine)
        compared.show(self._comparison.line())
        compared.display = self._comparison.is_known
        super().draw()

    def _facts(self) -> Line:
        """Return the state, the visibility and the errors."""
        spec = self.specification
        errors = spec.last_processed_errors or ()
        number = spec.last_processed_error_count or len(errors)
        failed = number or spec.last_process_error_code
        state = (Span("✗ failed", "removed"),) if failed and not self.is_busy else status_line(spec.processing_state)
        first = errors[0].message if errors else spec.last_process_error_code or ""
        words = ": ".join(filter(None, (count(number, "error") if number else "", sanitize(first))))
        visibility = Span(f"   {sanitize(spec.visibility or 'private')}", "quiet")
        return (Span(" "), *state, visibility, Span(f"   {words}" if words else "", "removed"))

    def _version_line(self) -> Line:
        """Return the title and version from the description, the age of the version, and the number of operations."""
        known = self.description or {}
        about: Any = known.get("info")
        info = cast("Mapping[str, Any]", about if isinstance(about, dict) else {})
        name = " ".join(sanitize(str(info[part])) for part in ("title", "version") if info.get(part))
        processed = None if isinstance(self.operations.error, NotFound) else self.specification.last_processed_at
        at = self._version.created_at if self._version else processed
        made = f"latest version from {since(at, now())}" if at else ""
        listed = self.operations.value or ()
        number = count(sum(each.kind == "operation" for each in listed), "operation") if listed else ""
        line = " · ".join(filter(None, (made, number)))
        return (Span(f" {name}", "strong"), Span(f"   {line}", "quiet"))

    async def command_backlinks(self) -> None:
        """List the pages that use the specification, and open the chosen page."""
        spec = self.specification
        names = frozenset(filter(None, (spec.slug, spec.source_url)))
        # the search for uses reads the spaces from the cache
        await whole_listing(self.engine, ListSpaces(organization_id=self._organization.id))
        uses = await self.engine.specification_uses(self._organization.id, names)
        chosen = await choose_use(self, sanitize(spec.slug), uses)
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

    @override
    def command_handlers(self) -> Iterable[object]:
        return (*super().command_handlers(), self._comparison)


def _method(listed: Listed) -> Line:
    return (Span(listed.method.upper() or "schema", METHOD_STYLES.get(listed.method, "quiet")),)


def _name(listed: Listed) -> Line:
    words = f"   {'deprecated · ' if listed.is_deprecated else ''}{sanitize(listed.summary)}".rstrip()
    return (Span(sanitize(listed.name), "strong"), Span(words, "quiet"))
