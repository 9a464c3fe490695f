"""Two users edit a page at the same time, one of them in an external editor that does not get the terminal."""

import asyncio
import re
import shlex
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import pick, review, shown, until
from tests.tui.change_request_factory import Begun, begun, rewritten

from presscheck.api.content import GetChangeRequestPage
from presscheck.tui.app import PresscheckApp

pytestmark = pytest.mark.slow

SUBJECT = "How long things last"
TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"
EDITOR = """
import pathlib, sys, time
file, asks, answer = pathlib.Path(sys.argv[-1]), pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
whole = asks.with_suffix(".new")
whole.write_text(file.read_text())
whole.rename(asks)
while not answer.exists():
    time.sleep(0.01)
file.write_text(answer.read_text())
answer.unlink()
"""


class Editor:
    """An external editor that copies its file to `asks`, waits for the file `answer`, and stores its text."""

    def __init__(self, directory: Path) -> None:
        script = directory / "editor.py"
        script.write_text(EDITOR)
        self.asks, self.answer = directory / "asks", directory / "answer"
        self.command = shlex.join([sys.executable, str(script), str(self.asks), str(self.answer)])

    def writing(
        self, service: RunningService, other: Begun, theirs: str, *changes: tuple[str, str]
    ) -> threading.Thread:
        """Start a thread that edits the page as its author, if there is `theirs`, then replaces texts in the editor."""

        def go() -> None:
            while not self.asks.exists():
                threading.Event().wait(0.01)
            if theirs:
                asyncio.run(rewritten(service, other, theirs))
            text = self.asks.read_text()
            for old, new in changes:
                assert old in text, text
                text = text.replace(old, new)
            self.asks.unlink()
            whole = self.answer.with_suffix(".new")
            whole.write_text(text)
            whole.rename(self.answer)

        thread = threading.Thread(target=go)
        thread.start()
        return thread


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    found = Editor(tmp_path)
    monkeypatch.setenv("VISUAL", found.command)
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    return found


async def there(service: RunningService, one: Begun) -> str:
    [page] = await say(service, one.token, GetChangeRequestPage(**one.at, page_id=one.page, format="markdown"))
    return (page.markdown or "").partition("\n\n")[2].strip()


async def test_conflicting_edits_are_resolved_before_sending(
    service: RunningService, tmp_path: Path, editor: Editor
) -> None:
    one = await begun(service, SUBJECT, TEXT)
    theirs = TEXT.replace("30 days", "60 days")
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="A key lasts for ever.")
        meanwhile = editor.writing(service, one, theirs, ("30 days", "90 days"))
        await pilot.press("e")
        await until(pilot, shows="conflict: somebody edited the same lines")
        meanwhile.join()
        assert await there(service, one) == theirs.strip(), "nothing was overwritten"
        [draft] = [one.text for one in pilot.app.engine.outbox.drafts() if "<<<<<<<" in one.text]
        both = re.search(
            r"<<<<<<< Robin Achterberg, draft of 20.*\n>>>>>>> #\d+, revision by Mia Okonkwo, 20.*?\n", draft, re.S
        )
        assert both and "A token lasts 90 days.\n=======\nA token lasts 60 days.\n" in both[0], draft
        meanwhile = editor.writing(service, one, "", (both[0], "A token lasts 75 days.\n"))
        await pilot.press("e")
        await pick(pilot, "Continue with the draft")
        await until(pilot, shows="Save to the change request?")
        meanwhile.join()
        assert "wrote meanwhile" not in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, shows="A token lasts 75 days.")
        assert await there(service, one) == "A token lasts 75 days.\n\nA key lasts for ever."
