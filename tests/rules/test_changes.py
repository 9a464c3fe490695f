"""Change entries of the next version in `changes/`: a short paragraph for users, of a known type, in each file."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.root import ROOT

from presscheck import __version__

CHANGES = sorted(path for path in (ROOT / "changes").glob("*") if path.name != ".gitignore")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
LONGEST = 500
LONGEST_ENTRY = 80
"""Lines of the entry of a version."""
NAME = re.compile(r"\+[a-z0-9-]+\.([a-z]+)\.md")


def test_change_entries_have_a_known_type_and_one_short_paragraph() -> None:
    types = {kind["directory"] for kind in SETTINGS["type"]}
    for path in CHANGES:
        name, text = NAME.fullmatch(path.name), path.read_text("utf-8")
        assert name and name[1] in types, (
            f"{path.name}: +short-name.TYPE.md, with TYPE one of {', '.join(sorted(types))}"
        )
        assert 20 < len(text) < LONGEST and "\n\n" not in text.strip(), path.name


def test_towncrier_builds_the_changelog() -> None:
    command = [Path(sys.executable).with_name("towncrier"), "build", "--draft", "--version", "9.9.9"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("## 9.9.9") or "No significant changes" in result.stdout


def test_changelog_starts_with_the_current_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest and newest[1] == __version__
    assert SETTINGS["start_string"] in changelog


def test_each_entry_is_read_in_three_minutes() -> None:
    """An entry is made from hundreds of files, and then shortened to what matters to most users."""
    entries = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert len(entries) > 1
    assert [entry.split()[0] for entry in entries if len(entry.splitlines()) > LONGEST_ENTRY] == []
