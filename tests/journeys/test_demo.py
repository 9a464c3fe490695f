"""`presscheck demo` with its output in a pipe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_demo_in_a_pipe_prints_the_inbox(tmp_path: Path) -> None:
    environment = os.environ | {"PRESSCHECK_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "presscheck", "demo"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "Needs me" in result.stdout
    assert "Rewrite the auth guide" in result.stdout
    assert "\x1b" not in result.stdout
