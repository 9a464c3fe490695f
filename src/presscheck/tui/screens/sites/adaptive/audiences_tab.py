"""The tab of audiences: saved sets of claims, to see the site as a visitor with them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING

from presscheck.engine.publish.audiences import Audience, Audiences, read_claims
from presscheck.errors import InvalidArgument
from presscheck.store.open_texts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.sites.adaptive.audience_dialog import ask_audience, claims_text, draft_key
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.adaptive.context import AdaptiveContext

NAME_COLUMNS, SEES_COLUMNS = 26, 28


class AudiencesTab:
    """The saved audiences of the site.

    Args:
        screen: the screen of adaptive content.
    """

    name, noun = "Audiences", "audiences"
    footer = ("add", "rename", "edit", "delete", "copy", "test_token", "close")

    def __init__(self, screen: AdaptiveContext) -> None:
        self._screen = screen
        self._text = ""

    @property
    def _store(self) -> Audiences:
        return Audiences(self._screen.engine.outbox, self._screen.model.site.id)

    @property
    def shown(self) -> list[Audience]:
        """The audiences that are listed: all, or those with the text of the filter."""
        return [one for one in self._screen.model.audiences if self._text in f"{one.name} {claims_text(one)}".lower()]

    @property
    def total(self) -> int | None:
        """How many there are."""
        return len(self._screen.model.audiences)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    @property
    def current(self) -> Audience | None:
        """The audience under the cursor."""
        at, shown = self._screen.rows.cursor, self.shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.shown[index].name if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """What an audience is."""
        return (Span("saved sets of claims, kept on this machine: 4 shows who sees what", "quiet"),)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns(*((Span(name),) for name in ("audience", "sees", "claims")), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """Name, how much of the limited content it sees, and its claims."""
        audience, model = self.shown[index], self._screen.model
        places = [place for place in model.content.places if place.condition] if model.content else []
        seen = [model.verdict(place, audience).holds for place in places]
        unclear = f", {seen.count(None)} unclear" if None in seen else ""
        sees = f"{seen.count(True)} of {len(seen)} limited{unclear}" if model.content else ""
        claims = Span(audience.problem, "removed") if audience.problem else Span(claims_text(audience), "quiet")
        return self._columns(
            (Span(sanitize(audience.name), "strong"),),
            (Span(sees),),
            (claims._replace(text=sanitize(claims.text)),),
            columns=columns,
        )

    def _columns(self, name: Line, sees: Line, claims: Line, *, columns: int) -> Line:
        room = max(8, columns - NAME_COLUMNS - SEES_COLUMNS)
        return (
            *pad(cut(name, NAME_COLUMNS - 1), NAME_COLUMNS),
            *pad(cut(sees, SEES_COLUMNS - 1), SEES_COLUMNS),
            *cut(claims, room),
        )

    def empty(self) -> tuple[str, str]:
        """What to do without audiences."""
        return "No audience is saved yet.", "a saves one: a name, and the claims of such a visitor."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if command == "add":
            return None
        audience = self.current
        if audience is None:
            return "no audience here: a saves one"
        return audience.problem or None if command != "delete" else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        if command == "add":
            return self.fill_in(None)
        audience = self.current
        if audience is None:
            return None
        if command == "copy":
            self._screen.app_context.copy_to_clipboard(json.dumps(audience.claims))
            self._screen.notify("copied the claims as JSON")
            return None
        commands: dict[str, Callable[[Audience], Awaitable[None]]] = {
            "open": self.fill_in,
            "rename": self.fill_in,
            "edit": self._edit,
            "edit_other": self._edit,
            "delete": self._delete,
        }
        return commands[command](audience)

    def _key_of(self, audience: Audience | None) -> str:
        return draft_key(self._screen.model.site.id, audience)

    def continue_draft(self, key: str) -> Awaitable[None] | None:
        """Open the form or the claims of an audience, by the key of its draft; None if it is none of those."""
        if key == self._key_of(None):
            return self.fill_in(None)
        for audience in self._store.all():
            if key == self._key_of(audience):
                return self.fill_in(audience)
            if key == f"claims of {self._key_of(audience)}":
                return self._edit(audience)
        return None

    async def fill_in(self, audience: Audience | None) -> None:
        """Add or change an audience with a form.

        Args:
            audience: the audience; None for a new one.
        """
        screen = self._screen
        claims = screen.model.schema.claims if screen.model.schema else ()
        if await ask_audience(screen, screen.model.site.id, claims, audience):
            screen.read_audiences()

    async def _edit(self, audience: Audience) -> None:
        """Change the claims of an audience as JSON."""
        screen, outbox = self._screen, self._screen.engine.outbox
        key = f"claims of {self._key_of(audience)}"
        present = json.dumps(audience.claims, indent=2, ensure_ascii=False)
        dialog = Composer(
            f"Claims of {sanitize(audience.name)}",
            outbox.draft(key) or present,
            lambda typed: outbox.save_draft(key, "" if typed == present else typed),
            slot=DraftSlot(outbox, key),
            validate=_problem,
            submit=lambda typed: self._store.save(audience.name, read_claims(typed), former=audience.name),
            is_code=True,
        )
        if await screen.ask(dialog) is not None:
            outbox.save_draft(key, "")
            screen.read_audiences()

    async def _delete(self, audience: Audience) -> None:
        lines: list[Line] = [(Span("It is only on this machine, and cannot be restored.", "waiting"),)]
        question = f"Delete the audience {sanitize(audience.name)}?"
        if await self._screen.ask(ConfirmDialog(question, lines, "Delete")):
            self._store.remove(audience.name)
            self._screen.read_audiences()


def _problem(text: str) -> str | None:
    try:
        read_claims(text)
    except InvalidArgument as error:
        return error.reason
    return None
