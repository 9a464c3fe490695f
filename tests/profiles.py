"""A settings file with several profiles, each on a running service."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.running_service import RunningService


def write_settings(home: Path, chosen: Sequence[str] = (), **services: RunningService | str) -> None:
    """Write a profile for each service; a text is the whole table of a profile.

    Args:
        home: the home directory of the user.
        chosen: the setting `inbox_profiles`; left out if empty.
        services: the services by name of the profile.
    """
    (home / "config").mkdir(exist_ok=True, parents=True)
    lines = [f"inbox_profiles = {json.dumps([*chosen])}"] if chosen else []
    for name, service in services.items():
        if isinstance(service, str):
            lines += [f"[profiles.{name}]", service]
            continue
        token = home / f"{name}-token"
        token.write_text(service.token)
        token.chmod(0o600)
        lines += [f"[profiles.{name}]", f'base_url = "{service.base_url}"', f'token_file = "{token}"', "sync = false"]
    (home / "config" / "config.toml").write_text("\n".join(lines) + "\n")
