"""A space as a folder: `presscheck checkout`, `status`, `diff`, `pull` and `push` against the real service."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.checkout_folder import contents, edit
from tests.cli.shell import Shell
from tests.generated_docs.repositories import png
from tests.running_service import RunningService

from presscheck.engine.checkout.state import STATE_FILE

SUMMARY = "SUMMARY.md"


@pytest.fixture
def folder(shell: Shell, tmp_path: Path) -> Path:
    """A checkout of the guides in the sample workspace."""
    return check_out(shell, tmp_path / "guides")


def check_out(shell: Shell, directory: Path, *options: str) -> Path:
    shell.ok("checkout", "guides", str(directory), *options)
    return directory


def status(shell: Shell, directory: Path) -> dict[str, Any]:
    return shell.json("status", str(directory))


def test_untouched_checkout_pushes_nothing(shell: Shell, folder: Path) -> None:
    before = len(shell.json("cr", "list", "--space", "guides"))
    clean = shell.run("status", str(folder / "ship"))
    assert (clean.stdout, clean.stderr) == ("", "Guides, main\nNo changes.\n")
    pushed = shell.run("push", str(folder))
    assert (pushed.exit_code, pushed.stdout, pushed.stderr) == (0, "", "Nothing to push.\n")
    assert shell.run("pull", str(folder)).stderr == "Up to date with main.\n"
    assert len(shell.json("cr", "list", "--space", "guides")) == before


def test_edits_of_text_tree_and_files_are_pushed_as_one_change_request(
    shell: Shell, folder: Path, tmp_path: Path
) -> None:
    edit(folder / "ship/addresses.md", "# Clean addresses", "# Tidy addresses")
    (folder / "ship/deep").mkdir()
    (folder / "ship/new.md").write_text(
        "# New page\n\n![A quay](../.gitbook/assets/quay.png), [back](returns.md#refunds), [below](deep/other.md)\n"
    )
    (folder / "ship/deep/other.md").write_text("---\ndescription: One line\n---\n\n# Other\n\n[Up](../new.md)\n")
    (folder / ".gitbook/assets").mkdir(parents=True)
    (folder / ".gitbook/assets/quay.png").write_bytes(png(20, 10))
    (folder / "ship/insurance.md").unlink()
    (folder / "ship/pickup.md").rename(folder / "ship/collection.md")
    edit(folder / SUMMARY, "* [Insurance](ship/insurance.md)\n", "")
    edit(folder / SUMMARY, "ship/pickup.md", "ship/collection.md")
    edit(folder / SUMMARY, "(ship/returns.md)\n", "(ship/returns.md)\n  * [New page](ship/new.md)\n")
    edit(folder / SUMMARY, "(ship/new.md)\n", "(ship/new.md)\n    * [Other](ship/deep/other.md)\n")
    edit(folder / SUMMARY, "* [Going live](going-live.md)\n", "")
    edit(folder / SUMMARY, "## Connect\n\n", "## Connect\n\n* [Going live](going-live.md)\n")
    assert {name: value for name, value in status(shell, folder).items() if value and name in CHANGES} == {
        "added": [".gitbook/assets/quay.png", "ship/deep/other.md", "ship/new.md"],
        "edited": [SUMMARY, "ship/addresses.md"],
        "deleted": ["ship/insurance.md"],
        "renamed": {"ship/pickup.md": "ship/collection.md"},
    }
    pushed = shell.json("push", str(folder), "-m", "Many edits")
    assert (pushed["changeRequest"]["subject"], pushed["files"], pushed["notSent"]) == ("Many edits", 1, [])
    number = str(pushed["changeRequest"]["number"])
    assert shell.run("push", str(folder)).stderr == "Nothing to push.\n"
    assert shell.run("pull", str(folder)).stderr == f"Up to date with #{number}.\n"
    tree = json.loads(shell.ok("api", "GET", f"/spaces/guides/change-requests/{number}/content/pages"))["pages"]
    assert outline(tree) == {
        "Quickstart": {},
        "Ship": {
            "Tidy addresses": {},
            "Many parcels at once": {},
            "Pick-up and drop-off": {},
            "Returns": {"New page": {"Other": {}}},
            "Customs": {},
        },
        "Connect": {
            "Going live": {},
            "Receiving events": {},
            "Your own label": {},
            "Coming from another service": {},
            "Working together": {},
        },
    }
    other = check_out(shell, tmp_path / "again", "--cr", number)
    assert (other / ".gitbook/assets/quay.png").read_bytes() == png(20, 10)
    new = (other / "ship/returns/new/README.md").read_text()
    assert "![A quay](../../../.gitbook/assets/quay.png), [back](../../returns.md#refunds), [below](other.md)" in new
    assert "description: One line\n" in (other / "ship/returns/new/other.md").read_text()


CHANGES = ("added", "edited", "deleted", "renamed", "conflicts", "unreadable")


def outline(pages: list[dict[str, Any]]) -> dict[str, Any]:
    return {page["title"]: outline(page.get("pages", [])) for page in pages}


def test_pull_merges_changes_of_others_by_line(shell: Shell, folder: Path, tmp_path: Path) -> None:
    edit(folder / "going-live.md", "# Going live", "# Going live soon")
    which = shell.ok("push", str(folder)).strip()
    number = which.partition("#")[2]
    theirs = check_out(shell, tmp_path / "theirs", "--cr", number)
    text = (folder / "quickstart.md").read_text()
    (folder / "quickstart.md").write_text(text + "\nMine at the end.\n")
    (theirs / "quickstart.md").write_text(text.replace("# Quickstart", "# Quick start"))
    (theirs / "ship/customs.md").unlink()
    edit(theirs / SUMMARY, "* [Customs](ship/customs.md)\n", "")
    shell.ok("push", str(theirs))
    refused = shell.run("push", str(folder))
    assert refused.exit_code == 5
    assert refused.stderr == f"presscheck: #{number} has changed since your last pull: pull first\n"
    pulled = shell.json("pull", str(folder))
    assert (pulled["merged"], pulled["deleted"], pulled["conflicts"]) == (["quickstart.md"], ["ship/customs.md"], [])
    assert (folder / "quickstart.md").read_text() == text.replace(
        "# Quickstart", "# Quick start"
    ) + "\nMine at the end.\n"
    assert "[Quick start](quickstart.md)" in (folder / SUMMARY).read_text()
    assert status(shell, folder)["edited"] == ["quickstart.md"]
    shell.ok("push", str(folder))
    shell.ok("pull", str(theirs))
    assert contents(theirs) == contents(folder)


def test_lines_that_both_sides_changed_are_conflicts(shell: Shell, folder: Path, tmp_path: Path) -> None:
    edit(folder / "going-live.md", "# Going live", "# Going")
    number = shell.ok("push", str(folder)).strip().partition("#")[2]
    theirs = check_out(shell, tmp_path / "theirs", "--cr", number)
    edit(folder / "quickstart.md", "# Quickstart", "# Mine")
    edit(theirs / "quickstart.md", "# Quickstart", "# Theirs")
    shell.ok("push", str(theirs))
    pulled = shell.run("pull", str(folder))
    assert (pulled.exit_code, "Conflicts in quickstart.md" in pulled.stderr) == (6, True)
    text = (folder / "quickstart.md").read_text()
    assert "\n<<<<<<< " in text and "# Mine\n=======\n# Theirs\n>>>>>>> #" in text
    assert status(shell, folder)["conflicts"] == ["quickstart.md"]
    again = shell.run("pull", str(folder))
    assert (folder / "quickstart.md").read_text() == text, "open conflicts are not merged once more"
    assert again.exit_code == 0
    refused = shell.run("push", str(folder))
    assert (refused.exit_code, refused.stderr) == (6, "presscheck: Resolve the conflicts first: quickstart.md\n")
    (folder / "quickstart.md").write_text("# Both\n")
    shell.ok("push", str(folder))
    shell.ok("pull", str(theirs))
    assert "# Both\n" in (theirs / "quickstart.md").read_text()


@pytest.mark.service(shared=False)
def test_folder_follows_main_after_the_merge(shell: Shell, folder: Path) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Start")
    which = shell.ok("push", str(folder), "-m", "Start").strip()
    shell.ok("cr", "merge", which, "--yes")
    edit(folder / "going-live.md", "# Going live", "# Live")
    refused = shell.run("push", str(folder))
    assert (refused.exit_code, "main has changed since your last pull" in refused.stderr) == (5, True)
    shell.ok("pull", str(folder))
    assert status(shell, folder)["place"] == "main"
    assert status(shell, folder)["edited"] == ["going-live.md"]
    assert shell.ok("push", str(folder), "-m", "Live").strip() != which


def test_new_version_of_a_picture_replaces_the_old_one(shell: Shell, folder: Path, tmp_path: Path) -> None:
    (folder / ".gitbook/assets").mkdir(parents=True)
    picture = folder / ".gitbook/assets/quay.png"
    picture.write_bytes(png(20, 10))
    (folder / "quickstart.md").write_text("# Quickstart\n\n![](.gitbook/assets/quay.png)\n")
    which = shell.ok("push", str(folder)).strip()
    picture.write_bytes(png(30, 10))
    assert status(shell, folder)["edited"] == [".gitbook/assets/quay.png"]
    shell.ok("push", str(folder))
    assert shell.run("push", str(folder)).stderr == "Nothing to push.\n"
    other = check_out(shell, tmp_path / "other", "--cr", which.partition("#")[2])
    [line] = [line for line in (other / "quickstart.md").read_text().splitlines() if line.startswith("![")]
    shown = other / line.removeprefix("![](").removesuffix(")")
    assert shown.read_bytes() == png(30, 10)


def test_edits_that_the_api_does_not_support_are_named_and_kept(shell: Shell, folder: Path) -> None:
    edit(folder / SUMMARY, "## Connect\n", "## New group\n\n* [Note](note.md)\n\n## Connect\n")
    (folder / "note.md").write_text("---\ncover: https://example.org/a.png\n---\n\n# Note\n\nText\n")
    (folder / ".gitbook/includes").mkdir(parents=True)
    (folder / ".gitbook/includes/tip.md").write_text("A tip\n")
    (folder / ".gitbook/assets").mkdir()
    (folder / ".gitbook/assets/large.bin").write_bytes(bytes(1_000_001))
    edit(folder / ".gitbook.yaml", "root: ./\n", "root: ./\nredirects:\n  old: quickstart.md\n")
    notes = shell.json("push", str(folder))["notSent"]
    for start in (
        "New group: the API cannot add a group",
        ".gitbook/includes/tip.md: the API cannot change reusable content",
        ".gitbook/assets/large.bin: has 1,000,001 bytes",
        ".gitbook.yaml: the API cannot change redirects",
        "note.md: the API cannot change the cover",
    ):
        assert any(note.startswith(start) for note in notes), (start, notes)
    assert {".gitbook/includes/tip.md", ".gitbook/assets/large.bin"} <= {*status(shell, folder)["added"]}


def test_unsuitable_folders_are_rejected(shell: Shell, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/note.txt").write_text("mine")
    for directory, reason in (
        (tmp_path / "full", "is not empty"),
        (folder / "inner", f"is in the checkout {folder.resolve()}"),
        (folder, "is in the checkout"),
    ):
        refused = shell.run("checkout", "guides", str(directory))
        assert (refused.exit_code, reason in refused.stderr) == (2, True), refused.stderr
    assert contents(tmp_path / "full") == {"note.txt": b"mine"}
    outside = shell.run("status", str(tmp_path / "full"))
    assert (outside.exit_code, "is not in a checkout" in outside.stderr) == (2, True)
    (folder / STATE_FILE).write_text("{")
    damaged = shell.run("status", str(folder))
    assert (damaged.exit_code, "this is not the state of a checkout" in damaged.stderr) == (2, True)


def test_unusual_files_are_neither_followed_nor_deleted(shell: Shell, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    (folder / "quickstart.md").unlink()
    (folder / "quickstart.md").symlink_to(tmp_path / "secret.md")
    (folder / "going-live.md").write_bytes(b"# Caf\xe9\n")
    found = status(shell, folder)
    assert {*found["unreadable"]} == {"quickstart.md", "going-live.md"}
    assert (found["deleted"], found["edited"]) == ([], [])
    edit(folder / "ship/customs.md", "# Customs", "# Borders")
    pushed = shell.json("push", str(folder))
    assert len(pushed["notSent"]) == 2
    request = pushed["changeRequest"]["number"]
    pages = outline(
        json.loads(shell.ok("api", "GET", f"/spaces/guides/change-requests/{request}/content/pages"))["pages"]
    )
    assert {"Quickstart", "Going live"} <= {*pages}
    (folder / SUMMARY).unlink()
    missing = shell.run("push", str(folder))
    assert (missing.exit_code, "SUMMARY.md is missing: presscheck pull restores it" in missing.stderr) == (6, True)
    (folder / "quickstart.md").unlink()
    shell.ok("pull", str(folder))
    assert "* [Quickstart]" in (folder / SUMMARY).read_text()
    listed = shell.run("push", str(folder))
    assert (listed.exit_code, "quickstart.md does not exist" in listed.stderr) == (6, True), listed.stderr


def test_status_works_offline_and_push_needs_a_writable_profile_of_the_same_service(shell: Shell, folder: Path) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    diff = shell.ok("diff", str(folder))
    assert "quickstart.md" in diff and "Begin" in diff
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    refused = shell.run("push", str(folder))
    assert (refused.exit_code, "read-only" in refused.stderr) == (2, True)
    shell.config.unlink()
    other = replace(shell, env={**shell.env, "PRESSCHECK_BASE_URL": "http://127.0.0.1:9"})
    assert status(other, folder)["edited"] == ["quickstart.md"], "the status needs no service"
    wrong = other.run("push", str(folder))
    assert (wrong.exit_code, "choose another with --profile" in wrong.stderr) == (2, True)
    assert shell.run("push", str(folder), "-m", " ").exit_code == 2
    assert shell.run("checkout", "guides", "x", "--cr", "abc").exit_code == 2


def test_cached_revision_does_not_count_as_the_newest(shell: Shell, folder: Path) -> None:
    shell.ok("api", "GET", "/spaces/guides/content")  # stored in the cache
    for command in ("pull", "diff"):
        offline = shell.run("--offline", command, str(folder))
        assert (offline.exit_code, offline.stdout, "Offline" in offline.stderr) == (3, "", True), offline.stderr


def test_state_is_small_and_has_no_token(shell: Shell, folder: Path) -> None:
    state = json.loads((folder / STATE_FILE).read_text())
    assert shell.env["PRESSCHECK_TOKEN"] not in (folder / STATE_FILE).read_text()
    assert {*state["items"]} == {path for path in contents(folder) if path not in (SUMMARY, ".gitbook.yaml")}
    assert (folder / STATE_FILE).stat().st_size < 200 * len(state["items"]) + 500


@pytest.mark.slow
@pytest.mark.service(shared=False)
def test_push_waits_in_the_outbox_while_the_service_is_down(
    shell: Shell, folder: Path, service: RunningService
) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    (folder / ".gitbook/assets").mkdir(parents=True)
    (folder / ".gitbook/assets/quay.png").write_bytes(png(20, 10))
    service.stop()
    ran = shell.run("push", str(folder), "-m", "From the train")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "Offline: queued in the outbox as number 1, to be sent later." in ran.stderr
    edit(folder / "going-live.md", "# Going live", "# Live")
    again = shell.run("push", str(folder))
    assert "queued in the outbox as number 1" in again.stderr, "a folder has one push in the outbox"
    [row] = shell.json("outbox", "list")
    assert (row["state"], row["request"]) == ("waiting", f"push {folder}")
    assert "A push is queued in the outbox as number 1: pending." in shell.run("status", str(folder)).stderr
    service.start()
    shell.ok("outbox", "send")
    assert "No changes." in shell.run("status", str(folder)).stderr
    number = status(shell, folder)["place"].removeprefix("#")
    assert shell.json("cr", "show", f"guides#{number}")["changeRequest"]["subject"] == "From the train"
    service.stop()
    edit(folder / "quickstart.md", "# Begin", "# Start")
    shell.ok("push", str(folder))
    service.start()
    edit(folder / "quickstart.md", "# Start", "# Start now")
    asked = shell.run("outbox", "send")
    assert (asked.exit_code, "was edited since: push it again to send it as it is now" in asked.stderr) == (1, True)
    pushed = shell.run("push", str(folder))
    assert (pushed.exit_code, pushed.stdout) == (0, f"guides#{number}\n")
    assert "# Start now" in shell.ok("page", "view", "guides", "quickstart", "--cr", f"guides#{number}")


def test_later_queued_push_still_creates_a_change_request(shell: Shell, folder: Path) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    first = shell.ok("push", str(folder)).strip()
    edit(folder / "going-live.md", "# Going live", "# Live")
    shell.ok("--offline", "push", str(folder), "--new")
    edit(folder / "going-live.md", "# Live", "# Live now")
    shell.ok("--offline", "push", str(folder))
    shell.ok("outbox", "send")
    second = f"guides{status(shell, folder)['place']}"
    assert second != first
    assert "# Live now" in shell.ok("page", "view", "guides", "going-live", "--cr", second)
    assert "# Begin" in shell.ok("page", "view", "guides", "quickstart", "--cr", second)
    assert "# Live" not in shell.ok("page", "view", "guides", "going-live", "--cr", first)


HASTY = """
from presscheck.__main__ import main
from presscheck.cli import checkout
checkout.WATCH_SECONDS = 0.1
main()
"""
"""The program with a watch interval of 0.1 seconds."""


def watched(shell: Shell, folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start `presscheck push --watch` and wait until it watches the folder."""
    command = [sys.executable, "-c", HASTY, "push", str(folder), "--watch", "-m", "Live", *options]
    process = subprocess.Popen(
        command, env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr and process.stderr.readline().startswith("Watching ")
    return process


def lines_until(process: subprocess.Popen[str], start: str) -> list[str]:
    """Return the messages of a process up to the first that begins with `start`."""
    assert process.stderr
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith(start):
            return lines
    raise AssertionError(lines)


def end_watch(process: subprocess.Popen[str]) -> str:
    """Interrupt a watching process and return its last messages."""
    process.send_signal(signal.SIGINT)
    messages = process.communicate(timeout=30)[1]
    assert "Traceback" not in messages
    return messages


@pytest.mark.slow
@pytest.mark.service(shared=False)
def test_watch_pushes_and_pulls_edits_and_continues_when_the_service_is_back(
    shell: Shell, service: RunningService, folder: Path, tmp_path: Path
) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    number = shell.ok("push", str(folder)).strip().partition("#")[2]
    service.stop()  # the cache has no revision of the change request, so that the first pull fails
    process = watched(shell, folder)
    try:
        [failed] = lines_until(process, "Could not connect")
        assert failed.endswith("retrying every 1 s.\n")
        service.start()
        assert lines_until(process, "Back online.") == ["Back online.\n"]
        theirs = check_out(shell, tmp_path / "theirs", "--cr", number)
        edit(theirs / "going-live.md", "# Going live", "# Live")
        shell.ok("push", str(theirs))
        edit(folder / "quickstart.md", "# Begin", "# Start")  # before the next pull, so that the push is refused
        lines_until(process, "Pulled going-live.md")
        lines_until(process, f"Pushed 1 page change to #{number}.")
        assert "# Live\n" in (folder / "going-live.md").read_text()
        shell.ok("pull", str(theirs))
        assert "# Start\n" in (theirs / "quickstart.md").read_text()
    finally:
        end_watch(process)


@pytest.mark.slow
def test_watch_creates_only_one_change_request(shell: Shell, folder: Path) -> None:
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    followed = int(shell.ok("push", str(folder)).strip().partition("#")[2])
    process = watched(shell, folder, "--new")
    try:
        edit(folder / "quickstart.md", "# Begin", "# Start")
        pushed = lines_until(process, "Pushed 1 page change to #")[-1]
        number = int(pushed.strip().rpartition("#")[2].rstrip("."))
        assert number > followed
        edit(folder / "quickstart.md", "# Start", "# Go")
        assert lines_until(process, "Pushed ") == [pushed]
    finally:
        end_watch(process)
