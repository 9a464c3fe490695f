"""`presscheck --linear`: the whole work as numbered lines, in a pseudo-terminal and from a pipe."""

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

from presscheck.api.change_requests import GetChangeRequest, ListOrganizationChangeRequests, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.api.spaces import UpdateSpace
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.errors import Refused

WORST = "Rewrite the auth guide"
Start = Callable[..., LinearTerminal]


@pytest.fixture
def start(shell: Shell) -> Iterator[Start]:
    """Starts `presscheck --linear` in a pseudo-terminal."""
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
async def test_the_whole_work_as_a_transcript(start: Start, service: RunningService, client: Client) -> None:
    linear = start(size=(300, 24))  # where a line breaks would depend on the ages
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
def test_a_text_survives_a_hangup_and_the_end_of_the_input(start: Start, tmp_path: Path) -> None:
    linear = start()
    linear.say("1", "comment", "The first line.", "The second.")
    linear.terminal.kill(signal.SIGHUP)
    assert linear.terminal.end() == 129
    again = start()
    assert "You have 1 draft: drafts lists them." in again.ready()
    drafts = again.say("drafts")
    assert f"1. comment on the change request in #5 {WORST}: The first line. The second." in drafts.replace("\n", " ")
    again.say("1")
    assert "Your draft, 2 lines:\nThe first line.\nThe second.\nEnd of your draft." in again.say("comment")
    assert "Discarded." in again.say(".d")
    assert "0 drafts" in again.say("drafts")
    again.say("inbox", "1", "comment", "Half a thought")
    again.terminal.send(b"\x04")
    assert again.terminal.end() == 0, "the end of the input is no error"
    assert "Kept as a draft." in again.text
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nwith open(sys.argv[1], 'a') as file:\n    file.write(' Edited.')\n")
    last = start(EDITOR=shlex.join([sys.executable, str(editor)]), VISUAL="")
    assert "Half a thought" in last.say("1", "comment")
    assert "Discarded." in last.say(".d")
    last.say("comment", "Typed.")
    assert "Your text:\nTyped. Edited.\nEnd of your text." in last.say(".e"), "the editor continues a text"
    assert "Kept as a draft." in last.say(".k")
    assert "Discarded." in last.say("comment", ".d")
    assert quit_from(last) == 0


@pytest.mark.slow
@pytest.mark.service(shared=False)  # a review removes the change request from the inbox
def test_lines_typed_ahead_errors_and_a_review_on_a_terminal(start: Start) -> None:
    linear = start()
    linear.terminal.send(b"1\nthreads\n3\nback\nback\nsites\n")
    linear.ready("sites")
    places = [
        linear.text.index(words) for words in (f"#5 {WORST}: open\n", " threads.\n", "On the change request. Open.")
    ]
    assert places == sorted(places), "lines in one burst are taken in order"
    linear.say("inbox")
    assert "Error: 99: choose a change request" in linear.say("99")
    assert f"#5 {WORST}: open" in linear.say("1"), "an error does not end a terminal"
    linear.say("start", "comment", "Held back.")
    assert "Held: your review has 1 comment." in linear.say(".")
    assert "Error: stop" not in linear.say("request-changes")
    assert "Changes requested." in linear.say("Please.", ".")
    assert "submit: your review holds no comments" in linear.say("submit")
    assert quit_from(linear) == 0


@pytest.mark.slow
def test_a_pipe_is_read_to_its_end_without_loading_the_app(shell: Shell) -> None:
    imported = Shell(shell.home, {**shell.env, "PYTHONPROFILEIMPORTTIME": "1"})
    ran = imported.program("--linear", typed="1\n1\nsites\n1")
    assert ran.returncode == 0
    assert "changed: A token belongs to one [removed: workspace] [added: project]." in ran.stdout
    assert "Tallowick Docs" in ran.stdout, "the last line has no end"
    assert "presscheck.cli.linear.loop" in ran.stderr
    assert "textual" not in ran.stderr
    nothing = from_pipe(shell, "")
    assert (nothing.exit_code, nothing.stderr) == (0, "")
    assert "> " not in nothing.stdout.split("\n")[0]


def test_what_became_of_a_change_is_printed_with_the_rest(shell: Shell) -> None:
    """Not on stderr, where it would be missing in a file, and neither wrapped nor in ASCII."""
    ran = from_pipe(shell, "1\ncomment\nLooks right.\n.\n")
    assert (ran.exit_code, ran.stderr) == (0, ""), ran.stdout
    assert "Sent." in ran.stdout


ERRORS = (
    ("99\n1\nmerge\nyes\n", 2, "Error: 99: choose a change request by a number from 1 to "),
    ("nonsense\n", 2, "Error: nonsense: no such verb here. ? lists the verbs."),
    ("b\n", 2, "Error: back: this is the first place. quit ends presscheck."),
    ("1\nre\n", 2, "Error: re: could be request-changes or requirements."),
    ("1\nmerge now\n", 2, "Error: now: merge takes no argument."),
    ("1\nsubmit\n", 3, "Error: submit: your review holds no comments."),
    ("1\n1\ncomment 99\n", 2, "Error: 99: choose a line from 1 to "),
    (f"{'9' * 5000}\n", 2, "Error: 9999999999: choose a change request by a number from 1 to "),
    (f"done {'9' * 5000}\n", 2, "Error: 9999999999: choose a change request by a number from 1 to "),
)


@pytest.mark.slow
def test_a_pipe_ends_at_the_first_error(shell: Shell) -> None:
    for typed, code, says in ERRORS:
        ran = from_pipe(shell, typed)
        assert (ran.exit_code, says in ran.stdout) == (code, True), (typed, ran.stdout)
        assert " merged." not in ran.stdout


@pytest.mark.slow
def test_a_dumb_terminal_is_linear_and_no_terminal_prints_the_inbox(start: Start, shell: Shell) -> None:
    linear = start("--offline")
    assert linear.terminal.end() == 3
    assert linear.text.startswith("presscheck: Offline mode (--offline)")
    dumb = LinearTerminal(shell, "--theme", "ink")
    assert dumb.ready("inbox>")
    assert quit_from(dumb) == 0
    dumb.close()
    assert WORST in shell.ok()


@pytest.mark.slow
def test_offline_reads_what_is_cached_and_queues_a_comment(start: Start, shell: Shell) -> None:
    assert from_pipe(shell, "1\nback\n").exit_code == 0
    offline = start("--offline", "--linear")
    assert "Offline: showing cached data from" in offline.ready()
    request = offline.say("1")
    assert f"#5 {WORST}: open" in request
    assert "Error: merge: you are offline, and a merge cannot be queued." in offline.say("merge")
    offline.say("comment", "Written on a train.")
    assert "Offline: queued in the outbox as number" in offline.say(".")
    assert quit_from(offline) == 0


def test_read_only_is_an_error_before_a_text_is_typed(shell: Shell) -> None:
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
        with suppress(Refused):  # such as half a character
            await client.send(PostComment(**path, body=Document(markdown=f"{text} of a stranger")))
    linear = start()
    linear.say("view all open", "1", "threads")
    for _ in range(3):
        linear.say("")
    linear.say("4", "next", "next", "next")
    assert "of a stranger" in linear.text
    assert not ACTS.search(linear.text)
    assert quit_from(linear) == 0


@pytest.mark.slow
def test_a_narrow_terminal_without_utf8_gets_ascii(start: Start) -> None:
    linear = start(size=(40, 10), LC_ALL="C", PYTHONUTF8="1")
    linear.say("1", "1")
    text = linear.text
    assert text.isascii()
    assert max(map(len, text.split("\n"))) <= 40
    assert "Settings > Tokens" in re.sub(r"\s+", " ", text)
    assert r"J\xf3n" in text


def test_requirements_name_the_verb_that_meets_them(shell: Shell) -> None:
    row = re.search(r"(\d+)\. #2 Two carriers", from_pipe(shell, "").stdout)
    assert row
    words = " ".join(from_pipe(shell, f"{row[1]}\nrequirements\n").stdout.split())
    assert "can be fixed by anyone who can edit these pages, after an update from main (verb: update)" in words


@pytest.mark.slow
@pytest.mark.service(shared=False)
async def test_what_others_do_meanwhile(start: Start, client: Client) -> None:
    """They write HTML, change a page before a merge, and lock the space."""
    [organization] = (await client.send(ListOrganizations())).items
    requests = (await client.send(ListOrganizationChangeRequests(organization_id=organization.id, status="open"))).items
    [request] = [request for request in requests if request.subject == WORST]
    path = {"space_id": request.space, "change_request_id": request.id}
    page = next(
        page for page in flatten((await client.send(ListChangeRequestPages(**path))).pages) if page.title == "Tokens"
    )

    async def edit(markdown: str) -> None:
        change = UpdatePage(page=page.id, document=Document(markdown=markdown))
        await client.send(EditChangeRequestContent(**path, changes=(change,)))

    await edit('<p align="center">A <b>centered</b> line</p>\n')
    linear = start(size=(200, 24))
    linear.say("1", "1", "all")
    text = linear.say("")
    line = re.search(r"(\d+)\. (?:added|changed): .*centered", text)
    assert line, text
    assert "“A centered line”" in linear.say(f"comment {line[1]}"), "a comment on HTML quotes its words"
    linear.say(".d", "inbox", "1", "merge")
    await edit("Meanwhile.")
    assert "Not merged: the content has changed in the meantime." in linear.say("yes")
    assert (await client.send(GetChangeRequest(**path))).status == "open"
    await client.send(UpdateSpace(space_id=request.space, edit_mode="locked"))
    linear.say("inbox", "1")
    told = " ".join(linear.say("merge").split())
    assert f"is locked: presscheck space unlock {request.space} unlocks it for an administrator." in told
    assert "Type" not in told, "nothing to confirm"
    assert quit_from(linear) == 0


def test_without_a_token_the_error_names_the_ways_to_sign_in(tmp_path: Path) -> None:
    ran = Shell(tmp_path / "home").run("--linear")
    assert ran.exit_code == 4
    assert "run `presscheck login`" in ran.stderr
