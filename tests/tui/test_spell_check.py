"""Spell check in Browse and in the editor, with a stand-in program and with each installed program."""

import os
import sys
import time
from pathlib import Path
from typing import cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.change_request_factory import begun

from presscheck.documents.markdown.prose_words import prose_words
from presscheck.errors import PresscheckError
from presscheck.tui import spell_checker
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.spell_check import SpellingScreen
from presscheck.tui.spell_checker import SpellChecker, installed

pytestmark = pytest.mark.service(shared=True)

TEXT = "A tokenn lasts.\n\n" + "Filler here.\n\n" * 40 + "Then teh `teh` key lasts, teh [b]end.\n"
PROGRAM = """
# answers as aspell and hunspell do; its dictionary is a file in the home directory
import os, sys
own = os.path.join(os.environ["HOME"], "own.txt")
known = set(open(own).read().split()) if os.path.exists(own) else set()
assert "PRESSCHECK_TOKEN" not in os.environ
print("@(#) International Ispell")
for line in sys.stdin:
    line = line.rstrip("\\n")
    if line.startswith("*"):
        open(own, "a").write(line[1:] + "\\n")
    elif line.startswith("^"):
        word = line[1:]
        doubtful = {"teh": "& teh 2 1: the, tea\\x1b[31m", "tokenn": "# tokenn 1"}.get(word)
        print(doubtful if doubtful and word not in known else "*")
        print()
"""


@pytest.mark.slow
async def test_doubtful_words_are_listed_opened_and_learned(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    script, program = tmp_path / "stand_in.py", tmp_path / "stand-in"
    script.write_text(PROGRAM)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}"\n')  # the path may have a blank
    program.chmod(0o755)
    for name, value in {"PATH": str(programs), "HOME": str(tmp_path), "PRESSCHECK_TOKEN": "secret"}.items():
        monkeypatch.setenv(name, value)
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    one = await begun(service, "Spelled", TEXT, title="Spelling")
    async with running(app_on(service, tmp_path), (100, 30)) as pilot:
        await until(pilot, shows="Needs me")
        await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A tokenn lasts.")
        await pilot.press(".", "w")
        await until(pilot, shows="spell check needs aspell or hunspell")
        (programs / "aspell").symlink_to(program)
        browse = pilot.app.screen
        await pilot.press("f7")
        await until(pilot, shows="2 doubtful words", holds=lambda: isinstance(pilot.app.screen, SpellingScreen))
        await until(pilot, shows="no suggestion  line 3")  # the title of the page is above its text
        await until(pilot, shows="the, tea␛[31m  line 85, 2 times")
        await pilot.press("j", "enter")
        await until(pilot, shows="Then teh", holds=lambda: pilot.app.screen is browse)
        await until(pilot, shows="/teh  1 of ")
        await pilot.press("escape", "e")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
        await pilot.press("f7")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpellingScreen))
        await pilot.press("j", "enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
        area = pilot.app.focused
        assert area.selected_text == "teh"
        await pilot.press(*"the")
        await until(pilot, holds=lambda: "Then the `teh` key lasts, teh" in area.text)
        await pilot.press("f7")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpellingScreen))
        await pilot.press("a")
        await until(pilot, shows="learned tokenn")
        await until(pilot, shows="1 doubtful word ")
        await pilot.press("a")
        await until(pilot, shows="learned teh")
        assert (tmp_path / "own.txt").read_text() == "tokenn\nteh\n"
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
        await pilot.press("f7")
        await until(pilot, shows="no doubtful words (aspell)")
        script.write_text("import sys\nsys.exit('no word list \\x1b[31m')\n")
        await pilot.press("f7")
        await until(pilot, shows="aspell could not check the spelling: no word list")
        assert "\x1b" not in shown(pilot.app)


async def test_every_installed_program_finds_and_learns_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    for name in installed():
        checker = SpellChecker()
        checker._programs = [name]
        words = prose_words("This isn’t teh word, *nor* wrold.")
        try:
            doubtful = await checker.doubtful(words)
        except PresscheckError as error:
            assert "could not check the spelling" in error.message, "no English dictionary"
            continue
        assert [word.word for word in doubtful] == ["teh", "wrold"]
        assert "the" in doubtful[0].suggestions
        await checker.learn("wrold")
        assert [word.word for word in await checker.doubtful(words)] == ["teh"]
    with monkeypatch.context() as patched:
        patched.setenv("PATH", os.devnull)
        with pytest.raises(PresscheckError, match="install one of them"):
            SpellChecker()


async def test_a_program_that_hangs_is_killed_with_its_child_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child process keeps the output open, so the wait would go on if only the program was killed."""
    program = tmp_path / "aspell"
    program.write_text("#!/bin/sh\n/bin/sleep 20 &\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(spell_checker, "TIMEOUT", 0.3)
    began = time.monotonic()
    with pytest.raises(PresscheckError, match=r"^aspell: not done after 0\.3 seconds"):
        await SpellChecker().learn("tokenn")
    assert time.monotonic() - began < 10
