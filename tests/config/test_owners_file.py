"""The owners file: patterns, errors with their lines, hostile contents, and changes of the file."""

import os
import time
from pathlib import Path

import pytest

from presscheck.config import owners_file
from presscheck.config.owners_file import MAX_BYTES, MAX_LINE, MAX_RULES, OwnersFile, owners_errors, parse

API = ("api", "API docs")


def matches(pattern: str, path: str) -> bool:
    owners = parse(Path("owners"), f"{pattern} mia")
    assert owners.errors == ()
    return owners.rule_for(API, path) is not None


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*", "limits"),
        ("*", "authentication/tokens"),
        ("**", "authentication/tokens"),
        ("/api", ""),
        ("/api", "authentication/tokens"),
        ("/api/", "limits"),
        ("api/limits", "limits"),
        ("/API\\ docs/limits", "limits"),
        ('"/API docs/limits"', "limits"),
        ("/api\\ DOCS/Limits", "limits"),
        ("/api/*", "limits"),
        ("/api/**", "authentication/tokens"),
        ("limits", "limits"),
        ("tokens", "authentication/tokens"),
        ("authentication/", "authentication/tokens"),
        ("authentication/", "authentication"),
        ("authentication/", "v2/authentication/tokens"),
        ("authentication/tokens", "authentication/tokens/rotation"),
        ("authentication/*", "authentication/tokens"),
        ("**/tokens", "a/b/tokens"),
        ("/api/**/tokens", "tokens"),
        ("/api/**/tokens", "a/b/c/tokens"),
        ("a/**/b/**/c", "a/b/x/b/c"),
        ("tok*s", "authentication/tokens"),
        ("t?kens", "authentication/tokens"),
        ("t*k*n*s", "tknkens"),
        ("a\\*", "a*"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/cli", "limits"),
        ("/limits", "limits"),  # after a leading slash comes the space
        ("cli/limits", "limits"),
        ("/api/*", "authentication/tokens"),
        ("/api/*", ""),
        ("/api/**", ""),
        ("authentication/*", "authentication"),
        ("authentication/*", "authentication/tokens/rotation"),
        ("authentication/tokens", "v2/authentication/tokens"),
        ("/api/**/tokens", "tokens-of-others"),
        ("tok*s", "authentication/tokenss-x"),
        ("t?kens", "authentication/tkens"),
        ("t?kens", "authentication/t/kens"),
        ("a\\*", "ab"),
        ("a\\?", "ab"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_last_match_wins_even_without_owners() -> None:
    text = (
        '* mia\n\n# comment\n/api/ @ada "Jón Stefánsson"  # inline\n\tauthentication/tokens\tdocs/writers \r\nlimits\n'
    )
    owners = parse(Path("owners"), text)
    assert owners.errors == ()

    def of(path: str, space: tuple[str, str] = API) -> tuple[int, tuple[str, ...]]:
        rule = owners.rule_for(space, path)
        assert rule
        return rule.line, rule.owners

    assert of("errors", ("cli", "Command line")) == (1, ("mia",))
    assert of("errors") == (4, ("ada", "Jón Stefánsson"))
    assert of("authentication/tokens") == (5, ("docs/writers",))
    assert of("limits") == (6, ())
    assert parse(Path("owners"), "a b").rule_for(API, "c") is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[Writers] mia", "sections in brackets are not supported"),
        ("^[Writers]", "sections in brackets are not supported"),
        ("!a mia", "a pattern cannot be negated"),
        ("/ mia", "the pattern has no name"),
        ("a[0-9] mia", "ranges in brackets are not supported"),
        ("a\\", "ends with a backslash"),
        ('a "mia', "has no closing quote"),
        ('a ""', "has an empty word"),
        ("a @", "has an empty word"),
        ("a \x1b[31mmia", "has control characters"),
        ("a \u202emia", "has control characters"),
        ("a \x00", "has control characters"),
        ("a" * (MAX_LINE + 1), f"is too long: at most {MAX_LINE:,} characters"),
    ],
)
def test_error_names_file_and_line_without_quoting_the_text(line: str, says: str) -> None:
    owners = parse(Path("a/owners"), f"* ada\n{line}\nlimits mia\n")
    [error] = owners.errors
    assert str(error).startswith(f"a/owners:2: {says}")
    assert str(error).isprintable()
    assert [rule.line for rule in owners.rules] == [1, 3], "the other lines count"


def test_patterns_beyond_the_limit_are_reported_once() -> None:
    owners = parse(Path("owners"), "a b\n" * (MAX_RULES + 50))
    assert len(owners.rules) == MAX_RULES
    [error] = owners.errors
    assert str(error) == f"owners:{MAX_RULES + 1}: only the first {MAX_RULES:,} patterns are used"


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 400 + "b", "a" * 100_000),
        ("**/a/" * 150 + "b", "a/" * 50_000),
        ("/api/" + "**/*a*/" * 100 + "b", "aaa/" * 20_000),
        ("?*" * 400 + "b", "a" * 100_000),
    ],
)
def test_matching_time_is_bounded(pattern: str, path: str) -> None:
    began = time.thread_time()
    assert not matches(pattern, path)
    assert time.thread_time() - began < 2


def test_file_is_parsed_again_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    original = owners_file.parse

    def counted(file: Path, text: str) -> owners_file.Owners:
        parsed.append(text)
        return original(file, text)

    monkeypatch.setattr(owners_file, "parse", counted)
    owners = OwnersFile(tmp_path / "config.toml")
    assert owners.read().rules == ()
    file = tmp_path / "owners"
    file.write_text("* mia")
    assert [rule.owners for rule in owners.read().rules] == [("mia",)]
    assert owners.read() is owners.read()
    assert len(parsed) == 1
    file.write_text("* ada")
    os.utime(file, ns=(1, 1))
    assert [rule.owners for rule in owners.read().rules] == [("ada",)]
    file.unlink()
    assert owners.read().rules == ()
    file.write_bytes(b"\xef\xbb\xbf* ada")
    os.utime(file, ns=(1, 1))
    assert [rule.pattern for rule in owners.read().rules] == ["*"], "with a byte order mark"


def test_unusable_file_is_an_error(tmp_path: Path) -> None:
    settings, file = tmp_path / "config.toml", tmp_path / "owners"

    def error(named: str | None = None) -> str:
        owners = OwnersFile(settings, named).read()
        assert (owners.is_readable, owners.rules) == (False, ())
        return str(owners.errors[0])

    file.write_bytes(b"* mia\n* \xff\n")
    assert error() == f"{file}:2: is not UTF-8 text: save the file as UTF-8"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    assert error() == f"{file}: is larger than 256 KB: shorten it"
    file.unlink()
    file.mkdir()
    assert error().startswith(f"{file}: is not a file")
    file.rmdir()
    os.mkfifo(file)
    assert error().startswith(f"{file}: is not a file"), "a pipe would never end"
    assert error("docs/OWNERS") == (
        f"{tmp_path / 'docs/OWNERS'}: not found: create it, or correct `owners` in the settings"
    )
    assert error("a\0b").endswith("cannot be read: invalid path")


def test_the_files_of_all_profiles_are_checked(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    (tmp_path / "owners").write_text("!x y")
    (tmp_path / "OTHER").write_text("* mia\n[x]")
    settings.write_text("[profiles.default]\n[profiles.b]\nowners = 'OTHER'\n[profiles.c]\nowners = 'none'")
    assert [str(error).split(": ")[0] for error in owners_errors(settings)] == [
        f"{tmp_path / 'owners'}:1", f"{tmp_path / 'OTHER'}:2", f"{tmp_path / 'none'}"
    ]  # fmt: skip
