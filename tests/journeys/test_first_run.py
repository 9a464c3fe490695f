"""`presscheck` as somebody starts it for the first time, in a pseudo-terminal: no settings, no profile, no token."""

import os
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "presscheck"]
SMALL = (80, 24)


def opened(home: Path, *words: str) -> Terminal:
    return Terminal([*COMMAND, *words], env={"PRESSCHECK_HOME": str(home)}, size=SMALL)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PRESSCHECK_")]:
        monkeypatch.delenv(name)


def test_signing_in_is_remembered_and_the_token_is_never_on_the_screen(tmp_path: Path, service: RunningService) -> None:
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
    again = opened(home)
    again.wait("Rewrite the auth guide")
    assert "tour" not in again.text, "it is offered once"
    assert "Where is your documentation" not in again.text
    again.press("q")
    assert again.end() == 0
    again.close()
