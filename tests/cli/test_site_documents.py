"""Replacement of a customization and a visitor schema: concurrent edits, the base of an edit, invalid input."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService


@pytest.fixture
def other(tmp_path: Path, service: RunningService) -> Shell:
    """A second signed-in shell with its own home directory, as on another machine."""
    return signed_in(tmp_path / "other", service)


def sent(shell: Shell, *words: str) -> tuple[int, str, str]:
    """Run a command, which must not crash. Returns its exit code, stdout and stderr."""
    ran = shell.run(*words)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def test_document_of_unknown_base_is_not_replaced(shell: Shell, other: Shell) -> None:
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
def test_changes_during_the_confirmation_are_not_overwritten(
    shell: Shell, other: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = shell.ok("site", "create", "--title", "Just now").strip()
    looks = shell.json("site", "customization", "show", site)
    theirs = {**looks, "title": "Theirs"}
    replace = ("site", "customization", "set", site, "--yes", "--overwrite", "--settings")

    def others_come_first(*_: object, **__: object) -> None:
        monkeypatch.setattr("presscheck.cli.site.documents.confirm", lambda *_, **__: None)
        with ThreadPoolExecutor(1) as thread:  # this thread has no event loop yet
            ran = thread.submit(other.run, *replace, json.dumps(theirs)).result()
        assert ran.exit_code == 0, ran.stderr

    monkeypatch.setattr("presscheck.cli.site.documents.confirm", others_come_first)
    code, _, err = sent(shell, *replace, json.dumps({**looks, "title": "Mine"}))
    assert (code, "customization: title: – → Theirs (in the file: Mine)" in err) == (5, True), err
    assert other.json("site", "customization", "show", site)["title"] == "Theirs"


def test_invalid_input_sends_nothing(shell: Shell, tmp_path: Path) -> None:
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
