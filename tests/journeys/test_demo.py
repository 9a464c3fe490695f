"""`presscheck demo` in a pipe, as a new user may run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_in_a_pipe_it_prints_the_inbox(tmp_path: Path) -> None:
    environment = os.environ | {"PRESSCHECK_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "presscheck", "demo"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "Needs me" in ran.stdout
    assert "Rewrite the auth guide" in ran.stdout
    assert "\x1b" not in ran.stdout
