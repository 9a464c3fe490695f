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

from presscheck.api.content import ListPages
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
    """Programs in a folder whose name has a blank, and the settings file with commands that run them."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "own programs"
        self.folder.mkdir()
        self.written = self.folder / "what ran.json"
        self._file = home / "config" / "config.toml"
        self._file.parent.mkdir(exist_ok=True)
        self._file.touch()

    def python(self, name: str, code: str) -> list[str]:
        """Return the command of a program."""
        file = self.folder / f"{name}.py"
        file.write_text(code)
        return [sys.executable, str(file)]

    def writer(self, *words: str) -> list[str]:
        """Return the command of a program that writes its arguments to a file."""
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
    """What was copied; the app believes that it runs over SSH, so it copies addresses instead of opening them."""
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
async def test_a_command_runs_on_the_row_in_the_background(
    service: RunningService, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = "Own: -rf $(x) 'y' {number}"
    one = await begun(service, subject, PAGE)
    monkeypatch.setenv("PRESSCHECK_TOKEN", "secret")
    words = programs.writer("{number}", "t={title}", "{space}")
    programs.command("Open ticket", words, key="g T", directory=str(programs.folder))
    async with running(app_on(service, tmp_path)) as pilot:
        await on_row(pilot, "Own: -rf")
        number = pilot.app.screen.session.current().number
        await pilot.press("g", "T")
        await until(pilot, shows="Open ticket: done")
    [line] = programs.written.read_text().splitlines()
    values = [str(number), f"t={subject}", one.at["space_id"]]
    assert json.loads(line) == [values, str(programs.folder), False]


@pytest.mark.slow
async def test_a_value_that_could_be_an_option_is_refused(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    await begun(service, "--force everything", PAGE)
    programs.command("Plain", programs.writer("{title}"), key="f9")
    programs.command("Safe", programs.writer("--", "{title}"), key="g 1")
    programs.command("Script", ['"$0" "$@"', *programs.writer("{title}")], key="f12", shell=True)
    async with running(app_on(service, tmp_path), (200, 40)) as pilot:
        await on_row(pilot, "--force everything")
        for key in ("f9", "f12"):
            await pilot.press(key)
            await until(pilot, shows="{title} begins with -, so it could be an option: not run")
            await pilot.press("escape")
        assert programs.runs == []
        await pilot.press("g", "1")
        await until(pilot, shows="Safe: done")
    assert programs.runs == [["--", "--force everything"]]


@pytest.mark.slow
async def test_a_failure_is_shown_and_the_same_key_cancels(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    programs.command("Broken", programs.python("broken", "import sys; sys.exit('no \\x1b[31mticket')"), key="f9")
    code = f"import time, pathlib; pathlib.Path({str(programs.written)!r}).touch(); time.sleep(600)"
    programs.command("Slow", programs.python("slow", code), key=["f12"])
    programs.command("Late", programs.python("late", "import time; time.sleep(600)"), key="g 1", timeout=1)
    programs.command("Missing", "no-such-program", key="g 2")
    programs.command("Elsewhere", "true", key="g 3", directory="/no/such/folder")
    async with running(app_on(service, tmp_path), (160, 40)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, shows="✗ Broken: failed with exit code 1: no ␛[31mticket")
        await pilot.press("f12")
        await until(pilot, holds=programs.written.exists)
        await until(pilot, shows="Slow: running …")
        await pilot.press("f12")
        await until(pilot, shows="Slow: canceled")
        await pilot.press("g", "1")
        await until(pilot, shows="Late: not done after 1 seconds (timeout)")
        await pilot.press("g", "2")
        await until(pilot, shows="Missing: no-such-program is not installed")
        await pilot.press("g", "3")
        await until(pilot, shows="Elsewhere: /no/such/folder is not a folder: not run")


@pytest.mark.slow
async def test_output_is_shown_searched_and_copied(
    service: RunningService, tmp_path: Path, programs: Programs, clipboard: list[str]
) -> None:
    code = (
        "import sys; print('found\\x1b[2J it'); print('two  blanks' + 'Z' * 300)\n"
        "print('a warning', file=sys.stderr); sys.exit(3)"
    )
    programs.command("Lint", programs.python("lint", code), key="f9", mode="capture")
    programs.command("Silent", programs.python("silent", ""), key="f12", mode="capture")
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, shows="Lint  exit code 3")
        for text in ("found␛[2J it", "two  blanks", "a warning", "The program: failed with exit code 3"):
            assert text in shown(pilot.app)
        assert shown(pilot.app).count("Z") == 300, "long lines are wrapped"
        await pilot.press("Y")
        assert clipboard == [f"found␛[2J it\ntwo  blanks{'Z' * 300}\n\na warning"]
        await pilot.press("/", *"warning", "enter")
        await until(pilot, shows="1 of 1")
        await pilot.press("escape", "q")
        await until(pilot, shows="Needs me")
        await pilot.press("f12")
        await until(pilot, shows="The program printed nothing.")
        await pilot.press("Y")
        await until(pilot, shows="there is no output")


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
async def test_addresses_are_opened(
    service: RunningService, tmp_path: Path, programs: Programs, clipboard: list[str]
) -> None:
    await begun(service, "Own address & more", PAGE)
    programs.command("Search", "https://find.example/?q={title}", key="f9", mode="open")
    programs.command("Create", programs.python("create", "print('made https://t.example/7.')"), key="f12", mode="open")
    programs.command("Nothing", programs.python("nothing", "print('none')"), key="g 1", mode="open")
    async with running(app_on(service, tmp_path), (200, 40)) as pilot:
        await on_row(pilot, "Own address")
        await pilot.press("f9", "f12")
        await until(pilot, holds=lambda: len(clipboard) == 2)
        assert clipboard == ["https://find.example/?q=Own%20address%20%26%20more", "https://t.example/7"]
        await pilot.press("g", "1")
        await until(pilot, shows="✗ Nothing: printed no web address, such as https://example.org/7")


@pytest.mark.slow
async def test_a_question_shows_the_exact_arguments(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    await begun(service, "Own question; rm -rf /", PAGE)
    programs.command("Ask", programs.writer("as {title}"), key="f9", confirm=True)
    async with running(app_on(service, tmp_path)) as pilot:
        await on_row(pilot, "Own question")
        await pilot.press("f9")
        await until(pilot, shows="'as Own question; rm -rf /'")
        assert "Run Ask?" in shown(pilot.app)
        await pilot.press("n")
        await until(pilot, holds=lambda: "Run Ask?" not in shown(pilot.app))
        assert programs.runs == []
        await pilot.press("f9")
        await until(pilot, shows="Run Ask?")
        await pilot.press("y")
        await until(pilot, shows="Ask: done")
    assert programs.runs == [["as Own question; rm -rf /"]]


@pytest.mark.slow
async def test_a_script_gets_its_values_as_parameters(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    await begun(service, 'Own script $(touch x) "; exit 3', PAGE)
    script = ['"$1" "$2" "$3" "$(printf %s "$4" | tr a-z A-Z)"', *programs.writer("{title}")]
    programs.command("Script", script, key="f9", shell=True)
    async with running(app_on(service, tmp_path)) as pilot:
        await on_row(pilot, "Own script")
        await pilot.press("f9")
        await until(pilot, shows="Script: done")
    assert programs.runs == [['OWN SCRIPT $(TOUCH X) "; EXIT 3']]


@pytest.mark.slow
async def test_a_program_gets_the_terminal(
    service: RunningService, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    programs.command("Write", programs.writer("it"), key="f9", mode="suspend")
    programs.command("Fail", programs.python("fail", "raise SystemExit(4)"), key="f12", mode="suspend")
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, holds=lambda: programs.runs == [["it"]])
        await pilot.press("f12")
        await until(pilot, shows="Fail: failed with exit code 4")
        monkeypatch.setenv(DRIVER_VARIABLE, DRIVER)
        await pilot.press("f9")
        await until(pilot, shows="Write: needs a terminal, which the browser does not have")
    assert programs.runs == [["it"]]


@pytest.mark.slow
async def test_fields_of_a_review(service: RunningService, tmp_path: Path, programs: Programs) -> None:
    one = await begun(service, "Own review", PAGE, title="Own review page")
    programs.command("Page", programs.writer("{page}", "{path}", "{line}", "{number}", "{space}", "{url}"), key="f9")
    programs.command("Selected", programs.writer("{selection}"), key="f12")
    async with review(service, tmp_path, "Own review", (160, 40)) as pilot:
        await until(pilot, shows="The second line.")
        await pilot.press("f12")
        await until(pilot, shows="Selected: select a text with the mouse first ({selection})")
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


@pytest.mark.slow
async def test_fields_of_browse_and_the_folder_of_a_space(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    folder = tmp_path / "api folder"
    folder.mkdir()
    programs.command("Page", programs.writer("{title}", "{path}", "{line}", "{url}"), key="f9", place="browse")
    programs.command("Folder", programs.writer("{folder}"), key="f12", directory="{folder}")
    programs.settings(f'[folders]\n"API docs" = {json.dumps(str(folder))}\n')
    async with running(app_on(service, tmp_path), (200, 40)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("f9")
        await until(pilot, shows="Page: works in Browse, not here")
        app = cast("PresscheckApp", pilot.app)
        await pilot.press("g", "o")
        await until(pilot, holds=lambda: app.screen.__class__.__name__ == "BrowseScreen")
        await app.go(Place.item("space guides"))
        await pilot.press("f9")
        await until(pilot, shows="Page: there is no page here ({path})")
        await pilot.press("f12")
        await until(pilot, shows="Folder: this space has no folder: check it out with . F")
        pages = await app.engine.read(ListPages(space_id="api"))
        page = next(page for page in pages.pages if page.title == "Limits")
        await app.go(Place.page("api", page.id))
        screen: Any = app.screen
        await until(pilot, holds=lambda: (screen.page_pane.page_text or [""])[0] == "Limits")
        await pilot.press("j", "j", "j")
        await until(pilot, shows="f9 Page")
        await pilot.press("f12")
        await until(pilot, shows="Folder: done")
        assert programs.runs == [[str(folder)]]
        assert json.loads(programs.written.read_text())[1] == str(folder)
        await pilot.press("f9")
        await until(pilot, shows="Page: done")
        title, path, line, url = programs.runs[-1]
        assert (title, path, line) == ("Limits", page.path, "3")
        assert url.endswith("/s/api/limits")


@pytest.mark.slow
async def test_own_commands_are_listed_with_their_keys(
    service: RunningService, tmp_path: Path, programs: Programs
) -> None:
    programs.command("Open ticket", "ticket show {number}", key="g T", place="inbox")
    programs.command("No key", programs.writer("palette"))
    programs.command("Taken", "true", key="m")
    async with running(app_on(service, tmp_path), (200, 60)) as pilot:
        await until(pilot, shows="config.toml:")
        assert "commands.3.key m is also a key of merge: change one of the two" in shown(pilot.app)
        await inbox_loaded(pilot)
        await pilot.press("escape")
        await until(pilot, shows="g T Open ticket")
        await pilot.press("g")
        await until(pilot, holds=lambda: "T Open ticket" in shown(pilot.app).replace("g T Open ticket", ""))
        await pilot.press("escape", "?")
        await until(pilot, shows="own commands")
        await pilot.press(*"ticket show")
        await until(pilot, shows="Open ticket: run ticket show '{number}'")
        await pilot.press("ctrl+e")
        await until(pilot, shows="Open ticket: change its key in [[commands]] of config.toml")
        await pilot.press(":", *"no key", "enter")
        await until(pilot, shows="No key: done")
        assert programs.runs == [["palette"]]
        await pilot.press("g", "x")
        await until(pilot, holds=lambda: "g T Open ticket" not in shown(pilot.app))
        await pilot.press("g", "T")
        await until(pilot, shows="Open ticket: works in the inbox, not here")
