"""The tab of redirects: each path with what it leads to, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import CreateRedirect, DeleteRedirect, ListRedirects, UpdateRedirect
from presscheck.engine.publish.redirects import reference
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.site.writes import mark_of
from presscheck.tui.screens.site_access.redirect_actions import RedirectActions
from presscheck.tui.screens.site_access.redirect_tables import RedirectTables

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.site_settings import Redirect
    from presscheck.tui.screens.site_access.context import AccessContext

PROBLEM_COLUMNS = 18
WRITES: dict[str, type[Operation[Any]]] = {
    "add": CreateRedirect,
    "rename": UpdateRedirect,
    "delete": DeleteRedirect,
    "act_on_marked": UpdateRedirect,
    "import_rows": CreateRedirect,
    "suggest_rows": CreateRedirect,
}
"""What the commands that write send."""
ON_ROWS = frozenset(("open", "rename", "delete", "copy"))
ON_PATHS = frozenset(
    ("open", "add", "rename", "act_on_marked", "import_rows", "export_rows", "test_path", "suggest_rows")
)


class RedirectsTab:
    """The redirects.

    Args:
        screen: the screen of access.
    """

    name, noun = "Redirects", "redirects"
    footer = ("open", "add", "rename", "delete", "mark", "import_rows", "find_here", "close")

    def __init__(self, screen: AccessContext) -> None:
        self._screen = screen
        self._actions = RedirectActions(screen, self)
        self._tables = RedirectTables(screen)
        self._text = ""
        self._of: tuple[Any, ...] = ()
        self._shown: tuple[Redirect, ...] = ()

    @property
    def shown(self) -> tuple[Redirect, ...]:
        """The redirects that are listed: all, or those with the text of the filter."""
        model = self._screen.model
        now = (model.redirects, model.paths, self._text)
        if any(one is not other for one, other in zip(now, self._of, strict=False)) or not self._of:
            self._of = now
            redirects = model.redirects or ()
            self._shown = (
                tuple(one for one in redirects if self._text in self._searched(one)) if self._text else redirects
            )
        return self._shown

    @property
    def current(self) -> Redirect | None:
        """The redirect under the cursor."""
        at = self._screen.rows.cursor
        return self.shown[at] if at < len(self.shown) else None

    @property
    def marked(self) -> list[Redirect]:
        """The marked redirects."""
        return [redirect for redirect in self._screen.model.redirects or () if redirect.id in self._screen.rows.marked]

    @property
    def total(self) -> int | None:
        """How many there are."""
        redirects = self._screen.model.redirects
        return None if redirects is None else len(redirects)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.shown[index].id if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """How many there are, are marked, and are wrong."""
        model = self._screen.model
        if not model.redirects:
            return ()
        marked = len(self.marked)
        parts = [Span(count(len(model.redirects), "redirect"))]
        parts += [Span(f"   {marked:,} marked: A acts on them", "accent")] if marked else []
        parts += [Span(f"   {len(model.problems):,} with problems", "waiting")] if model.problems else []
        return tuple(parts) if model.paths else (*parts, Span("   reading the pages …", "quiet"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns(*((Span(name, "quiet"),) for name in ("path", "leads to", "problem")), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """Path, target and problem of a redirect."""
        redirect, model = self.shown[index], self._screen.model
        target = model.paths.path_of(redirect.destination) if model.paths else None
        title = model.paths.title_of(redirect.destination) if model.paths else ""
        problem = model.problems.get(redirect.id, "")
        sign, style = mark_of(redirect)
        return self._columns(
            (Span(sign, style), Span(sanitize(redirect.source), "strong")),
            (
                Span(sanitize(target or reference(redirect.destination)), "link" if target else "quiet"),
                Span(f"  {sanitize(title)}", "quiet"),
            ),
            (Span(problem, "removed" if problem.startswith("leads") else "waiting"),),
            columns=columns,
        )

    def _columns(self, source: Line, target: Line, problem: Line, *, columns: int) -> Line:
        room = max(20, columns - PROBLEM_COLUMNS)
        half = room * 2 // 5
        return (
            *pad(cut(source, half - 1), half),
            *pad(cut(target, room - half - 1), room - half),
            *cut(problem, PROBLEM_COLUMNS),
        )

    def empty(self) -> tuple[str, str]:
        """What to do without redirects."""
        return "No redirects yet.", "a adds one, . i imports a CSV file, . r suggests some."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        model = self._screen.model
        if missing := self._screen.engine.missing_reason(ListRedirects):
            return missing
        if command in WRITES and (reason := self._screen.change_reason(WRITES[command])):
            return reason
        if command in ON_ROWS and not self.count:
            return "no redirect here: a adds one"
        if command == "rotate_key":
            return "3 shows the sign-in of visitors"
        return "the pages of the site are not loaded yet" if command in ON_PATHS and model.map is None else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        commands: dict[str, Callable[[], Awaitable[None] | None]] = {
            "open": self._actions.show_trail,
            "add": self._actions.add,
            "rename": self._actions.change,
            "delete": self._actions.delete,
            "act_on_marked": self._actions.act_on_marked,
            "copy": self._actions.copy,
            "test_path": self._actions.test_path,
            "import_rows": self._tables.load,
            "export_rows": self._tables.save,
            "suggest_rows": self._tables.suggest,
        }
        return commands[command]()

    def _searched(self, redirect: Redirect) -> str:
        model = self._screen.model
        target = model.paths.path_of(redirect.destination) if model.paths else None
        title = model.paths.title_of(redirect.destination) if model.paths else ""
        return f"{redirect.source} {target or ''} {title} {model.problems.get(redirect.id, '')}".lower()
