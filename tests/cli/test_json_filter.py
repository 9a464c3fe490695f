"""`--jq` and `--template`: output and errors."""

from __future__ import annotations

import json
import sys

import pytest
from tests.cli.shell import Shell


@pytest.fixture
def subjects(shell: Shell) -> list[tuple[int, str]]:
    return [(item["number"], item["subject"]) for item in shell.json("cr", "list", "--limit", "3")]


def test_jq_filters_the_json(shell: Shell, subjects: list[tuple[int, str]]) -> None:
    printed = shell.ok("cr", "list", "--limit", "3", "--jq", r'.[] | "\(.number) \(.subject)"')
    assert printed == "".join(f"{number} {subject}\n" for number, subject in subjects)
    assert json.loads(shell.ok("cr", "list", "--limit", "3", "--jq", "map(.number)")) == [one for one, _ in subjects]
    assert shell.ok("cr", "list", "--jq", ".[] | select(.number > 9999)") == ""
    assert shell.ok("whoami", "--jq", ".displayName").strip() == shell.json("whoami")["displayName"]


def test_a_template_prints_a_line_for_each_item(shell: Shell, subjects: list[tuple[int, str]]) -> None:
    printed = shell.ok("cr", "list", "--limit", "3", "--template", r"{{{number}}}\t{subject}")
    assert printed == "".join(f"{{{number}}}\t{subject}\n" for number, subject in subjects)
    assert shell.ok("cr", "list", "--limit", "1", "--template", "{createdBy.displayName}").strip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--jq", ".["), "Invalid value for '--jq': syntax error"),
        (("--jq", ".a.b"), "--jq: Cannot index array with"),
        (("--template", "{nothing}"), "--template: {nothing}: no field nothing. Available: "),
        (("--template", "{number.x}"), "--template: {number.x}: no field x. Available: none"),
        (("--jq", ".", "--template", "x"), "cannot be used together with --jq"),
    ],
)
def test_invalid_filter_is_an_error(shell: Shell, words: tuple[str, ...], message: str) -> None:
    ran = shell.run("cr", "list", *words)
    assert ran.exit_code == 2 and message in ran.stderr, ran.stderr
    assert len(ran.stderr.strip().splitlines()) <= 4 and ran.stdout == ""


def test_missing_jq_library_is_an_error_that_names_the_extra(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jq", None)
    monkeypatch.setattr("presscheck.extras.find_spec", lambda name: None if name == "jq" else object())
    ran = shell.run("cr", "list", "--jq", ".")
    assert ran.exit_code != 0 and "pip install 'presscheck[jq]'" in ran.stderr and "Traceback" not in ran.output


def test_control_characters_in_results_do_not_reach_the_terminal(shell: Shell) -> None:
    assert "\x1b" not in shell.ok("cr", "list", "--jq", r'"\u001b[31mred"')
