"""`presscheck openapi compare`: the latest version on the real service against an earlier one and against a file."""

import json
import time
from pathlib import Path
from typing import Any

from tests.cli.shell import Shell


def described(*paths: str) -> str:
    """Return an OpenAPI description with a GET operation at each path."""
    operation: dict[str, Any] = {"responses": {"200": {"description": "All"}}}
    info = {"title": "Pets", "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "paths": {path: {"get": operation} for path in paths}})


def processed(shell: Shell, before: str | None = None) -> str:
    """Wait until the latest version is not `before`. Returns its id."""
    end = time.monotonic() + 30
    while (version := shell.json("openapi", "show", "pets").get("lastVersion")) in (None, before):
        assert time.monotonic() < end, "not processed"
        time.sleep(0.05)
    return str(version)


def test_breaking_changes_of_a_new_version_are_listed(shell: Shell, tmp_path: Path) -> None:
    old, wrong = tmp_path / "old.yaml", tmp_path / "wrong.yaml"
    old.write_text(described("/pets", "/owls"))
    wrong.write_text("a: 1\n")
    shell.ok("openapi", "create", "--slug", "pets", "--source-text", f"@{old}")
    first = processed(shell)
    alone = shell.run("openapi", "compare", "pets")
    assert alone.exit_code == 0 and "No other version was seen" in alone.stderr
    assert shell.json("openapi", "compare", "pets") == {"result": "unknown", "older": None, "changes": []}

    new = tmp_path / "new.json"
    new.write_text(described("/pets", "/cats"))
    shell.ok("openapi", "put", "pets", "--source-text", f"@{new}")
    processed(shell, first)
    ran = shell.run("openapi", "compare", "pets")
    assert ran.exit_code == 6
    assert ran.stdout == "breaking\tGET /owls\tremoved\tGET /owls\ncompatible\tGET /cats\tadded\tGET /cats\n"
    assert "1 breaking change, 1 compatible" in ran.stderr
    told = json.loads(shell.run("openapi", "compare", "pets", "--json").stdout)
    assert told["result"] == "breaking" and told["changes"][0]["operations"] == ["GET /owls"]

    by_file = shell.run("openapi", "compare", "pets", "--file", str(old), "--json")
    assert by_file.exit_code == 6
    assert json.loads(by_file.stdout)["changes"] == told["changes"]
    assert shell.json("openapi", "compare", "pets", "--file", str(new))["result"] == "identical"
    refused = shell.run("openapi", "compare", "pets", "--file", str(wrong))
    assert refused.exit_code == 2 and "--file: is no OpenAPI description" in refused.stderr
    shell.ok("openapi", "delete", "pets", "--yes")
