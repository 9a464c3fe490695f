"""The outbox on the command line: changes that are queued behind a failed one, and `outbox send`."""

import time
from pathlib import Path

import pytest
from tests.cli.shell import Shell

from presscheck.cli import outbox
from presscheck.store.outbox import Outbox

LONGEST_COMMAND = 30.0
"""Seconds; a command that waited for the write would take up to 300."""


def second(shell: Shell) -> Shell:
    """Return a shell of the same user with its own outbox."""
    return Shell(shell.home.parent / "second", shell.env)


def sent(shell: Shell, which: str) -> list[str]:
    """Return the comments on the service, without those in the outbox."""
    return sorted(one["body"]["markdown"].strip() for one in second(shell).json("cr", "show", which)["comments"])


def outbox_of(shell: Shell) -> Outbox:
    [file] = (shell.home / "state").glob("*.sqlite")
    return Outbox(file)


class TestBehindAFailedChange:
    """A change that is queued behind a change that the service rejected."""

    FAILED = "Change 1 failed: Not found, or you have no access: Comment not found."

    @pytest.fixture
    def which(self, shell: Shell) -> str:
        """A change request with a rejected reply and a later comment in the outbox."""
        number = second(shell).json("cr", "create", "api", "--subject", "Behind")["number"]
        which = f"api#{number}"
        assert shell.run("cr", "reply", which, "no-such-comment", "--body", "Lost?").exit_code == 2
        began = time.monotonic()
        ran = shell.run("cr", "comment", which, "--body", "After")
        assert time.monotonic() - began < LONGEST_COMMAND
        assert (ran.exit_code, ran.stdout) == (0, "")
        assert ran.stderr.splitlines() == [
            "An earlier change is not sent yet: queued as number 2.",
            self.FAILED,
            "Run `presscheck outbox retry 1` or `presscheck outbox drop 1`; `presscheck outbox send 2` sends the later"
            " change first.",
        ]
        return which

    def test_send_lists_the_changes_behind_the_failed_one(self, shell: Shell, which: str) -> None:
        shell.ok("cr", "comment", which, "--body", "Third")
        ran = shell.run("outbox", "send")
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert ran.stderr.splitlines() == [
            self.FAILED,
            "Behind change 1: 2, 3. `presscheck outbox send 2` sends change 2 first.",
            "presscheck: 1 change failed, 2 pending: see `presscheck outbox list` (outbox)",
        ]
        assert [(row["id"], row["state"], row["behind"]) for row in shell.json("outbox", "list")] == [
            (1, "refused", None),
            (2, "waiting", 1),
            (3, "waiting", 1),
        ]
        assert sent(shell, which) == []
        shell.ok("outbox", "drop", "1")
        shell.ok("outbox", "send")
        assert sent(shell, which) == ["After", "Third"]

    @pytest.mark.slow
    def test_later_change_is_edited_and_sent_first(self, shell: Shell, which: str) -> None:
        refused = shell.run("outbox", "retry", "2")
        assert (refused.exit_code, "change 2 has not failed" in refused.stderr) == (2, True)
        shell.ok("outbox", "edit", "2", "--body", "After all")
        assert shell.ok("outbox", "send", "2") == ""
        assert sent(shell, which) == ["After all"]
        assert [row["id"] for row in shell.json("outbox", "list")] == [1]
        failed = shell.run("outbox", "send", "1")
        assert (failed.exit_code, "presscheck: Not found" in failed.stderr) == (1, True)
        assert shell.run("outbox", "send", "2").exit_code == 2, "it is sent"

    def test_later_change_is_discarded(self, shell: Shell, which: str) -> None:
        assert "After" in shell.ok("outbox", "drop", "2")
        assert [row["id"] for row in shell.json("outbox", "list")] == [1]

    def test_sending_or_editing_an_unsuitable_change_is_an_error(self, shell: Shell, which: str) -> None:
        space, request = (row := outbox_of(shell).rows()[1]).given["space_id"], row.given["change_request_id"]
        reply = {"space_id": space, "change_request_id": request, "comment_id": "waiting:1", "body": {"markdown": "A"}}
        outbox_of(shell).put("postCommentReplyInChangeRequest", reply, row.scope, time.time())
        shell.ok("cr", "resolve", which, "no-such-comment")
        shell.ok("cr", "comment", which, "--pending", "--body", "Held")
        for words, reason in (
            (("send", "3"), "change 3 needs change 1, which failed: send that first"),
            (("edit", "4", "--body", "Text"), "change 4 contains no text to edit"),
            (("send", "5"), "change 5 is held until you submit your review"),
            (("send", "9"), "the outbox has no change 9"),
            (("edit", "9", "--body", "Text"), "the outbox has no change 9"),
        ):
            ran = shell.run("outbox", *words)
            assert (ran.exit_code, reason in ran.stderr) == (2, True), ran.stderr

    def test_unsent_comments_are_listed_as_held_or_pending(self, shell: Shell, which: str) -> None:
        shell.ok("cr", "comment", which, "--pending", "--body", "Held")
        rows = [row.split("\t") for row in shell.ok("cr", "comments", "list", which).splitlines()]
        assert {row[-1]: row[2] for row in rows} == {"Held": "held", "After": "pending"}
        assert "(held)" in shell.ok("cr", "show", which)


def test_push_and_import_fail_behind_a_failed_change(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Held up").strip()
    shell.ok("site", "redirects", "add", site, "/first", "https://example.org/first")
    file, table = tmp_path / "site.toml", tmp_path / "redirects.csv"
    shell.ok("site", "config", "pull", site, str(file))
    file.write_text(file.read_text().replace("example.org", "example.net"))
    table.write_text("/second,https://example.org/second\n")
    path = ("--organization-id", shell.json("org", "list")[0]["id"], "--site-id", site)
    assert shell.run("api", "update-share-link", *path, "--share-link-id", "none", "--name", "A").exit_code == 1
    for words in (("config", "push", site, str(file)), ("redirects", "import", site, str(table))):
        began = time.monotonic()
        ran = shell.run("site", *words, "--yes")
        assert time.monotonic() - began < LONGEST_COMMAND
        assert (ran.exit_code, "An earlier change is not sent yet: retry or discard it" in ran.stderr) == (3, True)
    assert [row["state"] for row in shell.json("outbox", "list")] == ["refused"], "nothing stays behind it"


@pytest.mark.slow
def test_sending_ends_if_another_process_does_not_send(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.ok("cr", "show", "api#5")
    other = outbox_of(shell)
    assert other.may_send()
    given = {"space_id": "api", "change_request_id": "5", "body": {"markdown": "Mine"}}
    other.put("postCommentInChangeRequest", given, "a scope", time.time())
    monkeypatch.setattr(outbox, "OTHER_PROCESS_TIMEOUT", 0.2)
    ran = shell.run("outbox", "send")
    assert (ran.exit_code, "Another presscheck process is sending" in ran.stderr) == (1, True)
    other.close()
