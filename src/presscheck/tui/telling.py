"""How the app tells of events: one line below, and one quiet sign of the terminal's where the person wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.text.notifications import notification

if TYPE_CHECKING:
    from presscheck.tui.app import PresscheckApp


async def tell_of_events(home: PresscheckApp) -> None:
    """Tell of what happens while the app runs; where that cannot be seen now, whatever else asks says so."""
    from presscheck.engine.inbox.events import summarize

    async for events, _ in home.desk.events.watch():
        if not events:
            continue
        home.notice(summarize(events))
        if home.profile.notify and home.desk.events.may_notify():
            home.to_terminal(notification(home.profile.notify, summarize(events)))
