"""`presscheck --linear`, the interface with numbered lines, in a pseudo-terminal and from a pipe."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.linear_terminal import CONTROL, LinearTerminal, from_pipe, golden, stable
from tests.cli.shell import Shell
from tests.hostile_strings import ACTS, HOSTILE
from tests.running_service import RunningService

from presscheck.api.change_requests import ListOrganizationChangeRequests, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.cli.linear.place import Linear
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.errors import Refused

WORST = "Rewrite the auth guide"
Start = Callable[..., LinearTerminal]


@pytest.fixture
def start(shell: Shell) -> Iterator[Start]:
    """Return a function that starts `presscheck --linear` in a pseudo-terminal."""
    started: list[LinearTerminal] = []

    def begin(*words: str, size: tuple[int, int] = (80, 24), **env: str) -> LinearTerminal:
        started.append(LinearTerminal(shell, *words, size=size, **env))
        return started[-1]

    yield begin
    for one in started:
        one.close()


def quit_from(linear: LinearTerminal) -> int:
    linear.ready()
    linear.terminal.send(b"quit\n")
    return linear.terminal.end()


@pytest.mark.slow
@pytest.mark.service(shared=False)
async def test_session_matches_the_recorded_transcript(start: Start, service: RunningService, client: Client) -> None:
    linear = start(size=(300, 24))  # wide: otherwise the line breaks would depend on the ages
    linear.say("?", "done 7", "snooze 6 week", "undo", "1", "1", "comment 2", "Which project?", "..for one", ".")
    linear.say("viewed", "all", "next", "", "back", "threads", "1", "reply", "Thanks.", ".", "resolve", "back", "back")
    linear.say("approve", "Good work.", ".", "requirements", "merge", "no", "merge", "yes", "threads", "back")
    linear.say("sites", "2", "check", "", "publish", "yes", "no", "again")
    assert quit_from(linear) == 0
    assert not CONTROL.search(linear.terminal.raw.replace(b"\r\n", b"\n"))
    file, text = golden("linear.txt"), stable(linear.text)
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
    [organization] = (await client.send(ListOrganizations())).items
    merged = await client.send(ListOrganizationChangeRequests(organization_id=organization.id, status="merged"))
    [request] = [request for request in merged.items if request.subject == WORST]
    comments = await client.send(
        ListComments(space_id=request.space, change_request_id=request.id, format="markdown", limit=100)
    )
    assert any("> A token belongs to one project" in (one.body.markdown or "") for one in comments.items)
    assert any((one.body.markdown or "").endswith("Which project?\n.for one") for one in comments.items)
    sites = (await client.send(ListSites(organization_id=organization.id))).items
    assert [site.title for site in sites if site.published] == ["Tallowick Docs", "Inside Tallowick"]


@pytest.mark.slow
def test_typed_text_survives_a_hangup_and_the_end_of_the_input(start: Start, tmp_path: Path) -> None:
    """The second terminal is narrow and has no UTF-8."""
    linear = start()
    linear.say("1", "comment", "The first line.", "The second.")
    linear.terminal.kill(signal.SIGHUP)
    assert linear.terminal.end() == 129
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nwith open(sys.argv[1], 'a') as file:\n    file.write(' Edited.')\n")
    env = {"LC_ALL": "C", "PYTHONUTF8": "1", "EDITOR": shlex.join([sys.executable, str(editor)]), "VISUAL": ""}
    again = start(size=(40, 10), **env)
    assert "You have 1 draft: drafts lists them." in again.ready()
    drafts = again.say("drafts")
    assert f"1. comment on the change request in #5 {WORST}: The first line. The second." in " ".join(drafts.split())
    again.say("1")
    assert "Your draft, 2 lines:\nThe first line.\nThe second.\nEnd of your draft." in again.say("comment")
    assert "Discarded." in again.say(".d")
    assert "0 drafts" in again.say("drafts")
    again.say("inbox", "1", "comment", "Typed.")
    assert "Your text:\nTyped. Edited.\nEnd of your text." in again.say(".e"), "the editor continues a text"
    assert "Kept as a draft." in again.say(".k")
    assert "Discarded." in again.say("comment", ".d")
    again.say("1")
    assert again.text.isascii()
    assert r"J\xf3n" in again.text
    assert max(map(len, again.text.split("\n"))) <= 40
    again.say("back", "comment", "Half a thought")
    again.terminal.send(b"\x04")
    assert again.terminal.end() == 0, "the end of the input is no error"
    assert "Kept as a draft." in again.text.rpartition("Half a thought")[2]


@pytest.mark.slow
def test_text_survives_a_failed_and_an_interrupted_editor(start: Start, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    lines = (
        "import signal, sys, time",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "file = open(sys.argv[1], 'a')",
    )
    failing = (*lines, "file.write('First.')", "sys.exit(3)")
    slow = (*lines, "file.write('Second.')", "print('OPEN', flush=True)", "time.sleep(1)")
    editor.write_text("\n".join(failing))
    env = {"EDITOR": shlex.join([sys.executable, str(editor)]), "VISUAL": ""}
    linear = start(**env)
    linear.say("1", "comment")
    assert "The editor exited with code 3.\nYour text:\nFirst.\nEnd of your text." in linear.say(".e")
    editor.write_text("\n".join(slow))
    linear.terminal.send(b".e\n")
    while "OPEN" not in linear.text:
        assert linear.terminal.read()
    linear.terminal.send(b"\x03")
    assert linear.terminal.end() == 130
    again = start(**env)
    assert "1 draft: the text that was open in your editor.\n" in again.ready()
    assert "Your draft, 1 line:\nFirst.Second.\nEnd of your draft." in again.say("1", "comment")
    again.terminal.send(b"\x03")
    assert again.terminal.end() == 130
    assert again.text.endswith("^C\nEnded. Drafts and unsent changes are kept.\n")


@pytest.mark.slow
def test_draft_of_a_comment_is_shown_at_its_line(start: Start) -> None:
    linear = start()
    linear.say("1", "1", "comment 4", "Where is it?", ".k", "comment", "The page.", ".k", "inbox", "drafts")
    page = linear.say("1")
    assert page.startswith("1\nTokens: edited")
    assert "Your draft on the page: The page.\nYour draft on line 4: Where is it?\npage>" in page
    assert "Your draft, 1 line:\nWhere is it?\n" in linear.say("comment 4")


@pytest.mark.service(shared=False)
@pytest.mark.slow
def test_offline_inbox_says_that_it_shows_cached_data(start: Start, service: RunningService) -> None:
    linear = start()
    linear.say("1", "inbox")
    service.stop()
    assert "Offline: queued in the outbox as number 1" in linear.say("1", "comment", "Later.", ".")
    for _ in range(2):
        inbox = linear.say("inbox")
        assert inbox.startswith("inbox\nOffline: showing cached data from ")
        assert "\n1 change not sent yet.\n" in inbox
    service.start()


def test_result_of_a_change_is_printed_on_stdout(shell: Shell) -> None:
    """On stderr, the result would be missing in redirected output, and neither wrapped nor in ASCII."""
    ran = from_pipe(shell, "\ufeff1\r\ncomment\nLooks right.\n.\n")  # BOM and CRLF, as in a file from Windows
    assert (ran.exit_code, ran.stderr) == (0, ""), ran.stdout
    assert "Sent." in ran.stdout


def test_answer_may_have_capitals_and_a_typo_cancels(shell: Shell) -> None:
    ran = from_pipe(shell, "1\nstart\ncomment\nWhy?\n.\nsubmit\nyess\nsubmit\nYes\n")
    assert "This is not yes. Cancelled.\n" in ran.stdout
    assert "Review submitted.\n" in ran.stdout


def test_input_from_a_pipe_ends_at_the_first_error(shell: Shell) -> None:
    for typed, code, says in (
        ("99\n1\nmerge\nyes\n", 2, "Error: 99: choose a change request by a number from 1 to "),
        ("1\ncomment\nCaf\udce9\n.\n", 2, "Error: standard input: is not UTF-8 text."),
        ("1\nre\n", 2, "Error: re: could be request-changes or requirements."),
        (f"done {'9' * 5000}\n", 2, "Error: 9999999999: choose a change request by a number from 1 to "),
    ):
        ran = from_pipe(shell, typed)
        assert (ran.exit_code, says in ran.stdout) == (code, True), (typed, ran.stdout)
        assert " merged." not in ran.stdout


@pytest.mark.service(shared=False)
def test_content_that_changes_during_the_confirmation_is_not_merged(
    shell: Shell, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def others_come_first(*_: object) -> bool:
        path = {"space_id": "api", "change_request_id": "5"}
        async with Client(service.base_url, service.token) as client:
            page = next(iter(flatten((await client.send(ListChangeRequestPages(**path))).pages)))
            change = UpdatePage(page=page.id, document=Document(markdown="Meanwhile."))
            await client.send(EditChangeRequestContent(**path, changes=(change,)))
        return True

    monkeypatch.setattr(Linear, "confirm", others_come_first)
    ran = from_pipe(shell, "1\nmerge\n")
    assert "Not merged: the content has changed in the meantime." in ran.stdout
    assert shell.json("cr", "show", "api#5")["changeRequest"]["status"] == "open"


def test_read_only_profile_is_an_error_before_text_is_typed(shell: Shell) -> None:
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    for verb in ("comment", "merge"):
        ran = from_pipe(shell, f"1\n{verb}\n")
        assert f"Error: {verb}: this profile is read-only." in ran.stdout
    assert "(not now: this profile is read-only)" in from_pipe(shell, "1\n?\n").stdout.replace("\n  ", " ")


@pytest.mark.slow
@pytest.mark.service(shared=False)
async def test_hostile_texts_cannot_write_to_the_terminal(start: Start, client: Client) -> None:
    [organization] = (await client.send(ListOrganizations())).items
    requests = (await client.send(ListOrganizationChangeRequests(organization_id=organization.id, status="open"))).items
    [request] = [request for request in requests if request.subject == WORST]
    path = {"space_id": request.space, "change_request_id": request.id}
    await client.send(UpdateChangeRequest(**path, subject="\x1b[2J\x07red\u202e"))
    for text in HOSTILE[::40]:
        with suppress(Refused):  # such as unpaired surrogates
            await client.send(PostComment(**path, body=Document(markdown=f"{text} of a stranger")))
    linear = start()
    linear.say("view all open", "1", "threads")
    for _ in range(3):
        linear.say("")
    linear.say("4", "next", "next", "next")
    assert "of a stranger" in linear.text
    assert not ACTS.search(linear.text)
    assert quit_from(linear) == 0


def test_requirements_name_the_verb_that_meets_them(shell: Shell) -> None:
    row = re.search(r"(\d+)\. #2 Two carriers", from_pipe(shell, "").stdout)
    assert row
    words = " ".join(from_pipe(shell, f"{row[1]}\nrequirements\n").stdout.split())
    assert "can be fixed by anyone who can edit these pages, after an update from main (verb: update)" in words


def test_without_a_token_the_error_names_the_ways_to_sign_in(tmp_path: Path) -> None:
    ran = Shell(tmp_path / "home").run("--linear")
    assert ran.exit_code == 4
    assert "run `presscheck login`" in ran.stderr
