"""The user's directories for configuration, cache, state and data, all with mode 0700.

``PRESSCHECK_HOME`` moves all directories below a single directory, for tests or a portable installation.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from presscheck.errors import StoreError

PRIVATE = 0o700
PRIVATE_FILE = 0o600


@dataclass(frozen=True)
class Places:
    """The user's directories; each is created at its first use, readable by its owner only."""

    config: Path
    """`config.toml` and the user's own themes."""
    cache: Path
    """The cached responses, which can be deleted at any time."""
    state: Path
    """The outbox with local state, texts open in an editor, site snapshots, specification versions, and the log.

    Only old snapshots and versions are deleted automatically.
    """
    data: Path
    """The data of the local service, and the base versions of pulled site configurations."""

    @property
    def config_file(self) -> Path:
        """The settings file; it need not exist."""
        return self.config / "config.toml"

    @property
    def trust_file(self) -> Path:
        """The file with the programs of projects that the user trusts; it need not exist."""
        return self.state / "trusted-programs.json"

    def cache_file(self, profile: str) -> Path:
        """Return the SQLite file with the cached responses of a profile's service."""
        return self.cache / f"{profile}.sqlite"

    def outbox_file(self, profile: str) -> Path:
        """Return the SQLite file with the unsent writes and the local state of a profile."""
        return private_directory(self.state) / f"{profile}.sqlite"

    def openapi_versions(self, profile: str) -> Path:
        """Return the directory with versions of OpenAPI specifications that were seen on this machine."""
        return self.state / "openapi-versions" / profile

    def site_snapshots(self, profile: str) -> Path:
        """Return the directory with the site snapshots of a profile."""
        return self.state / "site-snapshots" / profile

    def site_bases(self, profile: str) -> Path:
        """Return the directory with the site configurations of a profile, as they were when they were pulled."""
        return self.data / "site-bases" / profile

    def log_file(self) -> Path:
        """Return the log file, which contains tracebacks."""
        return private_directory(self.state) / "presscheck.log"


def places() -> Places:
    """Return the directories of the current user, by the conventions of the system."""
    home = os.environ.get("PRESSCHECK_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Places(root / "config", root / "cache", root / "state", root / "data")
    from platformdirs import PlatformDirs  # 8 ms, not needed with PRESSCHECK_HOME

    dirs = PlatformDirs("presscheck", appauthor=False)
    return Places(dirs.user_config_path, dirs.user_cache_path, dirs.user_state_path, dirs.user_data_path)


def store_name(profile: str, base_url: str) -> str:
    """Return the name of the files of a profile and a service."""
    return f"{profile}-{short_hash(base_url)}"


def short_hash(text: str) -> str:
    """Return a hash of eight hexadecimal digits, for file names."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def private_directory(path: Path) -> Path:
    """Create a directory with mode 0700 if it is missing, and return it.

    Raises:
        StoreError: the directory cannot be created.
    """
    try:
        make_private_directory(path)
    except OSError as error:
        raise StoreError(f"Could not use the folder {path}: {error.strerror}") from None
    return path


def make_private_directory(path: Path) -> None:
    """Create a directory and its missing parents, all with mode 0700.

    Raises:
        OSError: a directory cannot be created.
    """
    try:
        path.mkdir(mode=PRIVATE, exist_ok=True)
    except FileNotFoundError:
        if path.parent == path:
            raise
        make_private_directory(path.parent)  # `parents=True` would let other users read them
        path.mkdir(mode=PRIVATE, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file, for `open(..., opener=private_opener)`. A new file is created with mode 0600."""
    return os.open(path, flags, PRIVATE_FILE)
