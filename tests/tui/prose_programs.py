"""A settings file with prose checks."""

import json
from pathlib import Path


def configure(tmp_path: Path, *checks: tuple[str, list[str]]) -> None:
    """Write a settings file with prose checks, each a name and a command."""
    tables = (f'[[checks]]\nname = "{name}"\ncommand = {json.dumps(command)}\n' for name, command in checks)
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(tables))
