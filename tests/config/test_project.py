"""`.presscheck.toml`: search, permissions, forbidden settings, and trust in its programs."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import pytest
from tests.root import ROOT
from tests.table import each_row

import presscheck.config
from presscheck.config.profile import load
from presscheck.config.project import (
    LONGEST_COMMAND,
    MAX_BYTES,
    checks_of,
    folders_of,
    load_project,
    read_project,
    review_programs_of,
    untrusted_reason,
    views_of,
)
from presscheck.config.project_search import NO_PROJECT, PROJECT_NAME, find_here, find_project
from presscheck.config.settings_schema import MAX_CHECKS, project_schema
from presscheck.config.trust import TrustList
from presscheck.errors import ConfigurationError

OTHER_USER = 12345
WHOLE = """
organization = "Acme"
space = "Guides"
site = "Docs"
[folders]
Guides = "docs/guides"
[[views]]
name = "Team"
[[checks]]
name = "style"
command = ["python3", "tools/style.py", "{pages}"]
[review_programs]
bot = "python3 tools/bot.py"
[[commands]]
name = "Ticket"
key = "g T"
command = "ticket {number}"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder / PROJECT_NAME


@pytest.fixture
def trust(tmp_path: Path) -> Path:
    return tmp_path / "state" / "trusted.json"


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file or folder belong to another user."""
    if os.geteuid() == 0:
        os.chown(path, OTHER_USER, -1, follow_symlinks=False)
    else:  # only root can change the owner of a file
        monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)


def as_link(file: Path, _: pytest.MonkeyPatch) -> None:
    file.rename(target := file.with_name("other.toml"))
    file.symlink_to(target)


def as_folder(file: Path, _: pytest.MonkeyPatch) -> None:
    file.unlink()
    file.mkdir()


def as_pipe(file: Path, _: pytest.MonkeyPatch) -> None:
    file.unlink()
    os.mkfifo(file)


REFUSED: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], object], str]] = {
    "another user's": (give_away, "it belongs to another user"),
    "another user's folder": (
        lambda file, patch: give_away(file.parent, patch),
        "its folder belongs to another user",
    ),
    "group may write": (lambda file, _: file.chmod(0o620), "it can be written by other users: run `chmod go-w"),
    "others may write": (lambda file, _: file.chmod(0o602), "it can be written by other users"),
    "folder for the group": (lambda file, _: file.parent.chmod(0o770), "its folder can be written by other users"),
    "folder for others": (lambda file, _: file.parent.chmod(0o707), "its folder can be written by other users"),
    "link": (as_link, "is a symbolic link"),
    "folder": (as_folder, "cannot be read: Is a directory"),
    "pipe": (as_pipe, "is not a regular file"),
    "too large": (lambda file, _: file.write_text("#" * (MAX_BYTES + 1)), "is larger than 64 KB"),
    "not text": (lambda file, _: file.write_bytes(b"site = '\xff'"), "is not UTF-8 text"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_unsafe_or_unreadable_file_is_rejected_as_a_whole(
    file: Path, trust: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., object], reason: str
) -> None:
    file.write_text(WHOLE)
    TrustList(trust).trust(file, [program.fingerprint for program in read_project(file, trust).programs])
    assert len(read_project(file, trust).usable) == 3
    change(file, monkeypatch)
    project = read_project(file, trust)
    assert reason in project.refusal
    assert (project.values, project.folders, project.programs, project.views()) == ({}, {}, (), ([], ()))
    assert [(error.line, error.message) for error in project.check()] == [(None, project.refusal)]


def test_nearest_file_below_the_home_directory_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    inner = home / "outer" / "inner" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / PROJECT_NAME).touch()
    (home / PROJECT_NAME).touch()
    assert find_project(inner, home) is None, "neither at the home directory nor above it"
    (home / "outer" / PROJECT_NAME).touch()
    assert find_project(inner, home) == home / "outer" / PROJECT_NAME
    (home / "outer" / "inner" / PROJECT_NAME).symlink_to("missing")
    assert find_project(inner, home) == home / "outer" / "inner" / PROJECT_NAME, "also if it is refused"
    assert find_project(home, home) is None
    assert find_project(tmp_path, home) == tmp_path / PROJECT_NAME


def test_search_stops_at_a_mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (tmp_path / PROJECT_NAME).touch()
    assert find_project(mounted, Path("/home")) == tmp_path / PROJECT_NAME
    stat = Path.stat
    border = stat(tmp_path)

    def with_border(path: Path, **options: bool) -> os.stat_result:
        status = stat(path, **options)
        fields = list(status)
        fields[2] += path == mounted  # st_dev; only root can mount a file system
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", with_border)
    assert mounted.stat().st_dev != border.st_dev
    assert find_project(mounted, Path("/home")) is None


@each_row(
    [
        *((name, f'{name} = "s3cr3t"', name, "is not allowed in a project") for name in ("base_url", "token_file")),
        *((name, f"{name} = 's3cr3t'", name, "is not allowed in a project") for name in ("token_command", "user")),
        ("http", "allow_http = true", "allow_http", "is not allowed in a project"),
        ("notifier", 'notify_command = "s3cr3t"', "notify_command", "is not allowed in a project"),
        ("owners", 'owners = "s3cr3t"', "owners", "is not allowed in a project"),
        ("profiles", '[profiles.default]\ntoken_command = "s3cr3t"', "profiles", "set it in config.toml"),
        ("aliases", '[aliases]\nx = "s3cr3t"', "aliases", "set it in config.toml"),
        ("keys", '[keys]\nmerge = "x"', "keys", "set it in config.toml"),
        ("token", 'token = "s3cr3t"', "token", "revoke the token"),
        ("password", 'PassWord = "s3cr3t"', "PassWord", "revoke the token"),
        ("unknown", 'spaces = "s3cr3t"', "spaces", "known: organization, space, site, views, folders"),
        ("kind", "organization = 3", "organization", 'such as "Acme"'),
        ("empty", 'space = " "', "space", 'such as "Guides"'),
        ("control character", 'site = "\\u001b[2J"', "site", 'such as "Docs"'),
        ("long", f'site = "{"x" * 201}"', "site", "at most 200 characters"),
        ("syntax", "site = s3cr3t", "", "is not valid TOML"),
    ]
)
def test_forbidden_or_invalid_setting_is_an_error_with_its_line(text: str, key: str, message: str) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as name:
        folder = Path(name).resolve()
        file = folder / PROJECT_NAME
        file.write_text(f"# a comment\n\n{text}\n")
        patch.chdir(folder)
        with pytest.raises(ConfigurationError) as raised:
            load_project(find_here({}) or file, folder / "trust.json")
        assert str(raised.value).startswith(f"{file}:3: {key}"), raised.value
        assert message in str(raised.value)
        assert "--no-project leaves this file out" in str(raised.value)
        assert "s3cr3t" not in str(raised.value)
        assert find_here({NO_PROJECT: "1"}) is None


def test_project_replaces_only_the_organization_of_a_profile(file: Path, trust: Path, tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text('[profiles.default]\nbase_url = "https://docs.example"\norganization = "Own"\n')
    file.write_text(WHOLE)
    before = load(settings, environment={"PRESSCHECK_TOKEN": "t"})
    after = load(settings, environment={"PRESSCHECK_TOKEN": "t"}, project=read_project(file, trust))
    assert after == replace(before, organization="Acme")
    assert after.project
    assert (after.project.space, after.project.site) == ("Guides", "Docs")
    assert before.organization == "Own"


@each_row(
    [
        ("absolute", '[folders]\nGuides = "/etc"', "folders.Guides", "below that of this file"),
        ("home", '[folders]\nGuides = "~/x"', "folders.Guides", "below that of this file"),
        ("up", '[folders]\nGuides = "../x"', "folders.Guides", "below that of this file"),
        ("link", '[folders]\nGuides = "out/x"', "folders.Guides", "below that of this file"),
        ("loop", '[folders]\nGuides = "loop/x"', "folders.Guides", "below that of this file"),
        ("list", "folders = []", "folders", "must be a table"),
        ("check outside", '[[checks]]\nname = "vale"\ndirectory = "/etc"', "checks.1.directory", "below that of"),
        (
            "command outside",
            '[[commands]]\nname = "x"\ncommand = "x"\ndirectory = "~"',
            "commands.1.directory",
            "below",
        ),
        ("escape", '[[checks]]\nname = "x"\ncommand = ["a", "\\u001b[2K"]', "checks.1.command", "control characters"),
        ("hidden", '[[checks]]\nname = "x"\ncommand = "a \\u202e b"', "checks.1.command", "control characters"),
        ("newline", '[[commands]]\nname = "x"\ncommand = "a\\nb"', "commands.1.command", "control characters"),
        ("long", f"[[checks]]\nname = 'x'\ncommand = '{'x' * (LONGEST_COMMAND + 1)}'", "checks.1.command", "too long"),
        ("program", '[review_programs]\nx = "a \\u001b"', "review_programs.x", "on one line"),
        ("programs", "review_programs = 3", "review_programs", "must be a table"),
        ("too many", "[[checks]]\nname = 'vale'\n" * (MAX_CHECKS + 1), f"checks.{MAX_CHECKS + 1}", "exceeds"),
        ("checks", "checks = 3", "checks", "must be written as [[checks]]"),
        ("check", "checks = [3]", "checks.1", "must be a table"),
        ("commands", "commands = 3", "commands", "must be written as [[commands]]"),
    ]
)
def test_invalid_entry_is_skipped_and_others_are_kept(text: str, key: str, message: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "out").symlink_to("/etc")
        (folder / "loop").symlink_to("loop")
        (folder / PROJECT_NAME).write_text(f'site = "Docs"\n{text}\n')
        project = load_project(folder / PROJECT_NAME, folder / "trust.json")
        errors = {".".join(error.key): error for error in project.errors}
        assert message in errors[key].message
        assert errors[key].line
        assert project.site == "Docs"
        assert not project.folders
        assert len(project.programs) <= (MAX_CHECKS if message == "exceeds" else 0)


def test_changed_programs_must_be_trusted_again(file: Path, trust: Path) -> None:
    def names(state: str) -> list[str]:
        return [program.name for program in getattr(read_project(file, trust), state)]

    file.write_text(WHOLE)
    assert (names("usable"), names("to_ask")) == ([], ["style", "bot", "Ticket"])
    TrustList(trust).trust(file, [program.fingerprint for program in read_project(file, trust).programs])
    assert (names("usable"), names("untrusted")) == (["style", "bot", "Ticket"], [])
    file.write_text(WHOLE.replace("Acme", "Other") + "confirm = false\n# more\n")
    assert names("untrusted") == [], "what runs nothing needs no trust"
    for old, new, changed in (
        ("tools/style.py", "tools/other.py", "style"),
        ("tools/bot.py", "tools/bot.py --all", "bot"),
        ("ticket {number}", "ticket {title}", "Ticket"),
        ('key = "g T"', 'key = "enter"', "Ticket"),
        ('"ticket {number}"', '"ticket"\nshell = true', "Ticket"),
        ('name = "style"', 'name = "style"\ndirectory = "tools"', "style"),
    ):
        file.write_text(WHOLE.replace(old, new))
        assert names("to_ask") == [changed], new
        assert changed not in names("usable")
    file.write_text(WHOLE)
    assert names("untrusted") == [], "as it was trusted"
    TrustList(trust).decline(file, [program.fingerprint for program in read_project(file, trust).programs])
    assert (names("usable"), len(names("untrusted")), names("to_ask")) == ([], 3, [])
    moved = file.parent.with_name("moved")
    file.parent.rename(moved)
    assert len(read_project(moved / PROJECT_NAME, trust).to_ask) == 3, "trust belongs to a path"
    assert not TrustList(trust).forget(moved / PROJECT_NAME)


def test_command_with_changed_settings_must_be_trusted_again(file: Path, trust: Path) -> None:
    command = '[[commands]]\nname = "Ticket"\ncommand = "ticket"\n'
    file.write_text(command)
    TrustList(trust).trust(file, [program.fingerprint for program in read_project(file, trust).programs])
    assert read_project(file, trust).commands
    settings = ('key = "g T"', 'place = "review"', 'mode = "capture"', "shell = true", "confirm = true")
    for setting in (*settings, 'directory = "docs"'):
        file.write_text(command + setting)
        project = read_project(file, trust)
        assert (setting, len(project.programs), project.usable) == (setting, 1, ())


def test_damaged_or_writable_trust_list_trusts_nothing(file: Path, trust: Path) -> None:
    file.write_text(WHOLE)
    answers = TrustList(trust)
    fingerprints = [program.fingerprint for program in read_project(file, trust).programs]
    answers.trust(file, fingerprints)
    assert trust.stat().st_mode & 0o777 == 0o600
    assert trust.parent.stat().st_mode & 0o777 == 0o700
    trust.chmod(0o620)
    assert not answers.of(file).trusted
    trust.chmod(0o600)
    assert len(answers.of(file).trusted) == 3
    for content in ("", "[]", "{", "\0", json.dumps({str(file): 3}), json.dumps({str(file): {"trusted": {"a": 1}}})):
        trust.write_text(content)
        assert not answers.of(file).trusted
    answers.trust(file, fingerprints)
    assert answers.forget(file)
    assert not answers.forget(file)


def test_entries_of_a_project_are_merged_with_the_settings(file: Path, trust: Path, tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(
        '[[views]]\nname = "Own"\n[[views]]\nname = "team"\n[[checks]]\nname = "Style"\ncommand = "own"\n'
        '[review_programs]\nbot = "own"\nmine = "own"\n[folders]\nGuides = "/own"\nApi = "/api"\n'
    )
    file.write_text(WHOLE)
    project = read_project(file, trust)
    assert [view.name for view in views_of(settings, project)[0]] == ["Own", "Team"]
    assert folders_of(settings, project) == {"Guides": str(file.parent / "docs/guides"), "Api": "/api"}
    assert [check.command for check in checks_of(settings, project)[0]] == [("own",)]
    assert {program.command for program in review_programs_of(settings, project).values()} == {("own",)}
    assert project.commands == ()
    assert untrusted_reason(project)
    trusted = project.trusting()
    [check] = checks_of(settings, trusted)[0]
    assert (check.command, check.directory) == (("python3", "tools/style.py", "{pages}"), str(file.parent))
    assert review_programs_of(settings, trusted)["bot"] == (("python3", "tools/bot.py"), file.parent)
    assert [command.name for command in trusted.commands] == ["Ticket"]
    assert untrusted_reason(trusted) is None
    assert views_of(settings, None)[0] != views_of(settings, project)[0]


def test_published_schema_is_current(file: Path, trust: Path) -> None:
    published = Path(presscheck.config.__file__).with_name("project.schema.json")
    assert json.loads(published.read_text()) == project_schema()
    jsonschema.Draft202012Validator.check_schema(project_schema())


def test_the_examples_of_the_manual_are_valid(file: Path, trust: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/guide/projects.md").read_text("utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        file.write_text(example)
        assert read_project(file, trust).check() == ()
        jsonschema.validate(tomllib.loads(example), project_schema())
