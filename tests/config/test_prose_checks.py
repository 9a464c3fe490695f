"""`[[checks]]` of the settings file: known programs, commands, limits, and errors with line and key."""

from pathlib import Path

import pytest

from presscheck.config.prose_checks import KNOWN_PROGRAMS, ProseCheck
from presscheck.config.settings_schema import MAX_CHECKS
from presscheck.config.validation import errors_in, read, read_checks


def settings(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return file


def test_a_known_program_needs_only_its_name(tmp_path: Path) -> None:
    file = settings(tmp_path, '[[checks]]\nname = "typos"\n\n[[checks]]\nname = "vale"\nseverity = "info"\n')
    typos, vale = read_checks(file)[0]
    assert typos == KNOWN_PROGRAMS["typos"]
    assert (vale.command, vale.severity) == (KNOWN_PROGRAMS["vale"].command, "info")


@pytest.mark.parametrize("command", ["\"lint --as 'a b' {pages}\"", '["lint", "--as", "a b", "{pages}"]'])
def test_command_is_a_string_or_a_list_of_words(tmp_path: Path, command: str) -> None:
    text = f'[[checks]]\nname = "own"\ncommand = {command}\nformat = "sarif"\ntimeout = 5\ndirectory = "~/docs"\n'
    check = ProseCheck("own", ("lint", "--as", "a b", "{pages}"), "sarif", None, 5, "~/docs")
    assert read_checks(settings(tmp_path, text)) == ((check,), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[checks]]\nname = "own"\n', ":1: checks.1 has no command: add it"),
        ('[[checks]]\ncommand = "x"\n', ":1: checks.1.name must be at most 40 letters"),
        ('[[checks]]\nname = "a/b"\ncommand = "x"\n', ":2: checks.1.name must be"),
        ('[[checks]]\nname = "own"\ncommand = "it\'s"\n', ":3: checks.1.command must be a command or a list of words"),
        ('[[checks]]\nname = "own"\ncommand = []\n', ":3: checks.1.command must be"),
        ('[[checks]]\nname = "own"\ncommand = ["x", 3]\n', ":3: checks.1.command must be"),
        ('[[checks]]\nname = "own"\ncommand = 3\n', ":3: checks.1.command must be"),
        ('[[checks]]\nname = "typos"\nformat = "xml"\n', ":3: checks.1.format must be one of json, sarif"),
        ('[[checks]]\nname = "typos"\nformat = ["json"]\n', ":3: checks.1.format must be one of"),
        ('[[checks]]\nname = "typos"\ntimeout = 0\n', ":3: checks.1.timeout must be a whole number from 1 to 3600"),
        ('[[checks]]\nname = "typos"\ntimeout = true\n', ":3: checks.1.timeout must be"),
        ('[[checks]]\nname = "typos"\ndirectory = "docs"\n', ":3: checks.1.directory must be a quoted path"),
        ('[[checks]]\nname = "typos"\nshell = true\n', ":3: checks.1.shell is not a known setting; known: name"),
        (
            '[[checks]]\nname = "typos"\n\n[[checks]]\nname = "Typos"\ncommand = "x"\n',
            ":5: checks.2.name is the name of another check",
        ),
        ('checks = "typos"\n', ":1: checks must be written as [[checks]]"),
        ("checks = [3]\n", ":1: checks.1 must be a table"),
    ],
)
def test_errors_have_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    file = settings(tmp_path, text)
    assert str(errors_in(file)[0]).removeprefix(str(file)).startswith(message)
    assert read_checks(file)[1] == errors_in(file)


def test_invalid_check_is_skipped_and_other_settings_are_read(tmp_path: Path) -> None:
    text = '[[checks]]\nname = "own"\n\n[[checks]]\nname = "typos"\n\n[profiles.default]\ntheme = "paper"\n'
    file = settings(tmp_path, text)
    assert [check.name for check in read_checks(file)[0]] == ["typos"]
    assert read(file, "default") == {"theme": "paper"}


def test_number_of_checks_is_limited(tmp_path: Path) -> None:
    text = "".join(f'[[checks]]\nname = "c{number}"\ncommand = "x"\n' for number in range(MAX_CHECKS + 1))
    checks, (error,) = read_checks(settings(tmp_path, text))
    assert len(checks) == MAX_CHECKS
    assert f"exceeds the limit of {MAX_CHECKS} checks" in str(error)
