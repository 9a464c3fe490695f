"""The tab of audiences: saved sets of claims for viewing the site as a visitor."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.publish.audiences import Audience, read_claims
from presscheck.errors import InvalidArgument
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, tab_label
from presscheck.tui.screens.sites.adaptive.audience_dialog import ask_audience, claims_text, draft_key
from presscheck.tui.screens.sites.adaptive.visitor_tokens import ask_token
from presscheck.tui.ui.ask import confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

NAME_COLUMNS, SEES_COLUMNS = 26, 28


class AudienceList(List[Audience]):
    """The saved audiences of a site.

    Args:
        session: the adaptive content of the site.
    """

    name, nouns = "Audiences", "audiences"
    footer = ("add", "rename", "edit", "delete", "copy", "test_token", "close")

    def __init__(self, session: AdaptiveContent) -> None:
        self._session = session
        super().__init__(
            (
                Column("audience", lambda audience: (Span(sanitize(audience.name), "strong"),), NAME_COLUMNS),
                Column("sees", self._sees, SEES_COLUMNS),
                Column("claims", _claims),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Audience]]:
        return Loaded(self._session.audiences)

    @override
    def key_of(self, item: Audience) -> str:
        return item.name

    @override
    def searched(self, item: Audience) -> str:
        return f"{item.name} {claims_text(item)}"

    @override
    def summary(self) -> Line:
        return (Span(f"saved sets of claims, kept on this machine: {tab_label(4)} shows who sees what", "quiet"),)

    @override
    def empty(self) -> Message:
        return Message(
            "No audience is saved yet.", f"{key_for('add')} saves one: a name, and the claims of such a visitor."
        )

    def _sees(self, audience: Audience) -> Line:
        """Return the number of places with a condition that an audience sees; empty until the places are loaded."""
        session = self._session
        seen = [session.verdict(place, audience).holds for place in session.limited]
        unclear = f", {seen.count(None)} unclear" if None in seen else ""
        return (Span(f"{seen.count(True)} of {len(seen)} limited{unclear}" if session.content.value else ""),)

    def reason_delete(self) -> str | None:
        """Return why the audience cannot be deleted: there is none."""
        return None if self.current else f"no audience here: {key_for('add')} saves one"

    def reason_rename(self) -> str | None:
        """Return why the audience cannot be changed: there is none, or its claims cannot be read."""
        return self.reason_delete() or (self.current and self.current.problem) or None

    reason_open = reason_edit = reason_edit_other = reason_copy = reason_rename

    async def command_add(self) -> None:
        """Save a new audience."""
        await self._fill_in(None)

    async def command_rename(self) -> None:
        """Change the audience in a form."""
        if self.current:
            await self._fill_in(self.current)

    command_open = command_rename

    async def command_edit(self) -> None:
        """Edit the claims of the audience as JSON."""
        if self.current:
            await self._edit(self.current)

    command_edit_other = command_edit

    def command_copy(self) -> None:
        """Copy the claims of the audience as JSON."""
        if self.current:
            self._session.screen.app_context.copy_to_clipboard(json.dumps(self.current.claims))
            self._session.screen.notify("copied the claims as JSON")

    async def command_delete(self) -> None:
        """Delete the audience, after a confirmation."""
        audience = self.current
        if audience is None:
            return
        lines: list[Line] = [(Span("It is only on this machine, and cannot be restored.", "waiting"),)]
        question = f"Delete the audience {sanitize(audience.name)}?"
        if await confirm(self._session.screen, question, lines, "Delete"):
            self._session.stored_audiences.remove(audience.name)
            self._session.read_audiences()

    def command_test_token(self) -> Awaitable[None]:
        """Test a pasted token, or create a token for the audience."""
        return ask_token(self._session, self.current)

    def continue_draft(self, key: str) -> Awaitable[None] | None:
        """Open the form or the claims editor of the draft with a key. Returns None for drafts of other tabs."""
        if key == self._key(None):
            return self._fill_in(None)
        for audience in self._session.stored_audiences.all():
            if key == self._key(audience):
                return self._fill_in(audience)
            if key == f"claims of {self._key(audience)}":
                return self._edit(audience)
        return None

    def _key(self, audience: Audience | None) -> str:
        return draft_key(self._session.site.id, audience)

    async def _fill_in(self, audience: Audience | None) -> None:
        session, schema = self._session, self._session.schema.value
        if await ask_audience(session.screen, session.site.id, schema.claims if schema else (), audience):
            session.read_audiences()

    async def _edit(self, audience: Audience) -> None:
        session, outbox = self._session, self._session.screen.engine.outbox
        present = json.dumps(audience.claims, indent=2, ensure_ascii=False)
        draft = DraftSlot(outbox, f"claims of {self._key(audience)}", present)
        dialog = Composer(
            f"Claims of {sanitize(audience.name)}",
            draft,
            validate=_problem,
            submit=lambda typed: session.stored_audiences.save(audience.name, read_claims(typed), former=audience.name),
            is_code=True,
        )
        if await session.screen.ask(dialog) is not None:
            draft.discard()
            session.read_audiences()


def _claims(audience: Audience) -> Line:
    if audience.problem:
        return (Span(sanitize(audience.problem), "removed"),)
    return (Span(sanitize(claims_text(audience)), "quiet"),)


def _problem(text: str) -> str | None:
    try:
        read_claims(text)
    except InvalidArgument as error:
        return error.reason
    return None
