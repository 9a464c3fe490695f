"""A settings file with several profiles, each on a running service."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.running_service import RunningService


def write_settings(home: Path, chosen: Sequence[str] = (), **services: RunningService | str) -> None:
    """Write a settings file with a profile for each service.

    Args:
        home: the home directory of the user.
        chosen: the setting `inbox_profiles`; left out if empty.
        services: services by name of the profile, or the TOML text of a profile.
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
