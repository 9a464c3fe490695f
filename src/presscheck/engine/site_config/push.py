"""Sends the calls of a plan, one after another, unless somebody else changed the site since the plan was made.

Before the first call of a part, the part is read again and compared with the state for which the plan was made. Before
each call on the structure, the affected item is compared. The effects of calls before a failure stay: the next push
compares again and plans only the remaining changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from presscheck.api.operation import Operation
from presscheck.api.site_structure import GetSiteStructure
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.redirects import Writer, reference
from presscheck.engine.publish.site_structure import plain_path
from presscheck.engine.site_config.comparison import Difference, Drift, Field, compare, drifts
from presscheck.engine.site_config.document import PARTS, Entry, Part, SiteConfig, every_entry
from presscheck.engine.site_config.site_state import OnlineReader, SiteState, StateReader, entries_of
from presscheck.engine.site_config.steps import Plan, Step
from presscheck.errors import ChangedSince, NotNow, PresscheckError
from presscheck.text.phrases import count

POLL_SECONDS = 0.2
"""Seconds between two checks of the connection while a call is pending."""
LONGEST_WAIT = 300.0
"""Maximum number of seconds to wait for a call that is queued behind an earlier write in the outbox."""


class Sender(OnlineReader, Writer, Protocol):
    """The parts of the engine that a push needs."""


@dataclass
class Receipt:
    """The result of a push.

    Attributes:
        sent: the steps whose calls were sent.
        unneeded: the steps that were not sent because the site already had their results.
        failed: the step at which the push stopped; None if it did not stop.
        error: the reason why the push stopped.
        left: the steps after the failed step.
        drift: other people's changes, if they stopped the push.
        differing: the differences that remain after all steps because the service did not accept the values.
    """

    sent: list[Step] = field(default_factory=list[Step])
    unneeded: list[Step] = field(default_factory=list[Step])
    failed: Step | None = None
    error: PresscheckError | None = None
    left: tuple[Step, ...] = ()
    drift: tuple[Drift, ...] = ()
    differing: tuple[Difference, ...] = ()


class _Drifted(ChangedSince):
    """Somebody else changed a part since the plan was made."""

    def __init__(self, message: str, drift: tuple[Drift, ...]) -> None:
        self.drift = drift
        super().__init__(message)


@dataclass
class Push:
    """A push in progress, which sends the steps of a plan.

    Args:
        engine: reads items of the structure and sends calls.
        reader: reads the site.
        state: the state of the site for which the plan was made.
        config: the configuration in the file, resolved.
        plan: the plan.
        keep: stores the state before the first call is sent.
    """

    engine: Sender
    reader: StateReader
    state: SiteState
    config: SiteConfig
    plan: Plan
    keep: Callable[[SiteState], object]

    def __post_init__(self) -> None:
        self._keys: dict[str, str] = {}

    async def send(self, progress: Callable[[Receipt], None]) -> Receipt:
        """Send all steps, or stop at the first failure.

        Args:
            progress: called after each step.

        Raises:
            PresscheckError: after all steps, the site cannot be read for the final comparison.
        """
        receipt, steps = Receipt(), self._ordered()
        for number, step in enumerate(steps):
            try:
                if number == 0 or step.part != steps[number - 1].part:
                    await self._require_same(step.part)
                if number == 0:
                    self.keep(self.state)
                is_sent = await self._send_step(step)
            except PresscheckError as error:
                receipt.failed, receipt.error, receipt.left = step, error, tuple(steps[number + 1 :])
                receipt.drift = error.drift if isinstance(error, _Drifted) else ()
                return receipt
            (receipt.sent if is_sent else receipt.unneeded).append(step)
            progress(receipt)
        after = await self.reader.read(self.config.parts)
        known = {one.field for one in (*self.plan.kept, *self.plan.manual)}
        found = compare(after.config, self.config)
        receipt.differing = tuple(one for one in found if one.field not in known and not one.needs_prune)
        return receipt

    def _ordered(self) -> list[Step]:
        return [step for part in PARTS for step in self.plan.steps_of(part)]

    async def _require_same(self, part: Part) -> None:
        """Check that a part has not changed since the plan was made.

        Raises:
            ChangedSince: somebody else changed the part.
            PresscheckError: the part cannot be read.
        """
        now = await self.reader.read([part])
        if part == "redirects":
            found = tuple(_redirect_drifts(self.state, now, self.config))
        else:
            found = tuple(drifts(part, self.state.config, now.config, self.config))
        if found:
            fields = count(len(found), "field")
            raise _Drifted(f"Somebody else changed {fields} of the {part} since the plan was made", found)

    async def _send_step(self, step: Step) -> bool:
        """Send a step. Return False if the site already had its result and nothing was sent.

        Raises:
            ChangedSince: somebody else changed the item.
            PresscheckError: the call failed.
        """
        if step.item and await self._has_result(step):
            return False
        answer = await self._deliver(step.call(self._keys))
        if step.creates:
            self._keys[step.creates] = key_of(answer)
        if step.adds_space:
            space, name = step.adds_space
            entries = every_entry(await self._structure())
            found = [one.key for one in entries if one.kind == "space" and one.space == space]
            if not found:
                raise PresscheckError(f"the service did not add the space {space}")
            self._keys[name] = found[-1]
        return True

    async def _structure(self) -> tuple[Entry, ...]:
        return entries_of((await self.engine.read(GetSiteStructure(**self.state.path))).structure)

    async def _has_result(self, step: Step) -> bool:
        """Return whether an item already has the state that a step produces.

        Raises:
            ChangedSince: the item is gone, or has neither that state nor the state that the step expects.
        """
        items = dict(_present_items("", await self._structure()))
        present = items.get(self._key(step.item))
        if present is None:
            raise ChangedSince(f"Somebody else removed an item: {step.text}")
        if step.leaves and all(present.get(name) == (value or None) for name, value in step.leaves.items()):
            return True
        for name, value in step.expects.items():
            wanted = self._expected(value)
            if present.get(name) != wanted:
                found = (Drift(Field("structure", step.text, name), _shown(wanted), _shown(present.get(name)), None),)
                raise _Drifted("Somebody else changed an item of the structure just now", found)
        return False

    def _key(self, name: str) -> str:
        return self._keys.get(name, name)

    def _expected(self, value: Any) -> Any:
        if isinstance(value, frozenset):
            return frozenset(self._key(name) for name in cast("frozenset[str]", value))
        return self._key(value) if isinstance(value, str) else value

    async def _deliver(self, call: Operation[Any]) -> Any:
        """Send a call and return its response; a call that cannot be sent is removed from the outbox.

        Raises:
            NotNow: the service cannot be reached, or an earlier write in the outbox is not sent yet.
            PresscheckError: the service refused the call.
        """
        ticket = self.engine.write(call)
        landed = asyncio.ensure_future(ticket.landed())
        waited = 0.0
        try:
            while not landed.done():
                await asyncio.wait((landed,), timeout=POLL_SECONDS)
                waited += POLL_SECONDS
                is_late = waited > LONGEST_WAIT or not self.engine.status.online
                if not landed.done() and ticket.id and is_late and self.engine.unsend(ticket.id):
                    reason = "an earlier change of the outbox is not sent yet: run `presscheck outbox list`"
                    raise NotNow("You are offline" if not self.engine.status.online else reason)
            return landed.result()
        except PresscheckError:
            if ticket.id:
                self.engine.unsend(ticket.id)  # a call left in the outbox would hold up the next push
            raise
        finally:
            landed.cancel()


def _present_items(parent: str, entries: tuple[Entry, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each item's key and current values, with the names used by `Step.expects` and `Step.leaves`."""
    for entry in entries:
        title = {"title": entry.title} if entry.kind != "space" else {}
        content = frozenset(one.key for one in entry.entries)
        default = "default" in entry.flags
        yield entry.key, {**entry.texts, **title, "in": parent, "content": content, "default": default}
        yield from _present_items(entry.key, entry.entries)


def _redirect_drifts(before: SiteState, now: SiteState, file: SiteConfig) -> Iterator[Drift]:
    """Yield the redirects with changed targets.

    Targets are compared by id, because the push itself may have changed paths.
    """
    sides = [{path: reference(one.destination) for path, one in state.redirects.items()} for state in (before, now)]
    shown = [_shown_targets(state.config) for state in (before, now)]
    wanted = _shown_targets(file)
    for path in {**sides[0], **sides[1]}:
        if sides[0].get(path) != sides[1].get(path):
            field_name = Field("redirects", path or "/", "to")
            yield Drift(field_name, shown[0].get(path), shown[1].get(path), wanted.get(path))


def _shown_targets(config: SiteConfig) -> dict[str, str]:
    return {plain_path(redirect.source): str(redirect.target) for redirect in config.redirects or ()}


def _shown(value: Any) -> str:
    return count(len(cast("frozenset[str]", value)), "item") if isinstance(value, frozenset) else str(value or "")
