"""Offline commands: cached reads, queued writes, rejected changes; read-only profiles."""

import time

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService

from presscheck.engine.writes.write_queue import UNANSWERED
from presscheck.store.outbox import Outbox

pytestmark = pytest.mark.service(shared=False)


def texts(shell: Shell, which: str) -> list[str]:
    return [one["body"]["markdown"].strip() for one in shell.json("cr", "show", which)["comments"]]


@pytest.mark.slow
def test_a_comment_is_queued_offline_and_sent_later(shell: Shell, service: RunningService) -> None:
    shell.ok("cr", "show", "api#5")
    service.stop()
    shown = shell.run("cr", "show", "api#5")
    assert shown.exit_code == 0
    assert "Rewrite the auth guide" in shown.stdout
    assert shown.stderr.count("Offline: showing cached data from") == 1
    assert "connection refused" in shown.stderr
    assert "connection refused" not in shell.run("--offline", "cr", "show", "api#5").stderr, "it was not tried"
    ran = shell.run("cr", "comment", "api#5", "--body", "From the train")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "queued in the outbox as number 1" in ran.stderr
    refused = shell.run("cr", "merge", "api#5", "--yes")
    assert refused.exit_code == 3
    assert shell.run("cr", "show", "runbook#2").exit_code == 3
    assert shell.run("outbox", "send").exit_code == 3
    [row] = shell.json("outbox", "list")
    assert (row["id"], row["state"], row["call"]) == (1, "waiting", "postCommentInChangeRequest")
    service.start()
    shell.ok("outbox", "send")
    assert shell.json("outbox", "list") == []
    assert texts(shell, "api#5").count("From the train") == 1


@pytest.mark.slow
def test_page_is_edited_offline_and_merged_when_it_is_sent(shell: Shell, service: RunningService) -> None:
    edit = ("cr", "edit", "api#5", "--page", "Tokens", "--body")
    shell.ok(*edit, "First line.\n\nIn between.\n\nLast line.\n")
    service.stop()
    for text in ("Our line.\n\nIn between.\n\nLast line.\n", "Our own line.\n\nIn between.\n\nLast line.\n"):
        ran = shell.run(*edit, text)
        assert (ran.exit_code, ran.stdout) == (0, "")
        assert "queued in the outbox as number 2" in ran.stderr
    service.start()
    other = Shell(shell.home / "other", shell.env)
    other.ok(*edit, "First line.\n\nIn between.\n\nTheir line.\n")
    shell.ok("outbox", "send")
    assert shell.json("outbox", "list") == []
    [row] = [one for one in other.json("cr", "diff", "api#5") if one["page"]["title"] == "Tokens"]
    assert row["after"].strip().split("\n\n")[1:] == ["Our own line.", "In between.", "Their line."]


@pytest.mark.slow
def test_conflict_of_a_page_edited_offline_names_the_commands(shell: Shell, service: RunningService) -> None:
    edit = ("cr", "edit", "api#5", "--page", "Tokens", "--body")
    shell.ok(*edit, "First line.\n")
    service.stop()
    shell.ok(*edit, "Our line.\n")
    service.start()
    Shell(shell.home / "other", shell.env).ok(*edit, "Their line.\n")
    ran = shell.run("outbox", "send")
    assert ran.exit_code == 1
    assert "Change 2 failed: Conflict: Robin Achterberg edited the same lines\n" in ran.stderr
    assert "`presscheck outbox drop 2` prints and discards it" in ran.stderr
    assert "Our line." in shell.ok("outbox", "drop", "2")
    assert {row["at"][-1] for row in shell.json("outbox", "history")} == {"Z"}


def test_offline_search_finds_cached_content(shell: Shell, service: RunningService) -> None:
    [hit] = shell.json("search", "fifty", "curs")
    assert (hit["kind"], hit["space"], hit["spaceTitle"], hit["title"]) == (
        "page",
        "api",
        "API docs",
        "Lists and pages",
    )
    assert hit["address"].startswith(service.base_url)
    assert shell.json("search", "--offline", "fifty", "curs") == [], "nobody has read it yet"
    shell.ok("space", "page", "api", hit["path"])
    shell.ok("cr", "show", "api#5")
    service.stop()
    [here] = shell.json("search", '"fifty items and a cursor"')
    assert (here["id"], here["changeRequest"]) == (hit["id"], "")
    ran = shell.run("search", "fifty curs")
    assert (ran.exit_code, ran.stderr.count("\n")) == (0, 1)
    assert ran.stderr.startswith("Offline: showing results from the cache. Could not connect to 127.0.0.1:")
    assert ran.stdout.startswith("page\t")
    assert "Lists and pages" in ran.stdout
    ran = shell.run("space", "page", "api", "Tokens")
    assert "presscheck: Not stored for offline reading. Could not connect to 127.0.0.1:" in ran.stderr
    ran = shell.run("search", "--offline", "auth", "guide", "--org", "tallowick")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "#5 Rewrite the auth guide" in ran.stdout
    assert {one["kind"] for one in shell.json("search", "--offline", "two places")} == {"comment"}
    assert shell.run("search", "--offline", "auth", "--org", "nowhere").exit_code == 2


def test_a_rejected_change_stays_in_the_outbox(shell: Shell) -> None:
    ran = shell.run("cr", "reply", "api#5", "no-such-comment", "--body", "Lost?")
    assert ran.exit_code == 2
    assert "Run `presscheck outbox retry 1` or `presscheck outbox drop 1`." in ran.stderr
    assert shell.run("outbox", "send").exit_code == 1
    shell.ok("outbox", "retry", "1")
    assert shell.run("outbox", "send").exit_code == 1
    assert "Lost?" in shell.ok("outbox", "drop", "1")
    assert shell.json("outbox", "list") == []
    assert shell.run("outbox", "drop", "1").exit_code == 2


@pytest.mark.slow
def test_a_change_that_was_not_answered_is_discarded_unless_another_process_sends_it(
    shell: Shell, service: RunningService
) -> None:
    shell.ok("cr", "show", "api#5")
    service.stop()
    shell.ok("cr", "comment", "api#5", "--body", "From the train")
    [file] = (shell.home / "state").glob("*.sqlite")
    other = Outbox(file)
    assert other.may_send()
    assert other.sending(1, time.time())
    refused = shell.run("outbox", "drop", "1")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "change 1 is already sent, or another presscheck process is sending it. Run" in refused.stderr
    assert [row["state"] for row in shell.json("outbox", "list")] == ["sending"]
    other.close()  # as if it was killed
    dropped = shell.run("outbox", "drop", "1")
    assert (dropped.exit_code, "From the train" in dropped.stdout) == (0, True)
    assert "It was sent, but not answered, so it may be saved: check." in dropped.stderr
    assert shell.json("outbox", "list") == []
    [ended] = shell.json("outbox", "history")
    assert (ended["state"], ended["error"]) == ("refused", UNANSWERED)


@pytest.mark.slow
def test_a_read_only_profile_sends_no_writes(shell: Shell, service: RunningService) -> None:
    which = "api#5"
    before = texts(shell, which)
    service.stop()
    shell.ok("cr", "comment", which, "--body", "Before it was read-only")
    service.start()
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    for words in (
        ("cr", "comment", which, "--body", "No"),
        ("cr", "merge", which, "--yes"),
        ("space", "lock", "cli"),
        ("site", "publish", "Inside Tallowick", "--yes"),
        ("api", "update-space", "--space-id", "cli", "--title", "No"),
        ("api", "delete-space", "--space-id", "cli", "--yes"),
        ("outbox", "send"),
        ("outbox", "retry", "1"),
    ):
        ran = shell.run(*words)
        assert (ran.exit_code, "read-only" in ran.stderr) == (2, True), words
    assert shell.json("space", "show", "cli")["title"] == "Command line"
    assert [one["state"] for one in shell.json("outbox", "list")] == ["waiting"], "what waited stays where it is"
    shell.ok("inbox")
    plain = Shell(shell.home.parent / "other", shell.env)
    assert texts(plain, which) == before
