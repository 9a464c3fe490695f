"""`presscheck config`: errors have a line and never repeat a value; the published schema is current."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from tests.cli.shell import Shell

import presscheck.config
from presscheck.config.settings_schema import (
    CHECK_SETTINGS,
    COMMAND_SETTINGS,
    SETTINGS,
    VIEW_SETTINGS,
    first_file,
    schema,
)
from presscheck.config.validation import errors_in
from presscheck.tui.theme import IN_CHECKOUT

SECRET = "s3cr3t-value"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home")


def test_published_schema_is_current() -> None:
    file = Path(presscheck.config.__file__).with_name("config.schema.json")
    assert json.loads(file.read_text()) == schema()
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_first_file_is_valid_with_every_setting_enabled(tmp_path: Path) -> None:
    text = first_file().splitlines()
    lines = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in text]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(lines))
    assert errors_in(file) == ()
    whole = tomllib.loads(file.read_text())
    jsonschema.validate(whole, schema())
    assert set(whole["profiles"]["default"]) == set(SETTINGS)
    assert [set(view) for view in whole["views"]] == [set(VIEW_SETTINGS)]
    assert [set(check) for check in whole["checks"]] == [set(CHECK_SETTINGS)]
    assert [set(command) for command in whole["commands"]] == [set(COMMAND_SETTINGS)]
    assert set(whole) == set(schema()["properties"])


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        (f"[profiles.default]\n\ntheme = 3\ntoken = '{SECRET}'", 3, "profiles.default.theme", "a quoted string"),
        (f"[profiles.default]\ntoken = '{SECRET}'", 2, "profiles.default.token", "must not be in this file"),
        (f"[profiles.a]\n[profiles.b]\nread_only = '{SECRET}'", 3, "profiles.b.read_only", "true or false"),
        ("[profiles.a]\ntheme = 'x'\n[profiles.b]\nthemes = 'x'", 4, "profiles.b.themes", "known: agents, allow_http"),
        (f"# x\n[profile.default]\nbase_url = '{SECRET}'", 2, "profile", "is not a known setting"),
        ("[profiles.a]\n[profiles.'a b']", 2, "profiles.a b", "must have a name of at most 40 letters, digits,"),
        ("[profiles]\ndefault = 3", 2, "profiles.default", "must be a table"),
        (f"[profiles.default]\nbase_url = {SECRET}", 2, "", "is not valid TOML"),
        ("[keys]\n[views]\n[keys]", 3, "", "this table exists already: write its settings below the first one"),
        ("[profiles.a]\ntheme = 'x'\ntheme = 'y'\n", 3, "", "this name exists already in its table"),
        ("[aliases]\nx = cr list", 2, "", "after = comes a text in quotation marks"),
        (f'[aliases]\nx = "{SECRET}\n', 2, "", "a quotation mark without its end on this line"),
        ("[profiles.a]\ntheme: x", 2, "", "expected = after the name of a setting"),
        ("[profiles.a\ntheme = 'x'", 1, "", "a [ without its ]"),
        ("[[views\nname = 'x'", 1, "", "a [[ without its ]]"),
        ('[folders]\nx = "C:\\docs"', 2, "", "a backslash in a text"),
        ("profiles.default.theme = true", 1, "profiles.default.theme", "a quoted string"),
        ("[profiles.default]\ntheme = ''", 2, "profiles.default.theme", "is empty"),
        ("[profiles.default]\ncache_size = '5'", 2, "profiles.default.cache_size", "a whole number of at least 1"),
        ("[profiles.default]\ncache_size = 0", 2, "profiles.default.cache_size", "a whole number of at least 1"),
        ("[profiles.default]\ncache_size = false", 2, "profiles.default.cache_size", "a whole number of at least 1"),
    ],
)
def test_an_error_has_file_line_and_key(shell: Shell, text: str, line: int, key: str, message: str) -> None:
    shell.config.write_text(text)
    ran = shell.run("config", "check", "--json")
    assert ran.exit_code == 6
    first = json.loads(ran.stdout)[0]
    assert (first["file"], first["line"], first["key"]) == (str(shell.config), line, key)
    assert message in first["message"]
    plain = shell.run("config", "check")
    assert f"{shell.config}:{line}: {key}" in plain.stdout
    assert SECRET not in ran.output + plain.output


def test_themes_are_checked(shell: Shell) -> None:
    shell.config.write_text('[profiles.default]\ntheme = "own"\n[profiles.b]\ntheme = "inc"\n')
    themes = shell.config.parent / "themes"
    themes.mkdir()
    colors = (IN_CHECKOUT / "ink.toml").read_text().replace("accent =", 'accent = "none" #')
    (themes / "a.toml").write_text(colors)
    (themes / "b.toml").write_text('name = "own\n')
    (themes / "c.toml").write_bytes(b'name = "caf\xe9"\n')
    (themes / "d.toml").write_text(colors.replace('"none"', '"#aabbcc"').replace('"ink"', '"own"'))
    line = colors.splitlines().index(next(line for line in colors.splitlines() if "accent" in line)) + 1
    ran = shell.run("config", "check")
    assert (ran.exit_code, ran.stdout.splitlines()) == (
        6,
        [
            f'{themes}/a.toml:{line}: colors.accent must be "#rrggbb" or one of the terminal\'s sixteen',
            f"{themes}/b.toml:1: is not valid TOML: a quotation mark without its end on this line",
            f"{themes}/c.toml: is not UTF-8 text: save it as UTF-8",
            f"{shell.config}:4: profiles.b.theme is not the name of a theme; "
            "available: ansi, contrast, ink, own, paper",
        ],
    )


def test_an_error_in_another_profile_is_ignored(shell: Shell) -> None:
    shell.config.write_text("[profiles.default]\ntheme = 'ink'\n[profiles.other]\ntheme = 3\n")
    assert shell.json("config", "show")["theme"] == "ink"
    assert shell.run("config", "show", "--profile", "other").exit_code == 2


def test_show_prints_the_effective_settings_without_secrets(shell: Shell) -> None:
    shell.config.write_text(f'[profiles.default]\ntoken_command = "echo {SECRET}"\norganization = "Acme"\n')
    shell.env |= {"PRESSCHECK_BASE_URL": f"https://me:{SECRET}@docs.example", "PRESSCHECK_THEME": "paper"}
    found = shell.json("config", "show")
    assert found == {
        "file": str(shell.config),
        "profile": "default",
        "base_url": "https://docs.example",
        "token": "token_command",
        "organization": "Acme",
        "read_only": False,
        "cache_size": 500,
        "owners": str(shell.config.with_name("owners")),
        "checks": str(shell.config.with_name("checks.toml")),
        "theme": "paper",
        "notify": None,
        "project": None,
        "space": None,
        "site": None,
        "programs": [],
        "sources": {
            "base_url": "PRESSCHECK_BASE_URL",
            "organization": "profile",
            "theme": "PRESSCHECK_THEME",
        },
    }


def test_edit_creates_a_commented_file_and_checks_the_result(shell: Shell, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'theme = 3' >> \"$1\"\n")
    editor.chmod(0o755)
    shell.env["EDITOR"] = str(editor)
    ran = shell.run("config", "edit")
    assert ran.exit_code == 6
    assert "profiles.default.theme must be a quoted string" in ran.stdout
    assert shell.config.read_text() == first_file() + "theme = 3\n"
    assert shell.ok("config", "path").strip() == str(shell.config)
