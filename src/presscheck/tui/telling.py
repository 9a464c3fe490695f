"""How the app tells of events: one line below, and one quiet sign of the terminal's where the person wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.documents.notifications import notification

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext


async def tell_of_events(home: AppContext) -> None:
    """Tell of what happens while the app runs; where that cannot be seen now, whatever else asks says so."""
    from presscheck.desk.events import told

    async for events, _ in home.desk.events.watch():
        if not events:
            continue
        home.notify(told(events))
        if home.profile.notify and home.desk.events.may_notify():
            home.to_terminal(notification(home.profile.notify, told(events)))
