"""Changes of the visitor schema: the whole schema as JSON in an editor, or a single claim in a form.

The service only replaces the whole schema, so each write reads it first. Edited JSON is merged with changes that others
made in the meantime, and a claim is set in the current schema. Unsaved input is a draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import GetAdaptiveSchema, UpdateAdaptiveSchema
from presscheck.documents.visitors.claim_schema import (
    claim_at,
    empty_schema,
    read_schema,
    schema_claims,
    schema_text,
)
from presscheck.engine.publish.audiences import condition_problem, uses_of
from presscheck.engine.publish.claim_forms import ClaimChange, ClaimForm
from presscheck.errors import ChecksFailed, NotFound
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.external_programs import edit_text, is_built_in
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_draft import difference, merged_texts, name_of_draft, name_of_saved
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.documents.visitors.claim_schema import Claim, SchemaText
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

SAVED = "visitor schema saved: {unsend} undoes it"
KEPT = "not saved: {edit} opens your draft"


class SchemaChanges:
    """The changes that users can make to the visitor schema of a site.

    Args:
        session: the adaptive content of the site.
    """

    def __init__(self, session: AdaptiveContent) -> None:
        self._session = session
        site = session.site.id
        self.key, self._base_key = f"visitor schema of site {site}", f"visitor schema base of site {site}"

    @property
    def has_draft(self) -> bool:
        """Whether there is a draft of the schema as JSON."""
        return bool(self._session.screen.engine.outbox.draft(self.key))

    def claim_key(self, claim: Claim | None) -> str:
        """Return the draft key of a claim, or of a new claim if `claim` is None."""
        return f"claim {claim.name if claim else 'new'} of site {self._session.site.id}"

    async def edit(self, *, uses_other_editor: bool = False) -> None:
        """Edit the whole schema as JSON.

        Args:
            uses_other_editor: use the editor that is not the default: external instead of built-in, or the reverse.
        """
        screen, outbox = self._session.screen, self._session.screen.engine.outbox
        now = schema_text(await self._read() or empty_schema())
        base = text = now
        if draft := outbox.draft(self.key):
            base = outbox.draft(self._base_key) or now
            choice = await self._ask_about_draft(is_outdated=base != now)
            if choice is None:
                return
            if choice == "continue":
                name = name_of_draft(self._session.screen.engine, self.key)
                base, text = now, (await merged_texts(base, draft, now, name, name_of_saved)).text
                self._keep(text, base)
            else:
                self._keep("", "")
                base = now
        edited = await self._edited(text, base, uses_other_editor=uses_other_editor)
        if edited is not None:
            await self._save(base, edited)
        screen.redraw()

    async def _edited(self, text: str, base: str, *, uses_other_editor: bool) -> str | None:
        """Let the user edit a text until it is a valid schema or unchanged.

        Returns None if the user leaves the text as a draft.
        """
        screen = self._session.screen
        draft = DraftSlot(screen.engine.outbox, self.key, base, beside={self._base_key: base})
        if is_built_in(screen.app_context.profile.editor) != uses_other_editor:
            dialog = Composer(
                f"Visitor schema of {sanitize(self._session.site.title)}",
                draft,
                validate=lambda typed: _first_mistake(read_schema(typed)),
                is_code=True,
            )
            typed = await screen.ask(dialog)
            if typed is None and self.has_draft:
                screen.notify(with_keys(KEPT))
            return typed
        while True:
            text = edit_text(screen.app_context, text, lambda typed: self._keep(typed, base), draft, suffix=".json")
            self._keep(text, base)
            mistakes = read_schema(text).mistakes
            if not mistakes or text.strip() == base.strip():
                return text
            lines: list[Line] = [(Span(sanitize(str(mistake))),) for mistake in mistakes]
            lines += [(), (Span("Your text is kept as a draft.", "quiet"),)]
            title = f"Not saved: {count(len(mistakes), 'mistake')} in the schema"
            if not await confirm(screen, title, lines, "Edit again"):
                screen.notify(with_keys(KEPT))
                return None

    async def _save(self, base: str, text: str) -> None:
        """Send a text after a confirmation, merged with changes that others made in the meantime.

        Until the text is sent, it stays a draft: for example, after a conflict, or if the merged schema is invalid.
        """
        screen = self._session.screen
        if text.strip() == base.strip():
            self._keep("", "")
            screen.notify("no changes")
            return
        present = await self._read()
        now = schema_text(present or empty_schema())
        merged = await merged_texts(base, text, now, name_of_draft(screen.engine, self.key), name_of_saved)
        self._keep(merged.text, now)
        if merged.conflicts:
            screen.notify(f"conflict: somebody changed the same lines. {key_for('edit')} opens both versions")
            return
        schema = read_schema(merged.text)
        if schema.value is None or schema.mistakes:
            screen.notify(
                f"not saved: {key_for('edit')} opens your draft, merged with the schema of somebody else. "
                f"{_first_mistake(schema)}"
            )
            return
        if schema.value == present:
            self._keep("", "")
            screen.notify("no changes: the schema is so already")
            return
        lines = self._effects(present, schema.value, is_merged=base != now)
        if not await confirm(
            screen, "Save the visitor schema?", lines, "Save", details=difference(now, merged.text).lines
        ):
            screen.notify(with_keys(KEPT))
            return
        if await self._read() != present:
            screen.notify(
                f"somebody changed the schema just now: not saved. {key_for('edit')} opens your draft, merged with it"
            )
            return
        await self._send(schema.value)
        self._keep("", "")
        screen.notify(with_keys(SAVED))

    async def fill_in(self, claim: Claim | None) -> None:
        """Add or change a claim with a form.

        Args:
            claim: the claim to change; None to add a claim.
        """
        screen = self._session.screen
        schema = await self._read() or empty_schema()
        form = ClaimForm(schema, claim)
        title = f"Claim {sanitize(claim.name)}" if claim else "New claim"
        dialog = FormDialog(
            FormContent(title, form, form.present),
            lambda change: self._write_change(schema, change),
            DraftSlot(screen.engine.outbox, self.claim_key(claim)),
            send_label="save",
        )
        if await screen.ask(dialog) is not None:
            screen.notify(with_keys(SAVED))

    async def delete(self, claim: Claim) -> None:
        """Delete a claim, after a confirmation that lists the affected conditions."""
        screen = self._session.screen
        schema = await self._read() or empty_schema()
        change = ClaimChange(claim.path, None, claim.path)
        lines = self._effects(schema, change.made_in(schema), is_merged=False)
        question = f"Delete the claim {sanitize(claim.name)}?"
        if await confirm(screen, question, lines, "Delete"):
            await self._write_change(schema, change)
            screen.notify(with_keys(SAVED))

    async def _write_change(self, schema: dict[str, Any], change: ClaimChange) -> None:
        """Set a claim in the current schema.

        Raises:
            ChecksFailed: somebody else changed the same claim in the meantime.
            InvalidArgument: the claim does not fit into the current schema.
        """
        now = await self._read() or empty_schema()
        for path in {change.path, change.former} - {()}:
            if claim_at(now, path) != claim_at(schema, path):
                raise ChecksFailed("Somebody changed this claim just now: not saved. Close the form and open it again")
        await self._send(change.made_in(now))

    async def _send(self, schema: dict[str, Any]) -> None:
        await send(self._session.screen, UpdateAdaptiveSchema(**self._session.path, json_schema=schema))

    async def _read(self) -> dict[str, Any] | None:
        """Read the current schema. Returns None if the site has no schema."""
        try:
            return (await self._session.screen.engine.read(GetAdaptiveSchema(**self._session.path))).json_schema
        except NotFound:
            return None

    def _keep(self, text: str, base: str) -> None:
        """Store the draft and the schema that it is based on. A text equal to its base deletes the draft."""
        outbox = self._session.screen.engine.outbox
        is_draft = text.strip() != base.strip()
        outbox.save_draft(self.key, text if is_draft else "", beside={self._base_key: base if is_draft else ""})

    async def _ask_about_draft(self, *, is_outdated: bool) -> str | None:
        """Ask whether to `continue` with the draft or `discard` it. Returns None if the user canceled."""
        note = "merged: somebody changed the schema since" if is_outdated else "as you left it"
        choices = [
            Choice("continue", "Continue with the draft", note, letter="c"),
            Choice("discard", "Discard the draft (asks first)", "edits the schema as it is", letter="d"),
        ]
        chosen = await choose(self._session.screen, "You have a draft of the visitor schema", choices)
        if chosen == "discard":
            lines: list[Line] = [(Span("It is lost: the draft is in no other place.", "waiting"),)]
            if not await confirm(self._session.screen, "Discard the draft?", lines, "Discard"):
                return None
        return chosen

    def _effects(self, before: dict[str, Any] | None, after: dict[str, Any], *, is_merged: bool) -> list[Line]:
        """Return lines about the effects of a new schema: changed claims, and conditions that become invalid."""
        old, new = ({claim.path: claim for claim in schema_claims(schema)} for schema in (before or {}, after))
        lines: list[Line] = []
        for words, style, paths in (
            ("added", "added", [path for path in new if path not in old]),
            ("changed", "", [path for path in new if path in old and new[path] != old[path]]),
            ("removed", "removed", [path for path in old if path not in new]),
        ):
            if paths:
                names = ", ".join(".".join(path) for path in paths)
                lines.append((Span(f"{count(len(paths), 'claim')} {words}: ", style), Span(sanitize(names))))
        content = self._session.content.value
        for use in uses_of(content.places, frozenset(new)) if content else ():
            if use.problem and not condition_problem(use.condition, frozenset(old)):
                where = f"{count(len(use.places), 'place')} with the condition {sanitize(use.condition)}: "
                lines.append((Span(where, "waiting"), Span(sanitize(use.problem))))
        if is_merged:
            lines.append((Span("Merged with a change of somebody else.", "waiting"),))
        return lines or [(Span("Only the order of claims changes."),)]


def _first_mistake(schema: SchemaText) -> str | None:
    """Return the first mistake of a schema, with the number of further mistakes; None for a valid schema."""
    for first in schema.mistakes:
        others = len(schema.mistakes) - 1
        return sanitize(f"{first} (and {count(others, 'more mistake')})" if others else str(first))
    return None
