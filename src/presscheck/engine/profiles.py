"""The profiles of the settings file, each with a summary from this machine. No requests are sent."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from presscheck.config.profile import HOSTED, Profile, is_profile_name
from presscheck.config.tokens import is_stored, set_elsewhere
from presscheck.config.validation import profile_names, read_all, read_inbox_profiles
from presscheck.engine.writes.pending_writes import ME
from presscheck.paths import Places, store_name
from presscheck.store.outbox import Outbox, read_marks

NEEDS_ME = "needs me"
"""The storage key of the number of change requests that need the user, with the time of the count."""


@dataclass(frozen=True)
class ProfileSummary:
    """A row in a list of profiles.

    Attributes:
        name: the name.
        base_url: the URL of the service.
        has_token: whether a source of a token is set. The source is not read, so it may have no token.
        user: the name of the user, as the service reported it; empty if unknown.
        needs_me: the number of change requests that needed the user at the last count; None if never counted.
        age: seconds since that count.
    """

    name: str
    base_url: str
    has_token: bool
    user: str = ""
    needs_me: int | None = None
    age: float = 0.0

    @property
    def host(self) -> str:
        """The host of the service; for a socket, its path."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url


def store_needs_me(outbox: Outbox, number: int) -> None:
    """Store how many change requests need the user now."""
    outbox.remember_if_possible(NEEDS_ME, f"{number} {time.time():.0f}")


def list_profiles(where: Places, begun_with: Profile) -> list[ProfileSummary]:
    """Return the profiles of the settings file, and the profile that the process started with, sorted by name.

    Reads the disk. It neither runs programs that print a token, nor opens the system keyring.

    Raises:
        ConfigurationError: the settings file has an error.
    """
    tables = read_all(where.config_file)
    summaries = [_summary(where, begun_with.name, begun_with.base_url, has_token=bool(begun_with.token))]
    for name, table in tables.items():
        if name != begun_with.name and is_profile_name(name):
            base_url = (table.get("base_url") or HOSTED).rstrip("/")
            has_token = bool(set_elsewhere(table, {})) or is_stored(where.config, name, base_url)
            summaries.append(_summary(where, name, base_url, has_token=has_token))
    return sorted(summaries, key=lambda summary: summary.name)


def inbox_profiles(where: Places, begun_with: str) -> tuple[str, ...]:
    """Return the names of the profiles whose inboxes are shown together, in their order.

    Without the setting `inbox_profiles`, these are all profiles of the file, and `begun_with`.

    Args:
        where: the directories with the settings file.
        begun_with: the name of the profile with which the process began; it need not be in the file.

    Raises:
        ConfigurationError: the settings file or the setting has an error.
    """
    names = read_inbox_profiles(where.config_file)
    if names is not None:
        return names
    return tuple(sorted({begun_with, *filter(is_profile_name, profile_names(where.config_file))}))


def _summary(where: Places, name: str, base_url: str, *, has_token: bool) -> ProfileSummary:
    marks = read_marks(where.outbox_file(store_name(name, base_url)), (ME, NEEDS_ME))
    number, _, counted_at = marks.get(NEEDS_ME, "").partition(" ")
    is_counted = number.isdecimal() and counted_at.isdecimal()
    return ProfileSummary(
        name,
        base_url,
        has_token,
        _display_name(marks.get(ME)),
        int(number) if is_counted else None,
        max(0.0, time.time() - int(counted_at)) if is_counted else 0.0,
    )


def _display_name(user: str | None) -> str:
    try:
        return str(json.loads(user or "{}").get("displayName", ""))
    except (ValueError, AttributeError):
        return ""
