"""Run the command line against the real service, in this process or in a separate one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from click.testing import CliRunner, Result
from tests.root import ROOT
from tests.running_service import RunningService

from presscheck.cli.main import command


@dataclass
class Shell:
    """A user at a shell: a home directory, an environment, and methods that run commands."""

    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "PRESSCHECK_HOME": str(self.home),
            "PRESSCHECK_NO_PROJECT": "1",  # a folder above the clone may contain a project file
            "TERM": "xterm",
            **self.env,
        }
        left = {name: value for name, value in os.environ.items() if not name.startswith("PRESSCHECK_")}
        return {**left, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), **own}

    @property
    def config(self) -> Path:
        (self.home / "config").mkdir(parents=True, exist_ok=True)
        return self.home / "config" / "config.toml"

    def run(self, *words: str, typed: str | IO[bytes] | None = None) -> Result:
        """Run a command in this process."""
        nothing = {name: None for name in os.environ if name.startswith("PRESSCHECK_")}
        return CliRunner().invoke(command, list(words), input=typed, env={**nothing, **self.environment})

    def ok(self, *words: str, typed: str | None = None) -> str:
        """Run a command in this process and return its stdout; fails unless the exit code is 0."""
        ran = self.run(*words, typed=typed)
        assert ran.exit_code == 0, (words, ran.stdout, ran.stderr, ran.exception)
        return ran.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.ok(*words, "--json"))

    def program(self, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run `python -m presscheck` in a separate process."""
        return subprocess.run(
            [sys.executable, "-m", "presscheck", *words],
            env=self.environment,
            input=typed or "",
            capture_output=True,
            text=True,
            timeout=60,
        )


def signed_in(home: Path, service: RunningService) -> Shell:
    """Return a shell with the token and the URL of a service in its environment."""
    return Shell(home, {"PRESSCHECK_TOKEN": service.token, "PRESSCHECK_BASE_URL": service.base_url})
