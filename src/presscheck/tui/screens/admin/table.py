"""The table of a family: rows from the store with search, sorting and marks, and the commands on the rows."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sys
from collections.abc import Awaitable, Hashable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from presscheck.api.operation import Operation, Page
from presscheck.engine.forms.form import FilterForm, form_fields, initial_texts
from presscheck.engine.forms.parts_form import tree_text
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, cut_middle, pad, width
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.admin.column_widths import GAP, column_widths
from presscheck.tui.screens.admin.details import Losses
from presscheck.tui.screens.admin.facts import (
    CERTIFICATES,
    cell,
    cell_style,
    facts,
    plain_value,
    sort_key,
    value_at,
)
from presscheck.tui.screens.admin.operation_form import StoredForm, choices_of, fill_in, form_of, outcome, show_failures
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.ask import Checked, choose, confirm, confirm_checked, prompt
from presscheck.tui.ui.list import NO_MATCH
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.row_filter import RowFilter, has_words
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.marks import Marks
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.engine.results import Result
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.admin.facts import Column
    from presscheck.tui.screens.admin.family import Family, OrganizationScreen

CHUNK = 500
"""Number of rows that searching and sorting read from the store at once."""
POLL_SECONDS = 2.0
"""Interval of requests while the service works on listed items."""
BLOCK = 100
"""Number of rows that drawing reads from the store at once."""
MOST_BLOCKS = 8
"""Maximum number of cached blocks."""
FORMULA = ("=", "+", "-", "@")
"""Prefixes of cells that a spreadsheet would run as a formula."""


class FamilyTable(Vertical):
    """The rows of a family, and the commands on them.

    Args:
        screen: the screen of the table.
        family: the family of the rows.

    Attributes:
        given: the arguments of the listing, such as the id of a team for its members.
        loaded: the number of rows in the listing.
    """

    DEFAULT_CSS = "FamilyTable { width: 1fr; }"

    def __init__(self, screen: OrganizationScreen, family: Family) -> None:
        super().__init__()
        self._screen, self.family = screen, family
        self._filters: dict[str, dict[str, Any]] = {}
        """The active filters by family title."""
        self._wants_focus = False
        """Whether the rows get the focus when they appear: they had it before, or `focus_rows` was called."""
        self.given: dict[str, Any] = {}
        self.is_owner = False
        """Whether the user manages the parent of the rows, such as a team, even without a role."""
        self.listing: Operation[Page[Any]] | None = None
        """The listing; None until the organization is loaded, and for families that cannot be listed."""
        self._reset()
        self._rows = RowList(self._row, key=self._key)

    def _reset(self) -> None:
        self.loaded = Loaded[int]()
        self._order: list[tuple[int, str]] | None = None
        """Listing position and key of each row after a search or sort; None for all rows in the listing's order."""
        self._sorted: tuple[Column, bool] | None = None
        """The column that sorts the rows, and whether the order is reversed."""
        self._text = ""
        self._blocks: dict[int, tuple[Any, ...]] = {}
        self._lines: dict[tuple[int, int], Line] = {}
        """Drawn lines by row and width. They are cleared by each redraw except for a move of the cursor."""
        self._widest: list[int] = [0] * len(self.family.columns)
        """Width in cells of the widest text of each flexible column."""
        self._widths: dict[int, list[int]] = {}
        """Column widths by table width."""

    def show_family(self, family: Family, given: dict[str, Any]) -> None:
        """List the items of a family, from the first row.

        Args:
            family: the family of the rows.
            given: the arguments of the listing, such as the id of a team for its members.
        """
        self._screen.find.end()
        self._rows.marks.clear()
        self._wants_focus = self._wants_focus and family is self.family
        self.family, self.given = family, given
        self._reset()
        self._screen.unsubscribe("table")
        self._screen.unsubscribe("arrange")
        self.listing = None
        is_known = self._screen.organization or "organization_id" not in family.listing.model_fields
        if is_known and self.unavailable is None:
            self.listing = family.listing(**self._path(family.listing), **self._filters.get(family.title, {}))
            answers = self._screen.engine.watch_listing(self.listing)
            self._screen.subscribe(answers, self._take, group="table", shows_errors=False)
            if any(column.kind == "certificate" for column in family.columns) and CERTIFICATES not in sys.modules:
                self._screen.run(self._load_certificates, group="certificates")
        self._draw()
        self._rows.move_to(0)

    async def _load_certificates(self) -> None:
        """Import, in a thread, the module that reads certificates, and redraw the rows."""
        await asyncio.to_thread(import_module, CERTIFICATES)
        self._draw()

    def _path(self, operation: type[Operation[Any]]) -> dict[str, Any]:
        organization = self._screen.organization
        own = {"organization_id": organization.id, "organization": organization.id} if organization else {}
        known = {**own, **self.given}
        return {name: value for name, value in known.items() if name in operation.model_fields}

    @override
    def compose(self) -> ComposeResult:
        yield StatusLine(id="summary")
        yield StatusLine(id="headings")
        with Vertical():
            yield EmptyState()
            yield self._rows

    def on_mount(self) -> None:
        """Show the loading state."""
        self._draw()

    @property
    def rows(self) -> RowList:
        """The list widget with the rows."""
        return self._rows

    def focus_rows(self) -> None:
        """Focus the rows now, or as soon as there are rows."""
        if self._count and self._rows.display:
            self._rows.focus()
        else:
            self._wants_focus = True

    def why_unavailable(self, family: Family) -> str | None:
        """Return why a family cannot be listed; None if it can."""
        organization = self._screen.organization
        if family.permission and organization and not getattr(organization.permissions, family.permission, True):
            return f"you are not permitted to see the {family.nouns} of this organization"
        return self._screen.engine.missing_reason(family.listing)

    @property
    def unavailable(self) -> str | None:
        """Why the table's family cannot be listed; None if it can."""
        return self.why_unavailable(self.family)

    @property
    def current(self) -> BaseModel | None:
        """The item under the cursor; None in an empty table."""
        return self._item(self._rows.cursor) if self._count else None

    @property
    def _total(self) -> int:
        return self.loaded.value or 0

    @property
    def _count(self) -> int:
        return self._total if self._order is None else len(self._order)

    def _take(self, result: Result[int]) -> None:
        # after an error, 0 can also mean that nothing is stored
        total = self.loaded.value if result.error and not result.value else result.value
        self.loaded = Loaded(total, result.error)
        if self._order is None:
            self._show_as_listed()
        if self._text or self._sorted:
            self._arrange()  # until it ends, the old rows stay: in the new listing, items may have other positions
        if self.family.state and self.listing:
            first = self._screen.engine.window(self.listing, 0, BLOCK).items
            if any(map(self.family.is_busy, first)):
                self.set_timer(POLL_SECONDS, partial(self._poll, self.listing))

    def _show_as_listed(self) -> None:
        self._order = None
        self._blocks.clear()
        self._draw()

    def _poll(self, listing: Operation[Page[Any]] | None) -> None:
        """Request the states of busy items again while the listing is visible."""
        if listing is None or listing is not self.listing or self._screen.is_leaving:
            return
        if self._screen.is_shown and self._screen.engine.status.online:
            self._screen.engine.refresh(listing)
        else:
            self.set_timer(POLL_SECONDS, partial(self._poll, listing))

    def _item(self, index: int) -> Any:
        """Return the item of a row; None if a newer listing has moved it and the rows are not arranged yet."""
        if self._order is None:
            return self._at(index)
        position, key = self._order[index]
        item = self._at(position)
        return item if self._key_of(item) == key else None

    def _at(self, position: int) -> Any:
        """Return the item at a position of the listing, or None if it is not loaded. Items are read in blocks."""
        block, offset = divmod(position, BLOCK)
        items = self._blocks.get(block, ())
        if offset >= len(items) and self.listing:
            items = self._screen.engine.window(self.listing, block * BLOCK, BLOCK).items
            if len(self._blocks) >= MOST_BLOCKS:
                self._blocks.clear()
            self._blocks[block] = items
        return items[offset] if offset < len(items) else None

    def _key(self, index: int) -> Hashable | None:
        if index >= self._count:
            return None
        if self._order is not None:
            return self._order[index][1]
        item = self._item(index)
        return None if item is None else self._key_of(item)

    def _key_of(self, item: Any) -> str:
        return str(value_at(item, self.family.path))

    def _arrange(self) -> None:
        """Search and sort the rows in the background. The rows are read in chunks, so that the app stays responsive."""
        text, ordered, listing = self._text, self._sorted, self.listing
        if listing is None or (not text and ordered is None):
            self._screen.unsubscribe("arrange")  # stop a running search or sort, which would replace the rows again
            self._show_as_listed()
            return

        async def arrange() -> None:
            matches: list[tuple[Any, int, str]] = []
            for start in range(0, self._total, CHUNK):
                items = self._screen.engine.window(listing, start, CHUNK).items
                for position, item in enumerate(items, start):
                    if has_words(self._searched(item), text):
                        by = sort_key(item, ordered[0]) if ordered else position
                        matches.append((by, position, self._key_of(item)))
                await asyncio.sleep(0)
            if ordered:
                matches.sort(key=lambda match: match[0], reverse=ordered[1])
            self._blocks.clear()  # only now: until here, the old order was shown from these blocks
            self._order = [(position, key) for _, position, key in matches]
            self._draw()

        self._screen.run(arrange, group="arrange", exclusive=True)

    def _searched(self, item: Any) -> str:
        return " ".join(cell(item, column) for column in self.family.columns if column.kind == "text")

    def _draw(self) -> None:
        if self.is_mounted and not self._screen.is_leaving:
            self._screen.when_shown("draw", self._draw_now)

    def _draw_now(self) -> None:
        if not self.is_mounted or self._screen.is_leaving:
            return
        self._lines.clear()
        self._wants_focus = self._wants_focus or (self._rows.has_focus and not self._count)
        self._rows.show(self._count)
        self._rows.display = bool(self._count)
        if self._wants_focus and self._count and not isinstance(self.screen.focused, Input):
            self._rows.focus()
            self._wants_focus = False
        self._measure()
        headings = self.query_one("#headings", StatusLine)
        headings.display = bool(self._count)
        headings.show((Span("  "), *self._headings(max(0, self.size.width - 2))))
        self.query_one("#summary", StatusLine).show(self._summary())
        empty = self.query_one(EmptyState)
        if self._count:
            empty.hide()
        else:
            empty.show_message(self._explanation())
        self._screen.refresh_status_bars()

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._draw()

    def _summary(self) -> Line:
        title = Span(f" {self.family.title}", "title")
        if self.loaded.value is None:
            return (title,)
        filters = self._filters.get(self.family.title)
        found = f"{self._count:,} of " if self._text and self._order is not None else ""
        number = f"  {found}{self._total:,}"
        parts = [title, Span(number, "quiet")]
        if filters:
            parts.append(Span(f"   only {sanitize(_filter_words(filters))}: {key_for('back')} shows all", "accent"))
        if self._rows.marks.keys:
            parts.append(Span(f"   {count(len(self._rows.marks.keys), 'marked row')}", "accent"))
        if error := self.loaded.error:
            parts.append(Span(f"   not up to date: {sanitize(error.message)}", "waiting"))
        return tuple(parts)

    def _explanation(self) -> Message:
        nouns = self.family.nouns
        if reason := self.unavailable:
            return Message(f"{reason[:1].upper()}{reason[1:]}.")
        if self.loaded.value is None:
            return message_for(self.loaded, nouns, online=self._screen.engine.status.online)
        if self._text and self._total:
            return NO_MATCH
        if self._filters.get(self.family.title):
            hint = f"{key_for('edit_view')} changes the filter, {key_for('back')} shows all."
            return Message(f"No {nouns} with this filter.", hint)
        creates = self.family.add or self.family.made_elsewhere
        reason = self.change_reason(creates, "added") if creates else None
        hint = f"{reason[:1].upper()}{reason[1:]}." if reason else with_keys(self.family.hint)
        return Message(f"No {nouns} yet.", hint)

    def _measure(self) -> None:
        """Measure the widest text of each flexible column in the first rows of the listing."""
        columns = self.family.columns
        items = [item for position in range(min(self._total, BLOCK)) if (item := self._at(position)) is not None]
        self._widest = [
            0 if column.columns else max((cell_len(cell(item, column)) for item in items), default=0)
            for column in columns
        ]
        self._widths.clear()

    def _line(self, texts: Sequence[tuple[str, str]], columns: int) -> Line:
        if columns not in self._widths:
            self._widths[columns] = column_widths(self.family.columns, self._widest, columns)
        spans: list[Span] = []
        for column, room, (text, style) in zip(self.family.columns, self._widths[columns], texts, strict=False):
            most = max(1, room - GAP)
            shown = cut_middle(text, most) if column.keeps_end else text
            line = cut((Span(shown, style),), most)
            if column.kind == "number":
                line = (Span(" " * (room - GAP - width(line))), *line)
            spans += pad(line, room)
        return tuple(spans)

    def _headings(self, columns: int) -> Line:
        by = self._sorted
        names = [
            (f"{column.title}{'' if not by or by[0] is not column else ' ↓' if by[1] else ' ↑'}", "quiet")
            for column in self.family.columns
        ]
        return self._line(names, columns)

    def _row(self, index: int, columns: int) -> Line:
        if (line := self._lines.get((index, columns))) is not None:
            return line
        item = self._item(index)
        if item is None:
            return (Span("…", "quiet"),)
        styles = ["strong", *[cell_style(item, column) for column in self.family.columns[1:]]]
        texts = [(cell(item, column), style) for column, style in zip(self.family.columns, styles, strict=True)]
        if len(self._lines) >= BLOCK:
            self._lines.clear()
        line = self._lines[index, columns] = self._line(texts, columns)
        return line

    @on(Marks.Changed)
    def marks_changed(self) -> None:
        """Show the number of marks."""
        self.query_one("#summary", StatusLine).show(self._summary())

    def name_of(self, item: BaseModel) -> str:
        """Return the name of an item: the text of its first cell."""
        return cell(item, self.family.columns[0])

    def change_reason(self, operation: type[Operation[Any]] | None, verb: str) -> str | None:
        """Return why a change is not possible now; None if it is.

        `verb` is a participle for the message, such as `added`.
        """
        if operation is None:
            return f"{self.family.nouns} cannot be {verb} here"
        if reason := self._screen.engine.write_reason(operation, at_once=True):
            return reason
        organization = self._screen.organization
        permissions = organization.permissions if organization else None
        if operation in self.family.for_everybody or self.is_owner:
            return None
        if permissions and not (permissions.admin or (self.family.role == "create" and permissions.create_content)):
            return f"you need the role {self.family.role} in the organization"
        return None

    def reason_add(self) -> str | None:
        """Return why no item can be added: the family cannot be listed, or the change is not possible now."""
        return self.unavailable or self.change_reason(self.family.add, "added")

    async def command_add(self) -> None:
        """Create an item in a form, or in the custom dialog of the family."""
        family = self.family
        if family.adds:
            if done := await family.adds(self._screen, self.given):
                self.changed(done)
        elif family.add:
            new = await self._fill_in(f"New {family.noun}", family.add, None)
            if family.opens_new and isinstance(new, BaseModel) and not isinstance(new, Operation):
                self._screen.open_item(family, self.given, new, cell(new, family.columns[0]))

    @property
    def without_row(self) -> frozenset[str]:
        """The commands that the footer hides in an empty table, because they need a row."""
        return frozenset(("open", "rename", "delete")) if self._no_row() else frozenset()

    def _no_row(self) -> str | None:
        return None if self._count else f"no {self.family.noun} here"

    def reason_rename(self) -> str | None:
        """Return why the item cannot be changed: there is none, or the change is not possible now."""
        return self._no_row() or self.change_reason(self.family.edit, "changed")

    async def command_rename(self) -> None:
        """Change the item under the cursor in a form, or all marked items if the family allows it."""
        items = self._chosen if self.family.edits_several else [item for item in (self.current,) if item]
        if len(items) > 1 and self.family.edit:
            await self._fill_in_for_all(self.family.edit, items)
        elif items and self.family.edit:
            await self._fill_in(f"Change {self.name_of(items[0])}", self.family.edit, items[0])

    async def _fill_in_for_all(self, operation: type[Operation[Any]], items: Sequence[BaseModel]) -> None:
        """Fill in a single form, and send it for each item."""
        targets = [(self.name_of(item), self._identity(operation, item)) for item in items]
        given = {**self._path(operation), **targets[0][1]}
        title = f"Change {count(len(items), self.family.noun, self.family.plural)}"
        present = initial_texts(form_of(operation, given).fields, None)
        stored = StoredForm(title, operation.stored_name(), given, present, self._draft_path, targets)

        answer = await fill_in(self._screen, stored, self._draft_key(operation, stored.digest))
        if answer is not None:
            self._rows.marks.clear()
            self.changed(outcome(title, answer))

    async def _fill_in(self, title: str, operation: type[Operation[Any]], item: BaseModel | None) -> Any:
        """Fill in and send an operation. Returns the answer, or None if nothing was sent."""
        given = {**self._path(operation), **(self._identity(operation, item) if item else {})}
        identity = str(value_at(item, self.family.path)) if item else "new"
        fields = form_of(operation, given).fields
        if not fields:
            self._screen.notify("there is nothing to fill in")
            return None
        present = {**initial_texts(fields, self._editable(item)), **tree_text(item)}
        stored = StoredForm(title, operation.stored_name(), given, present, self._draft_path)
        answer = await fill_in(self._screen, stored, self._draft_key(operation, identity))
        if answer is not None:
            self.changed(outcome(title, answer))
        return answer

    @property
    def _draft_path(self) -> dict[str, Any]:
        """The ids for listing the items that a form refers to."""
        organization = self._screen.organization
        return {**({"organization_id": organization.id} if organization else {}), **self.given}

    def _draft_key(self, operation: type[Operation[Any]], identity: str) -> str:
        return f"form {operation.stored_name()} {' '.join(map(str, self.given.values()))} {identity}"

    def _editable(self, item: BaseModel | None) -> Any:
        """Return the object that the form edits: the item itself or, for a member of a team, the team membership."""
        return getattr(item, "team", None) if item and self.family.path.startswith("organization.") else item

    def _identity(self, operation: type[Operation[Any]], item: BaseModel) -> dict[str, Any]:
        """Return the fields of an operation that identify an item.

        If the items are not users but the operation needs a user, such as to leave an organization, it gets the
        signed-in user.
        """
        fields: dict[str, Any] = {}
        if self.family.field in operation.model_fields:
            fields[self.family.field] = str(value_at(item, self.family.path))
        if "user_id" in operation.path_fields() and self.family.field != "user_id":
            fields["user_id"] = self._screen.engine.me.id
        return fields

    def changed(self, message: str) -> None:
        """Show a message, and load the rows again."""
        self._screen.notify(message)
        if self.listing:
            self._screen.engine.refresh(self.listing)

    @property
    def _chosen(self) -> list[BaseModel]:
        """The marked items; without marks, the item under the cursor."""
        if self._rows.marks.keys:
            items = (self._item(index) for index in range(self._count))
            marked = self._rows.marks.keys
            found = (item for item in items if item and self._key_of(item) in marked)
            return list(islice(found, len(marked)))  # marked rows are mostly near the top; later rows are not read
        return [self.current] if self.current else []

    @property
    def titles(self) -> Mapping[str, str]:
        """Footer titles of the commands: the family's verb for a removal, such as `cancel`, `leave` or `revoke`."""
        return {"delete": self.family.remove_verb.lower()}

    def reason_delete(self) -> str | None:
        """Return why the item cannot be removed: there is none, or the change is not possible now."""
        return self._no_row() or self.change_reason(self.family.remove, "removed")

    async def command_delete(self) -> None:
        """Remove the item under the cursor, or all marked items, after a confirmation."""
        items, remove, verb = self._chosen, self.family.remove, self.family.remove_verb
        if remove is None or not items:
            return
        if not await self._confirm_removal(items, verb):
            return
        failed: list[str] = []
        for item in items:
            try:
                await send(self._screen, remove(**{**self._path(remove), **self._identity(remove, item)}))
            except PresscheckError as error:
                failed.append(f"{self.name_of(item)}: {error.message}")
        self._rows.marks.clear()
        done = f"{verb.lower()}: {count(len(items) - len(failed), self.family.noun, self.family.plural)}"
        self.changed(f"{done}; {len(failed)} failed: {sanitize(failed[0])}" if failed else done)
        show_failures(self._screen, failed)

    async def _confirm_removal(self, items: Sequence[BaseModel], verb: str) -> bool:
        """Ask whether to remove items. Returns True only if the user confirmed.

        The dialog can be confirmed once the losses have loaded. If they refuse the removal, it closes with a message.
        """
        several = len(items) > 1
        what = count(len(items), self.family.noun, self.family.plural) if several else self.name_of(items[0])
        lines: list[Line] = [(Span(self.family.loses),)]
        if several:
            lines += [(Span(f"· {self.name_of(item)}", "quiet"),) for item in items]
        title, typed = f"{verb} {what}?", what if several else None
        read = self.family.losses
        if read is None:
            return await confirm(self._screen, title, lines, verb, type_to_confirm=typed)
        checking: Line = (Span("Checking what else is lost …", "quiet"),)

        async def check() -> Checked | None:
            try:
                losses = await read(self._screen, items)
            except PresscheckError as error:
                losses = Losses((f"What is lost could not be read: {sanitize(error.message)}.",))
            if losses.refusal:
                self._screen.notify(losses.refusal)
                return None
            sentences: list[Line] = [(Span(sentence, "waiting"),) for sentence in losses.sentences]
            return Checked([*lines, *sentences], what if several or losses.is_grave else None)

        return await confirm_checked(self._screen, title, [*lines, checking], verb, check)

    def reason_unsend(self) -> str | None:
        """Return why nothing can be undone: the organization is not loaded yet."""
        return None if self._screen.organization else "not loaded yet"

    async def command_unsend(self) -> None:
        """Undo the last sent change of the organization, after a confirmation."""
        await undo_last_sent(self._screen, self._is_here)
        if self.listing:
            self._screen.engine.refresh(self.listing)

    def _is_here(self, place: Place) -> bool:
        organization = self._screen.organization
        is_own = organization is not None and place.organization == organization.id
        return place.site is None and place.request is None and (is_own or place.collection is not None)

    def reason_open(self) -> str | None:
        """Return why no item can be opened: the table is empty."""
        return self._no_row()

    def command_open(self) -> None:
        """Show the screen, the details or the parts of the item under the cursor."""
        item = self.current
        if item:
            identity = {self.family.field: str(value_at(item, self.family.path))} if self.family.field else {}
            self._screen.open_item(self.family, {**self.given, **identity}, item, self.name_of(item))

    reason_copy = reason_copy_text = _no_row

    def command_copy(self) -> None:
        """Copy the link of the item, or its id if it has no link."""
        organization = self._screen.organization
        link = (
            self.family.link(organization, self.current) if self.family.link and organization and self.current else ""
        )
        if link:
            self._screen.app_context.copy_to_clipboard(sanitize(link))
            self._screen.notify("copied the link")
        elif self.current:
            self._screen.app_context.copy_to_clipboard(sanitize(str(value_at(self.current, self.family.path))))
            self._screen.notify("copied the id")

    def command_copy_text(self) -> None:
        """Copy all facts of the item as text."""
        if self.current:
            text = "\n".join(f"{fact.name}: {fact.value}" for fact in facts(self.current))
            self._screen.app_context.copy_to_clipboard(text)
            self._screen.notify("copied all facts")

    async def command_find_here(self) -> None:
        """Show only rows that contain all typed words."""

        def apply(text: str) -> None:
            self._text = text
            self._arrange()

        await self._screen.find.open(RowFilter(self._rows, apply), self._rows)

    def reason_edit_view(self) -> str | None:
        """Return why the listing cannot be filtered: it is unavailable, or its operation has no filters."""
        given = self._path(self.family.listing)
        has_filters = bool(form_fields(self.family.listing, given))
        return self.unavailable or (
            None if has_filters else f"{self.family.nouns} have no filter: {key_for('find_here')} finds a text"
        )

    async def command_edit_view(self) -> None:
        """Filter the listing on the service, in a form with all its filters."""
        family, title = self.family, self.family.title
        form = FilterForm(family.listing, self._path(family.listing))
        present = self._filters.get(title, {})

        async def keep(call: Operation[Any]) -> Operation[Any]:
            return call

        texts = {
            field.name: field.text_of(present[field.name]) if field.name in present else "" for field in form.fields
        }
        dialog = FormDialog(
            FormContent(f"Filter {family.nouns}", form, texts, has_command=True),
            keep,
            None,
            lookup=lambda reference: choices_of(self._screen.engine, reference, self._path(family.listing)),
            send_label="filter",
        )
        call = await self._screen.ask(dialog)
        if call is not None and self.family is family:
            self._filters[title] = form.filters(call)
            self.show_family(family, self.given)

    def reason_sort_rows(self) -> str | None:
        """Return why the rows cannot be sorted: the table is empty."""
        return self._no_row()

    async def command_sort_rows(self) -> None:
        """Choose the column to sort by. Choosing the same column again reverses the order."""
        choices = [Choice(str(at), column.title) for at, column in enumerate(self.family.columns)]
        choices.append(Choice("", "As the service lists them"))
        chosen = await choose(self._screen, "Sort by", choices)
        if chosen is None:
            return
        column = self.family.columns[int(chosen)] if chosen else None
        same = self._sorted is not None and column is self._sorted[0]
        self._sorted = (column, not self._sorted[1] if same and self._sorted else False) if column else None
        self._arrange()

    def reason_export_rows(self) -> str | None:
        """Return why no rows can be exported: the table is empty."""
        return self._no_row()

    async def command_export_rows(self) -> None:
        """Ask for the name of a new file, and write the rows that match the search as CSV or JSON."""
        name = f"{self.family.title.lower().replace(' ', '-')}.csv"
        draft = DraftSlot(self._screen.engine.outbox, f"export {self.family.title}", name)
        file = await prompt(
            self._screen,
            f"Export {count(self._count, self.family.noun, self.family.plural)} to",
            draft,
            max_length=None,
            validate=lambda typed: None if typed.endswith((".csv", ".json")) else "a name that ends in .csv or .json",
        )
        if file is None:
            return
        items: list[BaseModel] = []
        for index in range(self._count):
            if (item := self._item(index)) is not None:
                items.append(item)
            if index % CHUNK == 0:
                await asyncio.sleep(0)  # keeps the app responsive
        text = _as_json(items) if file.endswith(".json") else _as_csv(items, self.family.columns)
        try:
            await asyncio.to_thread(_write_new, file, text)
        except OSError as error:
            self._screen.notify(f"could not write {sanitize(file)}: {error.strerror}")
            return
        draft.discard()
        self._screen.notify(f"wrote {count(len(items), self.family.noun, self.family.plural)} to {sanitize(file)}")

    def command_back(self) -> Awaitable[None] | None:
        """Remove all marks; without marks, remove the filter."""
        if not self._rows.marks.clear() and self._filters.pop(self.family.title, None):
            self.show_family(self.family, self.given)
        return None

    def reason_back(self) -> str | None:
        """Return why neither marks nor a filter can be removed: no row is marked, and the listing has no filter."""
        is_needed = self._rows.marks.keys or self._filters.get(self.family.title)
        return None if is_needed else f"nothing is marked: {key_for('close')} closes"


def _filter_words(filters: Mapping[str, Any]) -> str:
    """Return filters as text, such as `category: analytics, blocks: yes`."""
    words = {True: "yes", False: "no"}
    return ", ".join(
        f"{name.replace('_', ' ')}: {words[value] if isinstance(value, bool) else value}"
        for name, value in filters.items()
    )


def _as_json(items: Sequence[BaseModel]) -> str:
    return json.dumps([item.model_dump(mode="json", by_alias=True) for item in items], ensure_ascii=False, indent=2)


def _as_csv(items: Sequence[BaseModel], columns: Sequence[Column]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.title for column in columns])
    for item in items:
        values = [plain_value(item, column) for column in columns]
        cells = ["" if value is None else sanitize(str(value)) for value in values]
        writer.writerow([f"'{one}" if one.startswith(FORMULA) else one for one in cells])
    return text.getvalue()


def _write_new(path: str, text: str) -> None:
    """Write a new file.

    Raises:
        OSError: the file exists already, or cannot be written.
    """
    with Path(path).expanduser().open("x", encoding="utf-8", newline="") as file:
        file.write(text)
