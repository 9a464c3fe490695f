"""Replacing a customization and a visitor schema: two people, the base of an edit, snapshots."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService


@pytest.fixture
def other(tmp_path: Path, service: RunningService) -> Shell:
    """Somebody else, on another machine."""
    return signed_in(tmp_path / "other", service)


def sent(shell: Shell, *words: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command, which does not crash."""
    ran = shell.run(*words)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def schema_with(*names: str) -> dict[str, Any]:
    """A schema with these claims, all texts."""
    claims = {name: {"type": "string", "description": name} for name in names}
    return {"type": "object", "properties": claims, "additionalProperties": False}


@pytest.mark.slow
def test_a_customization_does_not_overwrite_what_somebody_else_changed(
    shell: Shell, other: Shell, tmp_path: Path
) -> None:
    site = shell.ok("site", "create", "--title", "Two painters").strip()
    replace = ("site", "customization", "set", site, "--settings")

    before = shell.json("site", "customization", "show", site)
    base = tmp_path / "base.json"
    base.write_text(json.dumps(before))
    theirs = other.json("site", "customization", "show", site)
    theirs["styling"]["corners"] = "circular"
    theirs["title"] = "Theirs"
    other.ok(*replace, json.dumps(theirs), "--yes")

    mine = json.loads(base.read_text())
    mine["styling"]["corners"], mine["themes"]["default"] = "straight", "dark"
    code, out, err = sent(shell, *replace, json.dumps(mine), "--yes")
    assert (code, out) == (5, "")
    assert "customization: styling.corners: rounded → circular (in the file: straight)" in err
    assert "customization: title: – → Theirs (in the file: –)" in err
    assert "themes.default" not in err, "only what would be lost"
    assert "it would overwrite 2 fields of the customization that somebody else changed" in err
    code, out, _ = sent(shell, *replace, json.dumps(mine), "--yes", "--json")
    assert (code, [one["now"] for one in json.loads(out)["drift"]]) == (5, ["circular", "Theirs"])
    assert sent(shell, *replace, json.dumps(mine), "--dry-run")[0] == 5
    assert other.json("site", "customization", "show", site)["title"] == "Theirs"

    # what the edit has of theirs is not lost
    taken = {**mine, "title": "Theirs", "styling": theirs["styling"]}
    shell.ok(*replace, json.dumps(taken), "--yes")
    now = shell.json("site", "customization", "show", site)
    assert (now["title"], now["styling"]["corners"], now["themes"]["default"]) == ("Theirs", "circular", "dark")

    # an older base is given as a file, and what was sent last is the next base
    assert sent(shell, *replace, json.dumps(mine), "--base", str(base), "--yes")[0] == 5
    code, _, err = sent(shell, *replace, json.dumps(mine), "--base", str(base), "--overwrite", "--yes")
    assert (code, "kept as the snapshot" in err) == (0, True)
    assert shell.json("site", "customization", "show", site)["styling"]["corners"] == "straight"
    shell.ok("site", "restore", site, "latest", "--yes", "--prune")
    assert shell.json("site", "customization", "show", site)["styling"]["corners"] == "circular"


def test_a_machine_that_never_printed_the_document_does_not_replace_it(shell: Shell, other: Shell) -> None:
    site = shell.ok("site", "create", "--title", "Unseen").strip()
    looks = shell.json("site", "customization", "show", site)
    looks["styling"]["corners"] = "circular"
    replace = ("site", "customization", "set", site, "--settings", json.dumps(looks))
    code, out, err = sent(other, *replace, "--yes")
    assert (code, out) == (5, "~ customization: styling.corners: rounded → circular\n")
    assert "it is not known which customization was edited. Give it with --base FILE" in err
    assert sent(other, *replace, "--overwrite")[0] == 2, "asks, and there is no terminal"
    assert sent(other, *replace, "--overwrite", "--yes")[0] == 0
    code, _, err = sent(shell, *replace, "--yes")
    assert (code, err) == (0, "No changes: the site has this customization already.\n")
    looks["styling"]["corners"] = "straight"
    assert sent(other, *replace[:-1], json.dumps(looks), "--yes")[0] == 0, "what was sent is the base of the next"


@pytest.mark.slow
def test_what_changes_while_the_question_is_read_is_not_overwritten(
    shell: Shell, other: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = shell.ok("site", "create", "--title", "Just now").strip()
    looks = shell.json("site", "customization", "show", site)
    theirs = {**looks, "title": "Theirs"}
    replace = ("site", "customization", "set", site, "--yes", "--overwrite", "--settings")

    def others_come_first(*_: object, **__: object) -> None:
        ran = other.program(*replace, json.dumps(theirs))
        assert ran.returncode == 0, ran.stderr

    monkeypatch.setattr("presscheck.cli.site.documents.confirm", others_come_first)
    code, _, err = sent(shell, *replace, json.dumps({**looks, "title": "Mine"}))
    assert (code, "customization: title: – → Theirs (in the file: Mine)" in err) == (5, True), err
    assert other.json("site", "customization", "show", site)["title"] == "Theirs"


@pytest.mark.slow
def test_a_visitor_schema_does_not_overwrite_what_somebody_else_changed(
    shell: Shell, other: Shell, tmp_path: Path
) -> None:
    site = shell.ok("site", "create", "--title", "Two editors").strip()
    replace = ("site", "set-schema", site, "--json-schema")
    first, both = schema_with("plan"), schema_with("plan", "region")
    shell.ok(*replace, json.dumps(first))
    assert not [row for row in shell.json("site", "history", site) if row["snapshot"]], "there was none before"
    printed = other.json("site", "schema", site)
    assert printed["jsonSchema"] == first
    other.ok(*replace, json.dumps(both))

    code, _, err = sent(shell, *replace, json.dumps(schema_with("plan", "beta")))
    assert (code, "properties.region.type: – → string (in the file: –)" in err) == (5, True), err
    assert other.json("site", "schema", site)["jsonSchema"] == both
    base = tmp_path / "schema.json"
    for text in (printed, first):
        base.write_text(json.dumps(text))
        assert sent(shell, *replace, json.dumps(schema_with("plan", "beta")), "--base", str(base))[0] == 5
    shell.json("site", "schema", site)
    shell.ok(*replace, json.dumps(schema_with("plan", "beta")))
    assert list(shell.json("site", "schema", site)["jsonSchema"]["properties"]) == ["plan", "beta"]
    shell.ok("site", "restore", site, "latest", "--yes", "--prune")
    assert list(shell.json("site", "schema", site)["jsonSchema"]["properties"]) == ["plan", "region"]


def test_mistakes_send_nothing(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Careless").strip()
    shell.json("site", "customization", "show", site)
    file, missing = tmp_path / "bad.json", tmp_path / "missing.json"
    file.write_text("[1]")
    for words, message in (
        ((), "--json-schema: is required"),
        (("--json-schema", "{"), "--json-schema: is not valid JSON"),
        (("--json-schema", "{}", "--base", str(missing)), "could not be read: No such file"),
        (("--json-schema", "{}", "--base", str(file)), "has no JSON object"),
    ):
        code, _, err = sent(shell, "site", "set-schema", site, *words)
        assert (code, message in err) == (2, True), err
    code, _, err = sent(shell, "site", "set-schema", site, "--json-schema", '{"type": 1}')
    assert (code, shell.json("outbox", "list")) == (1, []), err
    code, _, err = sent(shell, "site", "customization", "set", site, "--settings", '{"styling": 1}', "--yes")
    assert (code, shell.json("outbox", "list")) == (1, []), err
