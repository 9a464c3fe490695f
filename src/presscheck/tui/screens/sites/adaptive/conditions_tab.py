"""The tab of conditions: those that sections, spaces and pages have, and those that the service suggests."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING, NamedTuple

from presscheck.api.site_settings import ListTemplateConditions
from presscheck.engine.publish.audiences import condition_problem
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.text_screen import TextScreen

if TYPE_CHECKING:
    from presscheck.engine.publish.audiences import AdaptivePlace
    from presscheck.tui.screens.sites.adaptive.context import AdaptiveContext

USES_COLUMNS = 12


class Row(NamedTuple):
    """A condition, what it is set on, what is wrong with it, and what it means; empty if not known."""

    condition: str
    places: tuple[AdaptivePlace, ...]
    problem: str
    description: str


class ConditionsTab:
    """The conditions of the site.

    Args:
        screen: the screen of adaptive content.
    """

    name, noun = "Conditions", "conditions"
    footer = ("open", "copy", "find_here", "toggle_adaptive", "close")

    def __init__(self, screen: AdaptiveContext) -> None:
        self._screen = screen
        self._text = ""
        self._state: tuple[int, str] | None = None
        """What the listed conditions were found for."""
        self._shown: list[Row] = []

    @property
    def _all(self) -> list[Row]:
        model = self._screen.model
        words = {template.condition: template.description for template in model.templates}
        rows = [Row(use.condition, use.places, use.problem, words.get(use.condition, "")) for use in model.uses]
        used = {use.condition for use in model.uses}
        rows += [
            Row(condition, (), condition_problem(condition, model.known), description)
            for condition, description in words.items()
            if condition not in used
        ]
        return sorted(rows, key=lambda row: not row.problem)

    @property
    def shown(self) -> list[Row]:
        """The conditions that are listed: all, those with a problem first, or those with the text of the filter."""
        model = self._screen.model
        state = (model.version, self._text)
        if self._state != state:
            self._state = state
            self._shown = [row for row in self._all if self._text in _searched(row)] if model.content else []
        return self._shown

    @property
    def total(self) -> int | None:
        """How many are in use."""
        model = self._screen.model
        return len(model.uses) if model.content else None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    @property
    def _current(self) -> Row | None:
        at, shown = self._screen.rows.cursor, self.shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        shown = self.shown
        return shown[index].condition if index < len(shown) else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """How many are in use, how many have a problem, and what could not be read."""
        model = self._screen.model
        if model.content is None:
            return ()
        faulty = sum(bool(use.problem) for use in model.uses)
        parts = [Span(f"{count(len(model.uses), 'condition')} in use")]
        parts += [Span(f"   ✗ {count(faulty, 'problem')}", "removed")] if faulty else []
        if model.content.unread:
            title, reason = model.content.unread[0]
            spaces = count(len(model.content.unread), "space")
            parts.append(Span(f"   pages of {spaces} not read: {sanitize(f'{title}: {reason}')}", "waiting"))
        if model.known is None:
            parts.append(Span("   claims are not checked: the schema is not known", "waiting"))
        return tuple(parts)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns(*((Span(name),) for name in ("condition", "set on", "note")), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """A condition, on how many places it is set, and its problem or what it means."""
        row = self.shown[index]
        note = Span(f"✗ {row.problem}", "removed") if row.problem else Span(row.description, "quiet")
        return self._columns(
            (Span(sanitize(row.condition), "strong" if row.places else ""),),
            (Span(count(len(row.places), "place") if row.places else "suggestion", "" if row.places else "quiet"),),
            (note._replace(text=sanitize(note.text)),),
            columns=columns,
        )

    def _columns(self, condition: Line, uses: Line, note: Line, *, columns: int) -> Line:
        room = max(20, (columns - USES_COLUMNS) * 3 // 5)
        left = max(8, columns - room - USES_COLUMNS)
        return (*pad(cut(condition, room - 1), room), *pad(uses, USES_COLUMNS), *cut(note, left))

    def empty(self) -> tuple[str, str]:
        """What to do without conditions."""
        return (
            "Nothing of this site has a condition.",
            "Sections and spaces get one in the structure (g u, then E), pages in their details.",
        )

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if command not in ("open", "copy"):
            return "conditions are set on sections, spaces and pages: enter lists them"
        if missing := self._screen.engine.missing_reason(ListTemplateConditions):
            return missing
        return None if self._current else "no condition here"

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        row = self._current
        if row and command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(row.condition))
            self._screen.notify("copied the condition")
        elif row:
            self._screen.app_context.push_screen(TextScreen("Condition", _lines(row)))
        return None


def _lines(row: Row) -> list[Line]:
    """A condition in whole, with everything that it is set on."""
    lines: list[Line] = [(), (Span(f" {sanitize(row.condition)}", "strong"),)]
    lines += [(Span(f" {sanitize(row.description)}", "quiet"),)] if row.description else []
    lines += [(Span(f" ✗ {sanitize(row.problem)}", "removed"),)] if row.problem else []
    lines.append(())
    if not row.places:
        lines.append((Span(" A suggestion: nothing of this site has it.", "quiet"),))
    for place in row.places:
        above = " › ".join(sanitize(rule.title) for rule in place.above)
        note = f"   in {above}, which has a condition, too" if above else ""
        lines.append(
            (Span(f" {place.kind:8}", "quiet"), Span(sanitize(place.title) or "(no title)"), Span(note, "quiet"))
        )
    return lines


def _searched(row: Row) -> str:
    return f"{row.condition} {row.description} {' '.join(place.title for place in row.places)}".lower()
