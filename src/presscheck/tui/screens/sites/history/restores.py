"""Restoring a part of a site snapshot, after a confirmation that lists the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import UpdateAdaptiveSchema, UpdateCustomization, UpdateRedirect
from presscheck.api.site_structure import SortSiteStructure
from presscheck.engine.site_config.push import Push, Receipt
from presscheck.engine.site_config.push_plan import plan_push, prepare
from presscheck.engine.site_config.site_history import changes_between, part_of_config
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.differences import difference_lines
from presscheck.tui.screens.sites.writes import write_reason
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.site_config.document import Part, SiteConfig
    from presscheck.engine.site_config.site_state import SiteState
    from presscheck.engine.site_config.snapshots import Snapshot
    from presscheck.engine.site_config.steps import Plan
    from presscheck.tui.screens.sites.history.session import HistorySession

WRITES: dict[Part, type[Operation[Any]]] = {
    "structure": SortSiteStructure,
    "customization": UpdateCustomization,
    "visitor_schema": UpdateAdaptiveSchema,
    "redirects": UpdateRedirect,
}
"""Parts that can be restored, each with an operation that the user must be allowed to send."""
LETTERS: dict[Part, str] = {"structure": "s", "customization": "c", "visitor_schema": "v", "redirects": "r"}
MOST_LINES = 60
"""Maximum number of calls, and of lines about changed fields, in a confirmation."""


def restore_reason(session: HistorySession, snapshot: Snapshot) -> str | None:
    """Return why a snapshot cannot be restored: writing its parts is not allowed now."""
    operation = next((WRITES[part] for part in snapshot.parts if part in WRITES), UpdateCustomization)
    return write_reason(session.screen, operation, session.site, "create")


async def restore(session: HistorySession, snapshot: Snapshot) -> None:
    """Choose a part of a snapshot, confirm the calls that restore it, and send them."""
    screen = session.screen
    config = await session.config(snapshot)
    now = (await session.reader.read(config.parts)).config
    part = await _choose_part(session, snapshot, config, now)
    if part is None:
        return
    state, resolved, plan = await prepare(part_of_config(config, part), session.reader)
    if plan.problems:
        problems: list[Line] = [(Span(f" {sanitize(str(problem))}", "removed"),) for problem in plan.problems]
        page = TextScreen("Not restored: the snapshot does not fit the site", problems)
        screen.app_context.push_screen(page)
        return
    whole = plan_push(resolved, state, prune=True)
    if plan.kept:
        removes = await _ask_removal(session, plan, whole)
        if removes is None:
            return
        plan = whole if removes else plan
    if not plan.steps:
        screen.notify("no changes: the site has it already")
        return
    title = sanitize(session.site.title)
    question = f"Restore the {_part_name(part)} of {title}?"
    if await confirm(screen, question, _lines(session, plan), "Restore"):
        await _send(session, snapshot, part, state, resolved, plan)


async def _choose_part(session: HistorySession, snapshot: Snapshot, config: SiteConfig, now: SiteConfig) -> Part | None:
    """Ask for the part to restore. Returns None if the user canceled."""
    choices = list[Choice]()
    for part in WRITES:
        if part not in config.parts:
            continue
        present = part_of_config(now, part) if part in now.parts else None
        found = changes_between(present, part_of_config(config, part)) if present else ()
        note = f"{count(len(found), 'difference')} from now" if found else "as it is now"
        choices.append(Choice(part, _part_name(part), note if present else "missing now", letter=LETTERS[part]))
    title = f"Restore from {time_of(snapshot)}"
    chosen = await choose(session.screen, title, choices)
    return next((part for part in WRITES if chosen == part), None)


async def _ask_removal(session: HistorySession, plan: Plan, whole: Plan) -> bool | None:
    """Ask whether to remove additions that were made after the snapshot. Returns None if the user canceled."""
    added, calls = count(len(plan.kept), "addition"), count(len(whole.steps), "call")
    choices = [
        Choice("remove", f"As it was: also remove {added} made since", calls, letter="r"),
        Choice("keep", f"Keep {added} made since", count(len(plan.steps), "call"), letter="k"),
    ]
    chosen = await choose(session.screen, "Restore", choices)
    return None if chosen is None else chosen == "remove"


def _lines(session: HistorySession, plan: Plan) -> list[Line]:
    """Return the lines of the confirmation: calls, changed fields, and fields that only the web app can change."""
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
    if session.site.published:
        lines.append((Span("The site is live: readers see it at once.", "waiting"),))
    lines.append((Span("What it has now is kept as a snapshot.", "quiet"),))
    return lines


async def _send(
    session: HistorySession, snapshot: Snapshot, part: Part, state: SiteState, resolved: SiteConfig, plan: Plan
) -> None:
    """Send a plan, unless the site has changed since the plan was made."""
    screen = session.screen
    what = f"restore of {_part_name(part)} from {snapshot.name}"

    def keep(present: SiteState) -> None:
        screen.engine.site_snapshots.keep(session.site.id, present.config, (part,), what)

    def progress(receipt: Receipt) -> None:
        done = len(receipt.sent) + len(receipt.unneeded)
        screen.notify(f"restoring: {done:,} of {count(len(plan.steps), 'call')}")

    receipt = await Push(screen.engine, session.reader, state, resolved, plan, keep).send(progress)
    await session.reload()
    if receipt.drift:
        names = ", ".join(sanitize(str(one.field)) for one in receipt.drift[:3])
        key = key_for("restore_snapshot")
        screen.notify(f"stopped: {key} shows the plan again. Somebody changed {names} just now")
    if receipt.error:
        screen.app_context.push_screen(TextScreen("Not all was restored", _stopped_lines(receipt)))
    elif receipt.differing:
        screen.notify(f"restored, but the service did not take over {count(len(receipt.differing), 'field')}")
    else:
        screen.notify(f"restored: {key_for('restore_snapshot')} on the first row brings back what it had before")


def _stopped_lines(receipt: Receipt) -> list[Line]:
    """List the sent, failed and unsent calls."""
    lines: list[Line] = []
    if receipt.error:
        lines = [(Span(f" {sanitize(receipt.error.message)}", "removed"),), ()]
    failed = [receipt.failed] if receipt.failed else []
    for heading, steps in (("sent", receipt.sent), ("failed", failed), ("not sent", receipt.left)):
        lines += [(Span(f" {heading:<10}", "quiet"), Span(sanitize(step.text))) for step in steps]
    return [*lines, (), (Span(" Restore again to go on: it compares first, and sends only the rest.", "quiet"),)]


def time_of(snapshot: Snapshot) -> str:
    """Return the time of a snapshot as display text."""
    day, _, time = snapshot.name.partition("T")
    return f"{day} {time[:2]}:{time[2:4]}:{time[4:6]} UTC"


def _part_name(part: Part) -> str:
    return part.replace("_", " ")
