"""Where things are on disk: one place each for configuration, cache, state and logs, all of them the user's alone.

``PRESSCHECK_HOME`` puts all of it below one directory, for a test or a stick.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PRIVATE = 0o700


@dataclass(frozen=True)
class Places:
    """The directories; each is made, readable by its owner alone, when something is first put into it."""

    config: Path
    """`config.toml` and the user's own themes."""
    cache: Path
    """May be thrown away at any time."""
    state: Path
    """The outbox, drafts and marks, and the log: never thrown away by the program."""
    data: Path
    """What the local service keeps."""

    @property
    def config_file(self) -> Path:
        """The settings; it need not be there."""
        return self.config / "config.toml"

    def cache_file(self, profile: str) -> Path:
        """The SQLite file that remembers what the service of a profile said."""
        return self.cache / f"{profile}.sqlite"

    def outbox_file(self, profile: str) -> Path:
        """The SQLite file that holds what a profile has not yet sent."""
        return private_directory(self.state) / f"{profile}.sqlite"

    def log_file(self) -> Path:
        """Where tracebacks go."""
        return private_directory(self.state) / "presscheck.log"


def places() -> Places:
    """The directories of this user, by the customs of the system."""
    home = os.environ.get("PRESSCHECK_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Places(root / "config", root / "cache", root / "state", root / "data")
    from platformdirs import PlatformDirs  # 8 ms, not needed with PRESSCHECK_HOME

    found = PlatformDirs("presscheck", appauthor=False)
    return Places(found.user_config_path, found.user_cache_path, found.user_state_path, found.user_data_path)


def private_directory(path: Path) -> Path:
    """The directory, made with mode 0700 where it was missing."""
    path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    return path
