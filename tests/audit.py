"""Check the pinned packages for known vulnerabilities with pip-audit: `python -m tests.audit`.

The exit code is 0 if there are none, 1 if there are some, and 2 if the advisory service could not be reached.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.root import ROOT

PINS = ROOT / "constraints.txt"
UNREACHABLE = ("Dependency not found on", "Failed to connect", "Max retries exceeded", "timed out")
"""Messages of pip-audit that mean that the advisory service cannot be reached or does not work."""


def audit(pins: Path = PINS) -> tuple[int, str]:
    """Query the advisories of all pinned packages.

    Returns:
        The exit code, and what to print.
    """
    command = [sys.executable, "-m", "pip_audit", "--strict", "--no-deps", "--disable-pip", "--progress-spinner=off"]
    result = subprocess.run([*command, "--requirement", pins], capture_output=True, text=True)
    if result.returncode and any(message in result.stderr for message in UNREACHABLE):
        return 2, "The advisory service cannot be reached from here, so nothing was checked. Try again with a network."
    return result.returncode, (result.stdout + result.stderr).strip()


if __name__ == "__main__":
    code, text = audit()
    sys.stdout.write(f"{text}\n")
    sys.exit(code)
