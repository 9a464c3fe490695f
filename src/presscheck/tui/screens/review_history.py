"""Who took part in a change request, its revisions, and what each of them changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from presscheck.api.change_requests import Contributor, ListContributors
from presscheck.api.changes import SemanticChange
from presscheck.desk.history import Step, history
from presscheck.desk.standing import person
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now, since
from presscheck.documents.spans import Line, Span, pad
from presscheck.errors import PresscheckError
from presscheck.tui.screens.review_since import Since
from presscheck.tui.screens.text_screen import TextScreen

_SIGNS = {"created": ("+", "added"), "edited": ("~", "waiting"), "deleted": ("−", "removed"), "moved": ("→", "link")}
_KINDS = {"edits": "edited", "merge": "merged", "update": "updated from main", "rollback": "rolled back"}


class History(Since):
    """Tells the history."""

    async def command_history(self) -> None:
        """Show who took part, and revision by revision what changed; as it comes in."""
        request = self.known.request
        if request is None:
            return
        told: list[Line] = [(), (Span(" Asking the service for the history …", "waiting"),)]
        place = TextScreen(f"History of {request.number} {display_text(request.subject)}", told)
        self.app_context.push_screen(place)
        try:
            people = (await self.desk.read(ListContributors(**self.known.path))).items
            told = [(), *contributor_lines(people, self.known.me, now()), ()]
            place.show(told)
            async for step in history(self.desk, request):
                told = [*told, *step_lines(step, now())]
                place.show(told)
        except PresscheckError as error:
            place.show([*told, (Span(" ✗ ", "error"), Span(display_text(error.message), "error"))])


def contributor_lines(people: Sequence[Contributor], me: str, moment: datetime) -> list[Line]:
    """Who edited and who commented, and when they last did."""
    lines: list[Line] = [(Span(" Took part", "title"),)]
    for one in people:
        when = since(one.updated_at, moment) if one.updated_at else ""
        act = {"edit": "edited", "comment": "commented"}.get(one.action_type or "", "")
        name = pad((Span(f"   {person(one.user, me)}"),), 18)
        lines.append((*name, *pad((Span(display_text(act)),), 12), Span(when, "quiet")))
    return lines if people else [*lines, (Span("   nobody yet", "quiet"),)]


def step_lines(step: Step, moment: datetime) -> list[Line]:
    """A revision, and below it a line for each thing that it changed."""
    revision = step.revision
    when = since(revision.created_at, moment) if revision.created_at else ""
    head = (Span(f" {_KINDS.get(revision.type, display_text(revision.type))} ", "strong"), Span(when, "quiet"))
    more = step.changes.more
    lines = [head, *change_lines(step.changes.changes)]
    if more:
        lines.append((Span(f"   and {more} more", "quiet"),))
    return [*(lines if len(lines) > 1 else [head, (Span("   nothing that readers see", "quiet"),)]), ()]


def change_lines(changes: Iterable[SemanticChange]) -> list[Line]:
    """Each change in a line: the sign, what it is of, and which of its attributes changed."""
    lines: list[Line] = []
    for one in changes:
        noun, _, verb = one.type.rpartition("_")
        sign, style = _SIGNS.get(verb, ("~", "waiting"))
        attributes = ", ".join(_worded(name) for name in one.attributes or {}) if verb == "edited" else ""
        name = display_text(_name(one)) or _worded(noun)
        lines.append((Span(f"   {sign} ", style), Span(name), Span(f"  {attributes}", "quiet")))
    return lines


def _name(one: SemanticChange) -> str:
    if one.page:
        return one.page.title
    if one.file:
        return one.file.name
    return one.reusable_content.title if one.reusable_content else ""


def _worded(name: str) -> str:
    return {"document": "text", "variables": "variables"}.get(name, display_text(name.replace("_", " ")))
