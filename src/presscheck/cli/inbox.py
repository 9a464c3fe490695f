"""The inbox as plain text: the first view that has something in it, one line each."""

from __future__ import annotations

import asyncio
import shutil
import sys

from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.config import Profile
from presscheck.desk.desk import Desk
from presscheck.desk.inbox import VIEWS, View, facts
from presscheck.desk.questions import reviewers_of, reviews_of
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now
from presscheck.documents.spans import plain
from presscheck.tui.screens.inbox_lines import request_row

WIDE = 120
"""Columns where there is no terminal that has a width."""
MOST = 50
"""Rows that are printed of a view."""


def print_inbox(profile: Profile) -> None:
    """Print what needs the user, on standard output.

    Raises:
        PresscheckError: the service said no, or cannot be reached and nothing is known.
    """
    for line in asyncio.run(_collected(profile)):
        sys.stdout.write(line.rstrip() + "\n")


async def _collected(profile: Profile) -> list[str]:
    from presscheck.wiring import open_desk

    desk = open_desk(profile)
    await desk.start()
    try:
        me = await desk.read(GetCurrentUser())
        lines: list[str] = []
        for organization in (await desk.read(ListOrganizations())).items:
            lines += await _inbox_of(desk, organization, me.id)
        return lines
    finally:
        await desk.close()


async def _inbox_of(desk: Desk, organization: Organization, me: str) -> list[str]:
    counts: list[str] = []
    shown: View | None = None
    for view in VIEWS:
        total = await _bring_in(desk, view, organization.id, me)
        counts.append(f"{view.title} {total}")
        shown = shown or (view if total else None)
    lines = [display_text(organization.title), "  ".join(counts)]
    return lines + (await _rows(desk, shown, organization.id, me) if shown else ["Nothing needs you."])


async def _rows(desk: Desk, view: View, organization: str, me: str) -> list[str]:
    spaces = await desk.read(ListSpaces(organization_id=organization, limit=1000))
    titles = {space.id: display_text(space.title) for space in spaces.items}
    columns = max(100, shutil.get_terminal_size((120, 24)).columns) if sys.stdout.isatty() else WIDE
    lines = ["", view.title]
    for request in desk.window(view.listing(organization, me), 0, MOST).items:
        await asyncio.gather(desk.read(reviews_of(request)), desk.read(reviewers_of(request)))
        row = request_row(request, facts(desk, request, me), titles.get(request.space, ""), columns, now())
        lines.append(plain(row))
    return lines


async def _bring_in(desk: Desk, view: View, organization: str, me: str) -> int:
    """Bring a view into the store; how many it has."""
    total, error = 0, None
    async for seen in desk.watch_listing(view.listing(organization, me)):
        total, error = seen.value, seen.error
        if seen.state != "cached" and desk.window(view.listing(organization, me), 0, 0).complete:
            break
        if error:
            break
    if error and not desk.window(view.listing(organization, me), 0, 0).age:
        raise error
    return total
