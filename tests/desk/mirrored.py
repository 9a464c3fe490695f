"""A home with a mirror of the sample workspace in it, and what was asked of the service since."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.running_service import RunningService

from presscheck.config import Profile
from presscheck.desk.desk import Desk, Progress
from presscheck.paths import Places
from presscheck.wiring import open_desk


def desk_on(service: RunningService, home: Path, **profile: object) -> Desk:
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return open_desk(Profile(base_url=service.base_url, token=service.token, **profile), places)  # type: ignore[arg-type]


async def mirror(service: RunningService, home: Path, space: str | None = None) -> Progress:
    """Bring a home up to date; how far that went."""
    desk = desk_on(service, home)
    await desk.start()
    told = [progress async for progress in desk.sync(space=space)]
    await desk.close()
    return told[-1]


def copied(home: Path, into: Path) -> Path:
    shutil.copytree(home, into)
    return into
