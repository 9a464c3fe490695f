"""Saving a customization without overwriting changes of others, and restoring snapshots."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presscheck.engine.site_config.comparison import compare, drifts
from presscheck.engine.site_config.document import SiteConfig
from presscheck.engine.site_config.push import Push
from presscheck.engine.site_config.push_plan import plan_push
from presscheck.engine.site_config.site_state import SiteState, StateReader
from presscheck.engine.site_config.snapshots import Snapshot, Snapshots
from presscheck.engine.site_customization.contrast import MODES, contrast_of
from presscheck.engine.site_customization.settings import problems_of, settings_of
from presscheck.engine.site_customization.three_way import Merged, merge
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.differences import change_line, plain_value
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.site_config.comparison import Drift
    from presscheck.engine.site_customization.settings import Document
    from presscheck.engine.site_customization.three_way import Conflict
    from presscheck.tui.screens.sites.customization.session import Customization

OFFLINE = "you are offline: your edits are kept as a draft until you save them"
KEPT = "not saved: your edits are kept as a draft"
MOST_LINES = 40
"""Maximum number of fields in each list of a confirmation."""


class Saves:
    """The commands that save the customization or restore a snapshot.

    Args:
        session: the customization of the site.
    """

    def __init__(self, session: Customization) -> None:
        self._session = session

    def _reason(self) -> str | None:
        if reason := self._session.reason():
            return reason
        return None if self._session.screen.engine.status.online else OFFLINE

    def reason_send(self) -> str | None:
        """Return why the edits cannot be saved: there are none, the app is offline, or the change is not allowed."""
        return self._reason() or (None if self._session.is_changed else "there are no unsaved edits")

    async def command_send(self) -> None:
        """Save the edits after a confirmation.

        Changes by others are shown first, and stay unless the edits replace them.
        """
        await self._save()

    def reason_restore_snapshot(self) -> str | None:
        """Return why no snapshot can be restored: there is none, the app is offline, or the change is not allowed."""
        return self._reason() or ("no snapshot yet: each save keeps one" if self._snapshots.is_empty else None)

    async def command_restore_snapshot(self) -> None:
        """Choose a snapshot, and save its customization after a confirmation."""
        session, screen = self._session, self._session.screen
        choices = await asyncio.to_thread(self._choices)
        if not choices:
            screen.notify("no snapshot has a customization")
            return
        title = f"Restore the customization of {sanitize(session.site.title)}"
        chosen = await choose(screen, title, choices)
        if not chosen:
            return
        config = await asyncio.to_thread(self._snapshots.config, self._snapshots.named(chosen))
        document = config.customization
        state = await self._read()
        now = state.config.customization
        if document is None or now is None:
            screen.notify("the snapshot has no customization")
        elif document == now:
            screen.notify("no changes: the site has it already")
        else:
            session.restart(now, document)
            await self._save()

    @property
    def _snapshots(self) -> Snapshots:
        return self._session.screen.engine.site_snapshots.of(self._session.site.id)

    def _choices(self) -> list[Choice]:
        """Return the snapshots with a customization, newest first, with the number of differences from the site."""
        return [choice for snapshot in self._snapshots.every() if (choice := self._choice(snapshot))]

    def _choice(self, snapshot: Snapshot) -> Choice | None:
        try:
            config = self._snapshots.config(snapshot)
        except PresscheckError:
            return None
        if config.customization is None:
            return None
        what = "publishing" if snapshot.kind == "published" else "the change"
        present = SiteConfig(customization=self._session.present)
        found = compare(present, SiteConfig(customization=config.customization))
        day, _, time = snapshot.name.partition("T")
        clock = f"{time[:2]}:{time[2:4]}:{time[4:6]}"
        note = f"{count(len(found), 'field')} differ" if found else "as it is now"
        return Choice(snapshot.name, f"before {what} of {day} {clock} UTC", note)

    async def _read(self) -> SiteState:
        """Read the current customization of the site.

        Raises:
            PresscheckError: the customization cannot be read.
        """
        session = self._session
        reader = StateReader(session.screen.engine, session.organization_id, session.site.id)
        state = await reader.read(["customization"])
        if "customization" in state.unread:
            raise state.unread["customization"]
        return state

    async def _save(self) -> None:
        session, screen = self._session, self._session.screen
        state = await self._read()
        now = state.config.customization or {}
        base, mine = state.secrets.hide(session.base or {}), state.secrets.hide(session.document)
        merged = merge(base, mine, now)
        sides = [SiteConfig(customization=one) for one in (base, now, mine)]
        drift = drifts("customization", *sides)
        if merged.conflicts:
            settled = await self._settled(merged)
            if settled is None:
                screen.notify(KEPT)
                return
            merged = settled
        if merged.document == now:
            session.restart(now, now)
            screen.notify("no changes: the site has them already")
            return
        if self._has_problems(merged.document, now):
            return
        lines = self._lines(now, merged.document, drift)
        title = sanitize(session.site.title)
        if not await confirm(screen, f"Save the customization of {title}?", lines, "Save"):
            screen.notify(KEPT)
            return
        await self._send(state, merged.document)

    async def _send(self, state: SiteState, document: Document) -> None:
        """Send a document, unless the site has changed since `state` was read."""
        session, screen = self._session, self._session.screen
        config = SiteConfig(customization=dict(document))
        plan = plan_push(config, state, prune=True)
        if plan.problems:
            screen.notify(sanitize(f"not saved: {plan.problems[0]}"))
            return
        reader = StateReader(screen.engine, session.organization_id, session.site.id)

        def keep(present: SiteState) -> None:
            screen.engine.site_snapshots.keep(session.site.id, present.config, ("customization",), "edited as a form")

        receipt = await Push(screen.engine, reader, state, config, plan, keep).send(lambda _: None)
        if receipt.drift:
            screen.notify(
                f"not saved: somebody changed it just now. {key_for('send')} shows what, and your edits are kept"
            )
        elif receipt.error:
            self._place_error(receipt.error)
        else:
            after = (await self._read()).config.customization or dict(document)
            session.restart(after, after)
            differing = count(len(receipt.differing), "field")
            left = f"; the service did not take over {differing}" if receipt.differing else ""
            screen.notify(f"saved{left}: {key_for('restore_snapshot')} restores what it had before")

    async def _settled(self, merged: Merged) -> Merged | None:
        """Ask which side wins each conflict. Returns the merged document, or None if the user canceled."""
        choice_for_all = ""
        for number, conflict in enumerate(merged.conflicts):
            left = len(merged.conflicts) - number
            choice = choice_for_all or await self._choose_side(conflict, left)
            if choice is None:
                return None
            if choice.startswith("all "):
                choice_for_all = choice = choice.removeprefix("all ")
            if choice == "theirs":
                merged = merged.with_theirs(conflict)
        return merged

    async def _choose_side(self, conflict: Conflict, left: int) -> str | None:
        before, now, mine = (plain_value(one) for one in (conflict.before, conflict.now, conflict.mine))
        choices = [
            Choice("mine", f"Yours: {mine}", letter="m"),
            Choice("theirs", f"Theirs: {now}", letter="t"),
        ]
        if left > 1:
            rest = f"{left:,} conflicts"
            choices += [
                Choice("all mine", f"Yours in all {rest}", letter="y"),
                Choice("all theirs", f"Theirs in all {rest}", letter="a"),
            ]
        title = f"Conflict: both changed {sanitize(conflict.name)} (before: {before})"
        return await choose(self._session.screen, title, choices)

    def _has_problems(self, document: Document, now: Document) -> bool:
        """Return whether a value is invalid, and show the first problem at its setting."""
        session = self._session
        problems = problems_of(document, now)
        for name, reason in problems.items():
            session.errors[name] = reason
            self._session.go_to(name)
            self._session.screen.notify(f"not saved: {count(len(problems), 'setting')} invalid")
            return True
        return False

    def _place_error(self, error: PresscheckError) -> None:
        """Show an error of the service at the setting that the error names, or in the footer if it names none."""
        session, screen = self._session, self._session.screen
        named = next(
            (
                one
                for one in settings_of(session.document)
                if error.message.startswith((f"{one.name}.", f"{one.name}:"))
            ),
            None,
        )
        if named is None:
            screen.app_context.show_error(error)
            return
        session.errors[named.name] = error.message.partition(": ")[2] or error.message
        session.go_to(named.name)
        screen.notify(sanitize(f"not saved: {error.message}"))

    def _lines(self, now: Document, document: Document, drift: Sequence[Drift]) -> list[Line]:
        """Return the lines of the confirmation: changes by others, contrast warnings, and changed fields."""
        lines: list[Line] = []
        if drift:
            lines.append((Span("Somebody else changed this in the meantime; it stays unless it is below:", "waiting"),))
            lines += [_drift_line(one) for one in drift[:MOST_LINES]]
            lines.append(())
        found = compare(SiteConfig(customization=dict(now)), SiteConfig(customization=dict(document)))
        changes = [one for one in found if not (_is_nothing(one.site) and _is_nothing(one.file))]
        # contrast first: the fields may not fit into the terminal
        lines += _contrast_lines(now, document)
        if self._session.site.published:
            lines.append((Span("The site is live: readers see it at once.", "waiting"),))
        lines.append((Span(f"{count(len(changes), 'field')} of the site change:", "strong"),))
        lines += [change_line(one.field.name, one) for one in changes[:MOST_LINES]]
        if len(changes) > MOST_LINES:
            lines.append((Span(f"and {len(changes) - MOST_LINES:,} more", "quiet"),))
        lines.append((Span("What it has now is kept as a snapshot.", "quiet"),))
        return lines


def _is_nothing(value: Any) -> bool:
    """Return whether a value is missing or empty. Changes between missing and empty are not listed."""
    return value is None or value in ([], {})


def _drift_line(drift: Drift) -> Line:
    values = f"{plain_value(drift.before)} → {plain_value(drift.now)}"
    is_mine = drift.file not in (drift.before, drift.now)
    mine = f" (yours: {plain_value(drift.file)})" if is_mine else ""
    return (Span(f"{sanitize(drift.field.name)}: ", "quiet"), Span(values), Span(mine, "waiting"))


def _contrast_lines(now: Document, document: Document) -> list[Line]:
    """Return warnings about colors whose contrast is too low, except for unchanged contrasts."""
    lines: list[Line] = []
    for setting in settings_of(document):
        for mode in MODES if setting.is_color else ():
            contrast, before = contrast_of(document, setting, mode), contrast_of(now, setting, mode)
            if contrast and contrast.level == "fails" and (before is None or contrast != before):
                text = f"{setting.label} ({mode}): contrast {contrast.text} : 1 fails, 4.5 is needed"
                lines.append((Span(f"✗ {text}", "removed"),))
    return lines
