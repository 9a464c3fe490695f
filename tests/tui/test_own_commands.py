"""Own commands by keys in the app: each mode with a real program, places, fields, questions and cancellation."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, review, running, shown, until
from tests.tui.change_request_factory import begun
from textual.pilot import Pilot

from presscheck.config.browser_tab import DRIVER, DRIVER_VARIABLE
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place

pytestmark = [pytest.mark.service(shared=True), pytest.mark.usefixtures("at_once")]

WRITER = """
import json, os, sys
with open(sys.argv[1], "a") as file:
    print(json.dumps([sys.argv[2:], os.getcwd(), "PRESSCHECK_TOKEN" in os.environ]), file=file)
"""
PAGE = "The first line.\n\nThe second line.\n"


class Programs:
    """Programs in a folder with a space in its name, and a settings file with commands that run them."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "own programs"
        self.folder.mkdir()
        self.written = self.folder / "what ran.json"
        self._file = home / "config" / "config.toml"
        self._file.parent.mkdir(exist_ok=True)
        self._file.touch()

    def python(self, name: str, code: str) -> list[str]:
        """Write a Python program and return its command line."""
        file = self.folder / f"{name}.py"
        file.write_text(code)
        return [sys.executable, str(file)]

    def writer(self, *words: str) -> list[str]:
        """Write a program that logs its arguments, and return its command line."""
        return [*self.python("writer", WRITER), str(self.written), *words]

    def command(self, name: str, words: list[str] | str, **settings: Any) -> None:
        """Add a command to the settings file."""
        table = {"name": name, "command": words, **settings}
        lines = (f"{key} = {json.dumps(value)}" for key, value in table.items())
        with self._file.open("a") as file:
            print("[[commands]]", *lines, sep="\n", file=file)

    def settings(self, text: str) -> None:
        """Add tables to the settings file."""
        with self._file.open("a") as file:
            print(text, file=file)

    @property
    def runs(self) -> list[list[str]]:
        """The arguments of each run of the writer."""
        lines = self.written.read_text().splitlines() if self.written.exists() else []
        return [json.loads(line)[0] for line in lines]


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


@pytest.fixture
def clipboard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Copied texts. The app seems to run over SSH, so it copies addresses instead of opening them."""
    copied: list[str] = []
    monkeypatch.setenv("SSH_TTY", "/dev/pts/1")
    monkeypatch.setattr(PresscheckApp, "copy_to_clipboard", lambda _app, text: copied.append(text))
    return copied


async def on_row(pilot: Pilot[Any], text: str) -> None:
    """Move the cursor of the inbox to a row."""
    await inbox_loaded(pilot)
    await pilot.press("4")
    screen: Any = pilot.app.screen
    session = screen.session
    await until(pilot, shows=text)
    row = next(at for at in range(session.rows.count) if (found := session.model.request(at)) and text in found.subject)
    session.rows.move_to(row)
    await until(pilot, holds=lambda: text in session.current().subject)


@pytest.mark.slow
async def test_commands_get_the_exact_values_of_the_row(
    service: RunningService, tmp_path: Path, programs: Programs, clipboard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = "Own: -rf $(touch x) 'y' {number}; exit 3 & more"
    one = await begun(service, subject, PAGE)
    monkeypatch.setenv("PRESSCHECK_TOKEN", "secret")
    words = programs.writer("{number}", "t={title}", "{space}")
    programs.command("Open ticket", words, key="g T", directory=str(programs.folder), confirm=True)
    script = ['"$1" "$2" "$3" "$(printf %s "$4" | tr a-z A-Z)"', *programs.writer("{title}")]
    programs.command("Script", script, shell=True)
    programs.command("Search", "https://find.example/?q={title}", key="f9", mode="open")
    programs.command("Create", programs.python("create", "print('made https://t.example/7.')"), key="f12", mode="open")
    async with running(app_on(service, tmp_path), (200, 40)) as pilot:
        await on_row(pilot, "Own: -rf")
        number = pilot.app.screen.session.current().number
        for answer in ("n", "y"):
            await pilot.press("g", "T")
            await until(pilot, shows="Run Open ticket?")
            await until(pilot, shows="{number}; exit 3 & more")  # the question has the exact arguments
            assert programs.runs == []
            await pilot.press(answer)
            await until(pilot, holds=lambda: "Run Open ticket?" not in shown(pilot.app))
        await until(pilot, shows="Open ticket: done")
        [line] = programs.written.read_text().splitlines()
        values = [str(number), f"t={subject}", one.at["space_id"]]
        assert json.loads(line) == [values, str(programs.folder), False]
        await pilot.press(":", *"script", "enter")
        await until(pilot, shows="Script: done")
        assert programs.runs[1:] == [[subject.upper()]]
        await pilot.press("f9", "f12")
        await until(pilot, holds=lambda: len(clipboard) == 2)
        assert "Own%3A%20-rf%20%24%28touch%20x%29" in clipboard[0]
        assert clipboard[0].endswith("exit%203%20%26%20more")
        assert clipboard[1] == "https://t.example/7"


@pytest.mark.slow
async def test_output_and_failures_are_shown_and_the_same_key_cancels(
    service: RunningService, tmp_path: Path, programs: Programs, clipboard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    programs.command("Broken", programs.python("broken", "import sys; sys.exit('no \\x1b[31mticket')"), key="f9")
    code = f"import time, pathlib; pathlib.Path({str(programs.folder / 'began')!r}).touch(); time.sleep(600)"
    programs.command("Slow", programs.python("slow", code), key=["f12"])
    programs.command("Late", programs.python("late", "import time; time.sleep(600)"), key="g 1", timeout=1)
    programs.command("Missing", "no-such-program", key="g 2")
    code = (
        "import sys; print('found\\x1b[2J it'); print('two  blanks' + 'Z' * 300)\n"
        "print('a warning', file=sys.stderr); sys.exit(3)"
    )
    programs.command("Lint", programs.python("lint", code), key="g 3", mode="capture")
    programs.command("Write", programs.writer("it"), key="g 4", mode="suspend")
    programs.command("Fail", programs.python("fail", "raise SystemExit(4)"), key="g 5", mode="suspend")
    async with running(app_on(service, tmp_path), (160, 40)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, shows="✗ Broken: failed with exit code 1: no ␛[31mticket")
        await pilot.press("f12")
        await until(pilot, shows="Slow: running …", holds=(programs.folder / "began").exists)
        await pilot.press("f12")
        await until(pilot, shows="Slow: canceled")
        await pilot.press("g", "1")
        await until(pilot, shows="Late: not done after 1 seconds (timeout)")
        await pilot.press("g", "2")
        await until(pilot, shows="Missing: no-such-program is not installed")
        await pilot.press("g", "4")
        await until(pilot, holds=lambda: programs.runs == [["it"]])
        await pilot.press("g", "5")
        await until(pilot, shows="Fail: failed with exit code 4")
        await pilot.press("g", "3")
        await until(pilot, shows="Lint  exit code 3")
        for text in ("found␛[2J it", "two  blanks", "a warning", "The program: failed with exit code 3"):
            assert text in shown(pilot.app)
        assert shown(pilot.app).count("Z") == 300, "long lines are wrapped"
        await pilot.press("Y")
        assert clipboard == [f"found␛[2J it\ntwo  blanks{'Z' * 300}\n\na warning"]
        await pilot.press("q")
        await until(pilot, shows="Needs me")
        monkeypatch.setenv(DRIVER_VARIABLE, DRIVER)
        await pilot.press("g", "4")
        await until(pilot, shows="Write: needs a terminal, which the browser does not have")
    assert programs.runs == [["it"]]


async def test_closing_the_output_ends_the_program(service: RunningService, tmp_path: Path, programs: Programs) -> None:
    code = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(programs.written)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)"
    )
    programs.command("Slow", programs.python("slow", code), key="f9", mode="capture")

    def is_running() -> bool:
        process = programs.written.read_text() if programs.written.exists() else ""
        return bool(process) and Path(f"/proc/{process}/stat").exists()

    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, shows="q cancels it", holds=is_running)
        await pilot.press("q")
        await until(pilot, shows="Needs me", holds=lambda: not is_running())


@pytest.mark.slow
async def test_fields_are_filled_in_a_review_and_in_browse(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    one = await begun(service, "Own review", PAGE, title="Own review page")
    folder = tmp_path / "guides folder"
    folder.mkdir()
    programs.command("Page", programs.writer("{page}", "{path}", "{line}", "{number}", "{space}", "{url}"), key="f9")
    programs.command("Selected", programs.writer("{selection}"), key="f12")
    programs.command("Read", programs.writer("{title}", "{path}", "{line}", "{folder}"), key="g 1", place="browse")
    programs.settings(f"[folders]\nGuides = {json.dumps(str(folder))}\n")
    async with review(service, tmp_path, "Own review", (160, 40)) as pilot:
        await until(pilot, shows="The second line.")
        await pilot.press("f12")
        await until(pilot, shows="Selected: select a text with the mouse first ({selection})")
        await pilot.press("g", "1")
        await until(pilot, shows="Read: works in Browse, not here")
        await pilot.press("tab", "G", "f9")
        await until(pilot, shows="Page: done")
        screen: Any = pilot.app.screen
        request, item = screen.session.model.request, screen.session.view.item
        assert screen.session.view.page.after.split("\n")[4] == "The second line."
        values = [item.id, item.path, "5", str(request.number), one.at["space_id"], request.urls.app]
        assert programs.runs == [values]
        await pilot.press("V", "k", "k", "f12")
        await until(pilot, shows="Selected: done")
        assert programs.runs[-1] == ["The first line. The second line."]
        app = cast("PresscheckApp", pilot.app)
        await app.go(Place.item("space guides"))
        await until(pilot, shows="Guides")
        await pilot.press("g", "1")
        await until(pilot, shows="Read: there is no page here ({path})")
        await app.go(Place.page("guides", one.page, request.id))
        browse: Any = app.screen
        await until(pilot, holds=lambda: (browse.page_pane.page_text or [""])[0] == "Own review page")
        await pilot.press("j", "j", "j", "g", "1")
        await until(pilot, shows="Read: done")
        assert programs.runs[-1] == ["Own review page", item.path, "3", str(folder)]
