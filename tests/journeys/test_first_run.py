"""The first start of `presscheck` in a pseudo-terminal: no settings, no profile, no token."""

import os
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "presscheck"]
SMALL = (80, 24)


def opened(home: Path, *arguments: str) -> Terminal:
    return Terminal([*COMMAND, *arguments], env={"PRESSCHECK_HOME": str(home)}, size=SMALL)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [variable for variable in os.environ if variable.startswith("PRESSCHECK_")]:
        monkeypatch.delenv(variable)


def test_sign_in_is_remembered_and_token_never_shown(tmp_path: Path, service: RunningService) -> None:
    home = tmp_path / "home"
    terminal = opened(home, "--theme", "paper")
    terminal.wait("Where is your documentation")
    terminal.press("enter")
    terminal.wait("Personal access token")
    terminal.press("up", "ctrl+u", *service.base_url, "enter")
    terminal.wait("127.0.0.1")
    terminal.press(*service.token, "enter")
    terminal.wait("Rewrite the auth guide")
    terminal.press("q")
    assert terminal.end() == 0
    assert service.token.encode() not in terminal.raw
    terminal.close()
    second_run = opened(home)
    second_run.wait("Rewrite the auth guide")
    assert "tour" not in second_run.text, "it is offered once"
    assert "Where is your documentation" not in second_run.text
    second_run.press("q")
    assert second_run.end() == 0
    second_run.close()
