"""The tab of conditions: conditions of sections, spaces and pages, and conditions that the service suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.site_settings import ListTemplateConditions
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.adaptive.session import Condition
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

USES_COLUMNS = 12


class ConditionList(List[Condition]):
    """The conditions of a site.

    Args:
        session: the adaptive content of the site.
    """

    name, nouns, place = "Conditions", "conditions", " of this site"
    footer = ("open", "copy", "find_here", "toggle_adaptive", "close")

    def __init__(self, session: AdaptiveContent) -> None:
        self._session = session
        super().__init__(
            (
                Column("condition", _text, share=3),
                Column("set on", _uses, USES_COLUMNS, gap=0),
                Column("note", _note, share=2),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Condition]]:
        return self._session.content.map(lambda _: self._session.conditions)

    @override
    @property
    def total(self) -> int | None:
        """The number of conditions in use."""
        return len(self._session.uses) if self._session.content.value else None

    @override
    def key_of(self, item: Condition) -> str:
        return item.condition

    @override
    def searched(self, item: Condition) -> str:
        return " ".join((item.condition, item.description, *(place.title for place in item.places)))

    @override
    def summary(self) -> Line:
        session, content = self._session, self._session.content.value
        if content is None:
            return ()
        faulty = sum(bool(use.problem) for use in session.uses)
        parts = [Span(f"{count(len(session.uses), 'condition')} in use")]
        parts += [Span(f"   ✗ {count(faulty, 'problem')}", "removed")] if faulty else []
        if content.unread:
            title, reason = content.unread[0]
            spaces = count(len(content.unread), "space")
            parts.append(Span(f"   pages of {spaces} not read: {sanitize(f'{title}: {reason}')}", "waiting"))
        if session.known is None:
            parts.append(Span("   claims are not checked: the schema is not known", "waiting"))
        return tuple(parts)

    @override
    def empty(self) -> Message:
        hint = (
            f"Sections and spaces get one in the structure ({key_for('go_structure')}, "
            f"then {key_for('rename')}), pages in their details."
        )
        return Message("Nothing of this site has a condition.", hint)

    def reason_add(self) -> str | None:
        """Return why conditions cannot be changed here: they are set on sections, spaces and pages."""
        return f"conditions are set on sections, spaces and pages: {key_for('open')} lists them"

    reason_rename = reason_edit = reason_edit_other = reason_delete = reason_add

    def reason_open(self) -> str | None:
        """Return why the condition cannot be opened: there is none, or the service does not support conditions."""
        missing = self._session.screen.engine.missing_reason(ListTemplateConditions)
        return missing or (None if self.current else "no condition here")

    reason_copy = reason_open

    def command_open(self) -> None:
        """List the sections, spaces and pages with the condition."""
        condition = self.current
        if condition:
            self._session.screen.app_context.push_screen(TextScreen("Condition", _details(condition)))

    def command_copy(self) -> None:
        """Copy the condition."""
        condition = self.current
        if condition:
            self._session.screen.app_context.copy_to_clipboard(sanitize(condition.condition))
            self._session.screen.notify("copied the condition")


def _text(condition: Condition) -> Line:
    return (Span(sanitize(condition.condition), "strong" if condition.places else ""),)


def _uses(condition: Condition) -> Line:
    places = condition.places
    return (Span(count(len(places), "place")),) if places else (Span("suggestion", "quiet"),)


def _note(condition: Condition) -> Line:
    if condition.problem:
        return (Span(sanitize(f"✗ {condition.problem}"), "removed"),)
    return (Span(sanitize(condition.description), "quiet"),)


def _details(condition: Condition) -> list[Line]:
    """Return the details of a condition, with all places that have it."""
    lines: list[Line] = [(), (Span(f" {sanitize(condition.condition)}", "strong"),)]
    lines += [(Span(f" {sanitize(condition.description)}", "quiet"),)] if condition.description else []
    lines += [(Span(f" ✗ {sanitize(condition.problem)}", "removed"),)] if condition.problem else []
    lines.append(())
    if not condition.places:
        lines.append((Span(" A suggestion: nothing of this site has it.", "quiet"),))
    for place in condition.places:
        above = " › ".join(sanitize(rule.title) for rule in place.above)
        note = f"   in {above}, which has a condition, too" if above else ""
        lines.append(
            (Span(f" {place.kind:8}", "quiet"), Span(sanitize(place.title) or "(no title)"), Span(note, "quiet"))
        )
    return lines
