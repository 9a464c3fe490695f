"""Compares snapshots of a site with each other and with now, and restores one part after showing what is sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import UpdateAdaptiveSchema, UpdateCustomization, UpdateRedirect
from presscheck.api.site_structure import SortSiteStructure
from presscheck.engine.site_config.push import Push, Receipt
from presscheck.engine.site_config.push_plan import plan_push, prepare
from presscheck.engine.site_config.site_history import changes_between, part_of_config
from presscheck.engine.site_config.site_state import StateReader
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, with_prefix, wrap
from presscheck.tui.screens.sites.differences import difference_lines
from presscheck.tui.screens.sites.writes import write_reason
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.operation import Operation
    from presscheck.engine.site_config.document import Part, SiteConfig
    from presscheck.engine.site_config.site_history import HistoryRow
    from presscheck.engine.site_config.site_state import SiteState
    from presscheck.engine.site_config.snapshots import Snapshot
    from presscheck.engine.site_config.steps import Plan
    from presscheck.tui.screens.sites.history.context import HistoryContext

WRITES: dict[Part, type[Operation[Any]]] = {
    "structure": SortSiteStructure,
    "customization": UpdateCustomization,
    "visitor_schema": UpdateAdaptiveSchema,
    "redirects": UpdateRedirect,
}
"""The parts that can be restored, each with one of its calls."""
LETTERS: dict[Part, str] = {"structure": "s", "customization": "c", "visitor_schema": "v", "redirects": "r"}
NO_SNAPSHOT = "no snapshot: only changes from this machine have one"
MOST_LINES = 60
"""The most calls that a question lists."""
LOADING: Line = (Span(" Loading …", "quiet"),)


class RestoreActions:
    """Handles the commands that compare and restore.

    Args:
        screen: the screen of the history.
    """

    def __init__(self, screen: HistoryContext) -> None:
        self._screen = screen

    def reason_open(self) -> str | None:
        """Disabled without a snapshot, and offline."""
        row = self._screen.row
        if row is None or row.snapshot is None:
            return NO_SNAPSHOT if row else "there is no row"
        return None if self._screen.engine.status.online else "you are offline, and the service has what it is now"

    async def command_open(self) -> None:
        """Show what changed from the snapshot to now, field by field."""
        row = self._screen.row
        if row is None or row.snapshot is None:
            return
        snapshot = row.snapshot

        async def sides() -> tuple[SiteConfig, SiteConfig]:
            before = await self._config(snapshot)
            return before, (await self._reader.read(before.parts)).config

        await self._show(f"Changes since {_name(snapshot)}", sides())

    def reason_act_on_marked(self) -> str | None:
        """Disabled unless two rows with snapshots are marked."""
        marked = len(self._screen.marked)
        return None if marked == 2 else f"{count(marked, 'row')} marked: space marks the two rows to compare"

    async def command_act_on_marked(self) -> None:
        """Show what changed from the older of two marked snapshots to the newer one."""
        if len(self._screen.marked) != 2:
            return
        newer, older = self._screen.marked

        async def sides() -> tuple[SiteConfig, SiteConfig]:
            return await self._config(older), await self._config(newer)

        await self._show(f"Changes from {_name(older)} to {_name(newer)}", sides())

    async def _show(self, title: str, sides: Awaitable[tuple[SiteConfig, SiteConfig]]) -> None:
        """Show what changed from one configuration to another."""
        page = TextScreen(title, [LOADING])
        await self._screen.app_context.push_screen(page)
        try:
            before, after = await sides
            page.show(_comparison(before, after, page.size.width))
        except PresscheckError as error:
            page.show([(Span(f" Not known: {sanitize(error.message)}", "removed"),)])

    def reason_restore_snapshot(self) -> str | None:
        """Disabled without a snapshot, offline, and without the role."""
        if reason := self.reason_open():
            return reason
        row = self._screen.row
        parts = row.snapshot.parts if row and row.snapshot else ()
        operation = next((WRITES[part] for part in parts if part in WRITES), UpdateCustomization)
        return write_reason(self._screen, operation, self._screen.site, "create")

    async def command_restore_snapshot(self) -> None:
        """Choose a part of the snapshot, show the calls that restore it, and send them."""
        screen, row = self._screen, self._screen.row
        if row is None or row.snapshot is None:
            return
        snapshot = row.snapshot
        config = await self._config(snapshot)
        now = (await self._reader.read(config.parts)).config
        part = await self._choose_part(snapshot, config, now)
        if part is None:
            return
        state, resolved, plan = await prepare(part_of_config(config, part), self._reader)
        if plan.problems:
            problems: list[Line] = [(Span(f" {sanitize(str(problem))}", "removed"),) for problem in plan.problems]
            page = TextScreen("Not restored: the snapshot does not fit the site", problems)
            screen.app_context.push_screen(page)
            return
        whole = plan_push(resolved, state, prune=True)
        if plan.kept:
            removes = await self._ask_removal(plan, whole)
            if removes is None:
                return
            plan = whole if removes else plan
        if not plan.steps:
            screen.notify("no changes: the site has it already")
            return
        title = sanitize(screen.site.title)
        question = f"Restore the {_part_name(part)} of {title}?"
        if await screen.ask(ConfirmDialog(question, self._lines(row, plan), "Restore")):
            await self._send(snapshot, part, state, resolved, plan)

    @property
    def _reader(self) -> StateReader:
        return StateReader(self._screen.engine, self._screen.organization_id, self._screen.site.id)

    async def _config(self, snapshot: Snapshot) -> SiteConfig:
        snapshots = self._screen.engine.site_snapshots.of(self._screen.site.id)
        return await asyncio.to_thread(snapshots.config, snapshot)

    async def _choose_part(self, snapshot: Snapshot, config: SiteConfig, now: SiteConfig) -> Part | None:
        """The part to restore; None if that was given up, or if there is none."""
        choices = list[Choice]()
        for part in WRITES:
            if part not in config.parts:
                continue
            present = part_of_config(now, part) if part in now.parts else None
            found = changes_between(present, part_of_config(config, part)) if present else ()
            note = f"{count(len(found), 'difference')} from now" if found else "as it is now"
            choices.append(Choice(part, _part_name(part), note if present else "missing now", letter=LETTERS[part]))
        title = f"Restore from {_name(snapshot)}"
        chosen = await self._screen.ask(Picker(title, choices, ranked=False))
        return next((part for part in WRITES if chosen == (part,)), None)

    async def _ask_removal(self, plan: Plan, whole: Plan) -> bool | None:
        """Whether what was added since is removed; None if that was given up."""
        added, calls = count(len(plan.kept), "addition"), count(len(whole.steps), "call")
        choices = [
            Choice("remove", f"As it was: also remove {added} made since", calls, letter="r"),
            Choice("keep", f"Keep {added} made since", count(len(plan.steps), "call"), letter="k"),
        ]
        chosen = await self._screen.ask(Picker("Restore", choices, ranked=False))
        return None if chosen is None else chosen == ("remove",)

    def _lines(self, row: HistoryRow, plan: Plan) -> list[Line]:
        """What is sent, what changes by it, and what stays as it is."""
        lines: list[Line] = [(Span(f"{count(len(plan.steps), 'call')} to send:", "strong"),)]
        lines += [(Span(f"{sanitize(step.text)}"),) for step in plan.steps[:MOST_LINES]]
        if len(plan.steps) > MOST_LINES:
            lines.append((Span(f"and {len(plan.steps) - MOST_LINES:,} more", "quiet"),))
        lines += [(), (Span("Fields that change:", "strong"),)]
        staying = {one.field for one in (*plan.kept, *plan.manual)}
        changing = [one for one in plan.differences if one.field not in staying]
        lines += [*difference_lines(changing[:MOST_LINES])]
        for one in plan.manual:
            lines.append((Span(f"Can only be changed in the web app: {sanitize(str(one.field))}", "waiting"),))
        if self._screen.site.published:
            lines.append((Span("The site is live: readers see it at once.", "waiting"),))
        lines.append((Span("What it has now is kept as a snapshot.", "quiet"),))
        return lines

    async def _send(self, snapshot: Snapshot, part: Part, state: SiteState, resolved: SiteConfig, plan: Plan) -> None:
        """Send a plan, unless the site is not as it was when the plan was made."""
        screen = self._screen
        what = f"restore of {_part_name(part)} from {snapshot.name}"

        def keep(present: SiteState) -> None:
            screen.engine.site_snapshots.keep(screen.site.id, present.config, (part,), what)

        def progress(receipt: Receipt) -> None:
            done = len(receipt.sent) + len(receipt.unneeded)
            screen.notify(f"restoring: {done:,} of {count(len(plan.steps), 'call')}")

        receipt = await Push(screen.engine, self._reader, state, resolved, plan, keep).send(progress)
        await screen.reload()
        if receipt.drift:
            names = ", ".join(sanitize(str(one.field)) for one in receipt.drift[:3])
            screen.notify(f"stopped: somebody changed {names} just now. . b shows the plan again")
        if receipt.error:
            screen.app_context.push_screen(TextScreen("Not all was restored", _stopped_lines(receipt)))
        elif receipt.differing:
            screen.notify(f"restored, but the service did not take over {count(len(receipt.differing), 'field')}")
        else:
            screen.notify("restored: . b on the first row brings back what it had before")


def _comparison(before: SiteConfig, after: SiteConfig, columns: int) -> list[Line]:
    found = changes_between(before, after)
    if not found:
        return [(Span(" Nothing differs.", "quiet"),)]
    lines: list[Line] = [(Span(f" {count(len(found), 'difference')}", "strong"),), ()]
    return [*lines, *(part for line in difference_lines(found) for part in _wrapped(line, columns - 2))]


def _wrapped(line: Line, columns: int) -> list[Line]:
    """A line with its indentation, which what follows has too."""
    text = plain(line)
    indent = len(text) - len(text.lstrip())
    lines = wrap(line, max(20, columns - indent - 2))
    return with_prefix(lines, (Span(" " * indent),), (Span(" " * (indent + 2)),))


def _stopped_lines(receipt: Receipt) -> list[Line]:
    """What was sent, what failed, and what was not sent."""
    lines: list[Line] = []
    if receipt.error:
        lines = [(Span(f" {sanitize(receipt.error.message)}", "removed"),), ()]
    failed = [receipt.failed] if receipt.failed else []
    for heading, steps in (("sent", receipt.sent), ("failed", failed), ("not sent", receipt.left)):
        lines += [(Span(f" {heading:<10}", "quiet"), Span(sanitize(step.text))) for step in steps]
    return [*lines, (), (Span(" Restore again to go on: it compares first, and sends only the rest.", "quiet"),)]


def _name(snapshot: Snapshot) -> str:
    day, _, time = snapshot.name.partition("T")
    return f"{day} {time[:2]}:{time[2:4]}:{time[4:6]} UTC"


def _part_name(part: Part) -> str:
    return part.replace("_", " ")
