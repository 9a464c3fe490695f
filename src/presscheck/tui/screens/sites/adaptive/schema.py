"""The tab of the visitor schema: its claims, indented below the objects that contain them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.site_settings import GetAdaptiveSchema, UpdateAdaptiveSchema
from presscheck.documents.visitors.claim_schema import Claim
from presscheck.engine.publish.claim_forms import can_fill_in, kind_words
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.adaptive.schema_changes import SchemaChanges
from presscheck.tui.screens.sites.writes import write_reason
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

KIND_COLUMNS = 18


class ClaimList(List[Claim]):
    """The claims of the visitor schema.

    Args:
        session: the adaptive content of the site.
    """

    name, nouns, place = "Visitor schema", "visitor claims", " of this site"
    footer = ("edit", "add", "rename", "delete", "toggle_adaptive", "test_token", "close")

    def __init__(self, session: AdaptiveContent) -> None:
        self._session = session
        self._changes = SchemaChanges(session)
        super().__init__(
            (
                Column("claim", self._name),
                Column("type", _kind, KIND_COLUMNS),
                Column("values", lambda claim: sanitize(", ".join(claim.values))),
                Column("description", lambda claim: (Span(sanitize(claim.description), "quiet"),), share=2),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Claim]]:
        schema = self._session.schema
        return Loaded(schema.value.claims if schema.value else None, schema.error)

    @override
    def key_of(self, item: Claim) -> tuple[str, ...]:
        return item.path

    @override
    def searched(self, item: Claim) -> str:
        return f"{item.name} {kind_words(item)} {' '.join(item.values)} {item.description}"

    @override
    def summary(self) -> Line:
        is_on, schema = self._session.is_on, self._session.schema.value
        state = Span("● on", "added") if is_on else Span("○ off: everybody sees everything", "waiting")
        if schema is None or schema.schema is None:
            return (state,)
        age = f", changed {since(schema.updated_at, now())}" if schema.updated_at else ""
        draft = f"   your draft of it is kept: {key_for('edit')} opens it" if self._changes.has_draft else ""
        return (state, Span(f"   {count(len(schema.claims), 'claim')}{age}", "quiet"), Span(draft, "waiting"))

    @override
    def empty(self) -> Message:
        schema = self._session.schema.value
        is_missing = schema is not None and schema.schema is None
        title = "The site has no visitor schema yet." if is_missing else "The schema has no claims."
        return Message(title, f"{key_for('add')} adds a claim, {key_for('edit')} writes the schema as JSON.")

    def _name(self, claim: Claim) -> Line:
        indent = "" if self._text else "  " * (len(claim.path) - 1)
        name = claim.name if self._text else claim.path[-1]
        return (Span(indent), Span(sanitize(name) or "(no name)", "strong"))

    def reason_edit(self) -> str | None:
        """Return why the schema cannot be edited: the change is not allowed now, or the schema is not loaded."""
        session = self._session
        return (
            session.screen.engine.missing_reason(GetAdaptiveSchema)
            or write_reason(session.screen, UpdateAdaptiveSchema, session.site, "create")
            or self._unloaded()
        )

    reason_edit_other = reason_add = reason_edit

    def reason_delete(self) -> str | None:
        """Return why the claim cannot be deleted: there is none, or the schema cannot be edited."""
        return self.reason_edit() or self._absent()

    def reason_rename(self) -> str | None:
        """Return why the claim cannot be changed in a form: there is none, or the schema cannot be edited.

        Arrays and objects can only be changed in the JSON.
        """
        if reason := self.reason_delete():
            return reason
        is_simple = self.current and can_fill_in(self.current)
        return None if is_simple else f"arrays and objects are changed in the JSON: {key_for('edit')} edits it"

    reason_open = reason_rename

    def reason_copy(self) -> str | None:
        """Return why the claim cannot be copied: there is none, or the schema is not loaded."""
        missing = self._session.screen.engine.missing_reason(GetAdaptiveSchema)
        return missing or self._unloaded() or self._absent()

    def _unloaded(self) -> str | None:
        return "the schema is not loaded" if self._session.schema.value is None else None

    def _absent(self) -> str | None:
        return None if self.current else f"no claim here: {key_for('add')} adds one"

    async def command_edit(self) -> None:
        """Edit the schema as JSON."""
        await self._changes.edit()

    async def command_edit_other(self) -> None:
        """Edit the schema as JSON in the editor that is not the default: external or built-in."""
        await self._changes.edit(uses_other_editor=True)

    async def command_add(self) -> None:
        """Add a claim."""
        await self._changes.fill_in(None)

    async def command_rename(self) -> None:
        """Change the claim in a form."""
        if self.current:
            await self._changes.fill_in(self.current)

    command_open = command_rename

    async def command_delete(self) -> None:
        """Delete the claim, after a confirmation."""
        if self.current:
            await self._changes.delete(self.current)

    def command_copy(self) -> None:
        """Copy the claim as written in conditions."""
        if self.current:
            expression = sanitize(self.current.expression)
            self._session.screen.app_context.copy_to_clipboard(expression)
            self._session.screen.notify(f"copied {expression}")

    def continue_draft(self, key: str) -> Awaitable[None] | None:
        """Open the claim form or the schema editor of the draft with a key. Returns None for drafts of other tabs."""
        changes, schema = self._changes, self._session.schema.value
        if key == changes.key:
            return changes.edit()
        if key == changes.claim_key(None):
            return changes.fill_in(None)
        claims = schema.claims if schema else ()
        claim = next((claim for claim in claims if changes.claim_key(claim) == key), None)
        return changes.fill_in(claim) if claim else None


def _kind(claim: Claim) -> Line:
    return (Span(sanitize(kind_words(claim)) or "?", "quiet"),)
