"""A tab of the customization: the settings of one group, and the links of its lists as trees."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from presscheck.engine.site_customization.contrast import MODES, contrast_of
from presscheck.engine.site_customization.rows import rows_of
from presscheck.engine.site_customization.settings import problems_of, settings_of, value_at
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.sites.customization.row_text import heading_of, row_line, value_words

if TYPE_CHECKING:
    from presscheck.engine.site_customization.rows import Row
    from presscheck.engine.site_customization.settings import Document, Group
    from presscheck.tui.screens.sites.customization.context import CustomizationContext

CONTRAST_LEGEND = "contrast with the page, as WCAG measures it: AA from 4.5, AAA from 7"


class SettingTab:
    """The settings of a group.

    Args:
        screen: the screen of the customization.
        group: the group.
    """

    noun = "customization"

    def __init__(self, screen: CustomizationContext, group: Group) -> None:
        self._screen = screen
        self.group: Group = group
        self._text = ""
        self._laid_out: tuple[Document, tuple[Row, ...]] = ({}, ())
        """The rows, and the document that has them; an edit makes another document."""

    @property
    def name(self) -> str:
        """The name of the group."""
        return self.group

    @property
    def footer(self) -> tuple[str, ...]:
        """The commands of the footer."""
        edits = ("open", "rename")
        has_lists = any(row.setting.is_list for row in self.all_rows)
        return (*edits, *(("add", "delete", "move_down") if has_lists else ("delete",)), "send", "unsend", "close")

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows without a filter."""
        model = self._screen.model
        if not model.is_loaded:
            return ()
        if self._laid_out[0] is not model.document:
            self._laid_out = (model.document, rows_of(model.document, self.group))
        return self._laid_out[1]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows that are shown."""
        rows = self.all_rows
        return tuple(row for row in rows if self._text in self._searched(row)) if self._text else rows

    @property
    def total(self) -> int | None:
        """Not told: how many settings a group has does not matter."""
        return None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        rows = self.rows
        return rows[index].path if index < len(rows) else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def row(self, index: int, columns: int) -> Line:
        """A row."""
        model, row = self._screen.model, self.rows[index]
        errors = {**problems_of(model.document, model.base or {}), **model.errors}
        return row_line(
            row, model.document, columns, is_changed=model.differs(row.path), error=errors.get(row.name, "")
        )

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        return heading_of(has_colors=self.group == "Colors", columns=columns)

    def summary(self) -> Line:
        """How readable the colors are, and what is not saved."""
        model = self._screen.model
        if not model.is_loaded:
            return ()
        parts: list[Span] = []
        if reason := self._screen.change_reason():
            state = "your edits are kept" if model.is_changed else "cannot be changed"
            return (Span(f"{state}: {reason}", "waiting"),)
        if not self._screen.engine.status.online:
            parts.append(Span("offline: edits are kept as a draft   ", "waiting"))
        if model.is_outdated:
            parts.append(Span("somebody else changed the site in the meantime: ctrl+s shows it   ", "waiting"))
        elif model.is_changed:
            changed = count(sum(model.differs(one.path) for one in settings_of(model.document)), "unsaved change")
            parts.append(Span(f"{changed}: ctrl+s saves   ", "waiting"))
        failing = [
            one
            for one in settings_of(model.document)
            for mode in MODES
            if one.is_color and (told := contrast_of(model.document, one, mode)) and told.level == "fails"
        ]
        if failing:
            parts.append(Span(f"✗ {count(len(failing), 'color')} fail{'s' * (len(failing) == 1)} AA", "removed"))
        elif self.group == "Colors" and not parts:
            parts.append(Span(CONTRAST_LEGEND, "quiet"))
        elif not parts:
            parts.append(Span(f"{sanitize(self.group)} of the site", "quiet"))
        return tuple(parts)

    def empty(self) -> tuple[str, str]:
        """Never: each group has settings."""
        return "This release of the service has no such settings.", ""

    def _searched(self, row: Row) -> str:
        value = value_at(self._screen.model.document, row.path)
        words = row.name if value is None else f"{row.name} {value_words(value)}"
        return f"{row.setting.label} {words}".lower()
