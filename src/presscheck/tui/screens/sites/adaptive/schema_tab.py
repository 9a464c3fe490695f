"""The tab of the visitor schema: its claims, indented below the objects that they are in."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING

from presscheck.api.site_settings import GetAdaptiveSchema, UpdateAdaptiveSchema
from presscheck.engine.publish.claim_forms import can_fill_in
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.sites.adaptive.schema_actions import SchemaActions

if TYPE_CHECKING:
    from presscheck.documents.visitors.claim_schema import Claim
    from presscheck.tui.screens.sites.adaptive.context import AdaptiveContext

CHANGES = ("edit", "edit_other", "open", "rename", "add", "delete")


class SchemaTab:
    """The claims of the visitor schema.

    Args:
        screen: the screen of adaptive content.
    """

    name, noun = "Visitor schema", "visitor schema"
    footer = ("edit", "add", "rename", "delete", "toggle_adaptive", "test_token", "close")

    def __init__(self, screen: AdaptiveContext) -> None:
        self._screen = screen
        self._actions = SchemaActions(screen)
        self._text = ""

    @property
    def shown(self) -> list[Claim]:
        """The claims that are listed: all, or those with the text of the filter."""
        schema = self._screen.model.schema
        return [claim for claim in schema.claims if self._text in _searched(claim)] if schema else []

    @property
    def total(self) -> int | None:
        """How many there are."""
        schema = self._screen.model.schema
        return len(schema.claims) if schema else None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    @property
    def _current(self) -> Claim | None:
        at, shown = self._screen.rows.cursor, self.shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.shown[index].path if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """Whether adaptive content is on, and how old the schema is."""
        model = self._screen.model
        state = Span("● on", "added") if model.is_on else Span("○ off: everybody sees everything", "waiting")
        schema = model.schema
        if schema is None or schema.schema is None:
            return (state,)
        age = f", changed {since(schema.updated_at, now())}" if schema.updated_at else ""
        draft = "   your draft of it is kept: e opens it" if self._actions.has_draft else ""
        return (state, Span(f"   {count(len(schema.claims), 'claim')}{age}", "quiet"), Span(draft, "waiting"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns(*((Span(name),) for name in ("claim", "type", "values", "description")), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """Name, type, values and description of a claim."""
        claim = self.shown[index]
        indent = "" if self._text else "  " * (len(claim.path) - 1)
        name = claim.name if self._text else claim.path[-1]
        kind = f"{claim.kind} of {claim.items}" if claim.items else claim.kind or "?"
        return self._columns(
            (Span(indent), Span(sanitize(name) or "(no name)", "strong")),
            (Span(sanitize(kind), "quiet"),),
            (Span(sanitize(", ".join(claim.values))),),
            (Span(sanitize(claim.description), "quiet"),),
            columns=columns,
        )

    def _columns(self, name: Line, kind: Line, values: Line, description: Line, *, columns: int) -> Line:
        room = max(12, columns // 4)
        parts = [(name, room), (kind, 18), (values, room)]
        left = max(8, columns - sum(size for _, size in parts))
        return (*(span for line, size in parts for span in pad(cut(line, size - 1), size)), *cut(description, left))

    def empty(self) -> tuple[str, str]:
        """What to do without claims."""
        schema = self._screen.model.schema
        title = (
            "The site has no visitor schema yet." if schema and schema.schema is None else "The schema has no claims."
        )
        return title, "a adds a claim, e writes the schema as JSON."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if missing := self._screen.engine.missing_reason(GetAdaptiveSchema):
            return missing
        if command in CHANGES and (reason := self._screen.change_reason(UpdateAdaptiveSchema)):
            return reason
        if self._screen.model.schema is None:
            return "the schema is not loaded"
        claim = self._current
        if command in ("open", "rename", "delete", "copy") and claim is None:
            return "no claim here: a adds one"
        if command in ("open", "rename") and claim and not can_fill_in(claim):
            return "arrays and objects are changed in the JSON: e edits it"
        return None

    def continue_draft(self, key: str) -> Awaitable[None] | None:
        """Open the form of a claim or the whole schema, by the key of its draft; None if it is none of those."""
        schema, actions = self._screen.model.schema, self._actions
        if key == actions.schema_key:
            return actions.edit()
        if key == actions.claim_key(None):
            return actions.fill_in(None)
        claims = schema.claims if schema else ()
        claim = next((claim for claim in claims if actions.claim_key(claim) == key), None)
        return actions.fill_in(claim) if claim else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        claim = self._current
        if command in ("edit", "edit_other"):
            return self._actions.edit(uses_other_editor=command == "edit_other")
        if command == "add":
            return self._actions.fill_in(None)
        if claim is None:
            return None
        if command == "delete":
            return self._actions.delete(claim)
        if command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(claim.expression))
            self._screen.notify(f"copied {sanitize(claim.expression)}")
            return None
        return self._actions.fill_in(claim)


def _searched(claim: Claim) -> str:
    return f"{claim.name} {claim.kind} {' '.join(claim.values)} {claim.description}".lower()
