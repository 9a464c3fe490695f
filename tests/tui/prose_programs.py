"""Programs of prose checks in the settings file of a test."""

import json
import os
from pathlib import Path


def configure(tmp_path: Path, *checks: tuple[str, list[str]]) -> None:
    """Write the settings file with checks, each a name and a command."""
    tables = (f'[[checks]]\nname = "{name}"\ncommand = {json.dumps(command)}\n' for name, command in checks)
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(tables))


def sleeping(mark: Path) -> str:
    """Return the code of a program that writes its process id to a file, and runs for a minute."""
    return f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"


def has_started(mark: Path) -> bool:
    return bool(mark.exists() and mark.read_text())


def has_ended(mark: Path) -> bool:
    try:
        os.kill(int(mark.read_text()), 0)
    except ProcessLookupError:
        return True
    return False
