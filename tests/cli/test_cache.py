"""`presscheck cache`: path, size, and clearing, which never affects the outbox."""

import json
from pathlib import Path

from tests.cli.shell import Shell
from tests.running_service import RunningService

from presscheck.api.comments import Document, PostComment
from presscheck.store.outbox import Outbox


def test_path_and_size(shell: Shell) -> None:
    assert shell.json("cache", "size")["bytes"] == 0
    shell.ok("space", "list")
    assert shell.ok("cache", "path").strip() == str(shell.home / "cache") == shell.json("cache", "path")["path"]
    shell.config.write_text("[profiles.default]\ncache_size = 7\n")
    found = shell.json("cache", "size")
    assert (found["limitBytes"], found["path"]) == (7_000_000, str(shell.home / "cache"))
    [one] = found["caches"]
    assert one["bytes"] == found["bytes"] > 0
    assert one["answers"] > 0
    assert one["things"] > 0
    ran = shell.run("cache", "size")
    assert one["file"] in ran.stdout
    assert "7 MB" in ran.stderr


def test_the_cache_commands_need_no_token(tmp_path: Path) -> None:
    assert Shell(tmp_path / "home").json("cache", "size")["caches"] == []


def test_clear_asks_first_and_keeps_the_outbox(shell: Shell, service: RunningService) -> None:
    listed = shell.json("space", "list")
    state = shell.home / "state"
    [file] = [one for one in state.iterdir() if one.suffix == ".sqlite"]
    outbox = Outbox(file)
    call = PostComment(space_id="s", change_request_id="1", body=Document(markdown="Keep me"))
    outbox.put(call.stored_name(), call.given(), "s", 1.0)
    outbox.save_draft("d", "half a sen")
    outbox.close()
    before = {one.name: one.read_bytes() for one in state.iterdir()}
    assert shell.run("cache", "clear").exit_code == 2, "nobody is there to be asked"
    assert shell.json("cache", "size")["caches"][0]["answers"] > 0
    assert json.loads(shell.ok("cache", "clear", "--yes", "--json"))["freedBytes"] > 0
    assert shell.json("cache", "size")["caches"][0]["answers"] == 0
    assert {one.name: one.read_bytes() for one in state.iterdir()} == before
    assert shell.json("space", "list") == listed
    assert "Cache cleared" in shell.run("cache", "clear", "-y").stderr
