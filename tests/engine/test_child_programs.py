"""Programs of the user: their standard input, memory limit and environment variables."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from presscheck.config.browser_tab import DRIVER, DRIVER_VARIABLE
from presscheck.engine import child_programs
from presscheck.engine.child_programs import ProgramOutput, run_program


def run(code: str, given: bytes | None = None) -> ProgramOutput:
    return asyncio.run(run_program("own", [sys.executable, "-c", code], Path(), 30, given=given))


def test_a_program_reads_all_of_its_input() -> None:
    text = "ä" * 3_000_000
    ran = run("import sys; print(len(sys.stdin.buffer.read().decode()))", text.encode())
    assert (ran.code, ran.output) == (0, "3000000\n")
    assert run("import sys; print(len(sys.stdin.read()))").output == "0\n"


def test_a_program_need_not_read_its_input() -> None:
    assert run("print('done')", b"x" * 10_000_000).output == "done\n"


def test_a_program_has_limited_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":  # other systems cannot limit the memory of another process
        return
    monkeypatch.setattr(child_programs, "MAX_MEMORY", 200 << 20)
    code = "import sys; sys.stdin.read(); len(bytearray(SIZE))"
    assert run(code.replace("SIZE", "50 << 20"), b"").code == 0
    ran = run(code.replace("SIZE", "300 << 20"), b"")
    assert str(ran.failure("own")).endswith("MemoryError")
    child = f"import subprocess, sys; sys.stdin.read(); subprocess.run([sys.executable, '-c', {code!r}], check=True)"
    assert run(child.replace("SIZE", "300 << 20"), b"").code == 1


def test_a_program_does_not_get_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSCHECK_TOKEN", "secret")
    assert "secret" not in run("import os; print(dict(os.environ))").output


def test_program_does_not_inherit_the_driver_of_a_browser_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DRIVER_VARIABLE, DRIVER)
    assert DRIVER not in run("import os; print(dict(os.environ))").output
    monkeypatch.setenv(DRIVER_VARIABLE, "the user's own")
    assert "the user's own" in run("import os; print(dict(os.environ))").output


def test_reason_for_a_failure_is_searched_only_at_the_beginning() -> None:
    blank = " " * child_programs.MAX_READ_FOR_REASON
    assert str(ProgramOutput(1, "", f"{blank[7:]}no file").failure("own")) == "own: failed with exit code 1: no file"
    late = ProgramOutput(1, "", f"{blank}no file").failure("own")
    assert str(late) == "own: failed with exit code 1", "8 MB would hold up the app for a second"
