"""A tab of the customization: the settings of a group, with the links of its lists as trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.site_customization.contrast import MODES, contrast_of
from presscheck.engine.site_customization.rows import Row, rows_of
from presscheck.engine.site_customization.settings import problems_of, settings_of, value_at
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.customization.row_text import heading_of, row_line, value_words
from presscheck.tui.ui.list import List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.engine.site_config.document import Place
    from presscheck.engine.site_customization.settings import Document, Group
    from presscheck.tui.screens.sites.customization.session import Customization

CONTRAST_LEGEND = "contrast with the page, as WCAG measures it: AA from 4.5, AAA from 7"


class SettingList(List[Row]):
    """The settings of a group.

    Args:
        session: the customization of the site.
        group: the group.
    """

    nouns, place = "settings", " of this site"

    def __init__(self, session: Customization, group: Group) -> None:
        self._session = session
        self._group: Group = group
        self.name = group
        self._rows: tuple[Document, tuple[Row, ...]] = ({}, ())
        """The cached rows, with their document. Each edit creates a new document."""
        super().__init__(())

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Row]]:
        document = self._session.document
        if self._session.base is None:
            return Loaded(None, self._session.error)
        if self._rows[0] is not document:
            self._rows = (document, rows_of(document, self._group))
        return Loaded(self._rows[1])

    @override
    @property
    def total(self) -> None:
        """Always None: settings are not counted."""

    @override
    def key_of(self, item: Row) -> Place:
        return item.path

    @override
    def searched(self, item: Row) -> str:
        value = value_at(self._session.document, item.path)
        return f"{item.setting.label} {item.name} {'' if value is None else value_words(value)}"

    @override
    def row(self, index: int, width: int) -> Line:
        session, row = self._session, self.items[index]
        errors = {**problems_of(session.document, session.base or {}), **session.errors}
        is_changed = session.differs(row.path)
        return row_line(row, session.document, width, is_changed=is_changed, error=errors.get(row.name, ""))

    @override
    def heading(self, width: int) -> Line:
        return heading_of(has_colors=self._group == "Colors", columns=width)

    @override
    def summary(self) -> Line:
        session, document = self._session, self._session.document
        if session.base is None:
            return ()
        if reason := session.reason():
            state = "your edits are kept" if session.is_changed else "cannot be changed"
            return (Span(f"{state}: {reason}", "waiting"),)
        parts: list[Span] = []
        if not session.screen.engine.status.online:
            parts.append(Span("offline: edits are kept as a draft   ", "waiting"))
        if session.is_outdated:
            parts.append(
                Span(f"somebody else changed the site in the meantime: {key_for('send')} shows it   ", "waiting")
            )
        elif session.is_changed:
            changed = count(sum(session.differs(one.path) for one in settings_of(document)), "unsaved change")
            parts.append(Span(f"{changed}: {key_for('send')} saves   ", "waiting"))
        failing = [
            setting
            for setting in settings_of(document)
            for mode in MODES
            if setting.is_color and (contrast := contrast_of(document, setting, mode)) and contrast.level == "fails"
        ]
        if failing:
            parts.append(Span(f"✗ {count(len(failing), 'color')} fail{'s' * (len(failing) == 1)} AA", "removed"))
        elif self._group == "Colors" and not parts:
            parts.append(Span(CONTRAST_LEGEND, "quiet"))
        elif not parts:
            parts.append(Span(f"{sanitize(self._group)} of the site", "quiet"))
        return tuple(parts)

    @override
    def empty(self) -> Message:
        return Message("This release of the service has no such settings.")
