"""Known vulnerabilities of the pinned packages: `python -m tests.audit`, with pip-audit.

The exit code is 0 if there is none, 1 if there are some, and 2 if the advisory service could not be asked.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.root import ROOT

PINS = ROOT / "constraints.txt"
UNREACHABLE = ("Dependency not found on", "Failed to connect", "Max retries exceeded", "timed out")
"""Messages about a service that does not answer, or that does not know packages which it must know."""


def audit(pins: Path = PINS) -> tuple[int, str]:
    """Ask for the advisories of each pinned package.

    Returns:
        The exit code, and what to print.
    """
    command = [sys.executable, "-m", "pip_audit", "--strict", "--no-deps", "--disable-pip", "--progress-spinner=off"]
    ran = subprocess.run([*command, "--requirement", pins], capture_output=True, text=True)
    if ran.returncode and any(message in ran.stderr for message in UNREACHABLE):
        return 2, "The advisory service cannot be reached from here, so nothing was checked. Try again with a network."
    return ran.returncode, (ran.stdout + ran.stderr).strip()


if __name__ == "__main__":
    code, text = audit()
    sys.stdout.write(f"{text}\n")
    sys.exit(code)
