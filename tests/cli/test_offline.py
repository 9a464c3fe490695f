"""Offline commands: cached reads, queued writes, rejected changes; read-only profiles."""

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService

pytestmark = pytest.mark.service(shared=False)


@pytest.mark.slow
def test_a_comment_and_a_page_are_queued_offline_and_sent_later(shell: Shell, service: RunningService) -> None:
    edit = ("cr", "edit", "api#5", "--page", "Tokens", "--body")
    shell.ok(*edit, "First line.\n\nIn between.\n\nLast line.\n")
    shell.ok("cr", "show", "api#5")
    service.stop()
    shown = shell.run("cr", "show", "api#5")
    assert (shown.exit_code, "Rewrite the auth guide" in shown.stdout) == (0, True)
    assert shown.stderr.count("Offline: showing cached data from") == 1
    assert "connection refused" in shown.stderr
    assert "connection refused" not in shell.run("--offline", "cr", "show", "api#5").stderr, "it was not tried"
    ran = shell.run("cr", "comment", "api#5", "--body", "From the train")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "queued in the outbox as number 2" in ran.stderr
    for text in ("Our line.\n\nIn between.\n\nLast line.\n", "Our own line.\n\nIn between.\n\nLast line.\n"):
        assert "queued in the outbox as number 3" in shell.run(*edit, text).stderr
    for words in (("cr", "merge", "api#5", "--yes"), ("cr", "show", "runbook#2"), ("outbox", "send")):
        assert shell.run(*words).exit_code == 3, words
    rows = [(row["id"], row["state"], row["call"]) for row in shell.json("outbox", "list")]
    assert rows[0] == (2, "waiting", "postCommentInChangeRequest")
    assert [row[0] for row in rows] == [2, 3]
    service.start()
    other = Shell(shell.home / "other", shell.env)
    other.ok(*edit, "First line.\n\nIn between.\n\nTheir line.\n")
    shell.ok("outbox", "send")
    assert shell.json("outbox", "list") == []
    assert [one["body"]["markdown"].strip() for one in other.json("cr", "show", "api#5")["comments"]].count(
        "From the train"
    ) == 1
    page = other.ok("space", "page", "api", "Tokens", "--cr", "api#5")
    assert page.strip().split("\n\n")[-3:] == ["Our own line.", "In between.", "Their line."]


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


def test_a_read_only_profile_sends_no_writes(shell: Shell, service: RunningService) -> None:
    shell.ok("cr", "show", "api#5")
    service.stop()
    shell.ok("cr", "comment", "api#5", "--body", "Before it was read-only")
    service.start()
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    for words in (
        ("cr", "comment", "api#5", "--body", "No"),
        ("api", "delete-space", "--space-id", "cli", "--yes"),
        ("outbox", "send"),
        ("outbox", "retry", "1"),
    ):
        ran = shell.run(*words)
        assert (ran.exit_code, "read-only" in ran.stderr) == (2, True), words
    assert [one["state"] for one in shell.json("outbox", "list")] == ["waiting"], "what waited stays where it is"
