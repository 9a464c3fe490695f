"""Reading the manifest of an integration: script, pictures, and problems with their lines."""

import base64
import os
from pathlib import Path

import pytest

from presscheck.engine.integrations.manifest import LARGEST, MANIFEST, MOST_PROBLEMS, file_states, read_manifest
from presscheck.errors import InvalidArgument

GOOD = """name: torch
title: Torch
description: Lights up pages
script: index.js
icon: icon.png
scopes: []
organization: Tallowick
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "torch"
    folder.mkdir()
    (tmp_path / "secret").write_text("outside")
    (folder / MANIFEST).write_text(GOOD)
    (folder / "index.js").write_text("@on\n")
    (folder / "icon.png").write_bytes(b"\x89PNG")
    return folder


def problem(folder: Path, text: str, **environment: str) -> str:
    """Return why a manifest is refused."""
    (folder / MANIFEST).write_text(text)
    with pytest.raises(InvalidArgument) as caught:
        read_manifest(folder, environment)
    return caught.value.reason


def test_path_may_be_the_folder_or_the_manifest(folder: Path) -> None:
    found = read_manifest(folder)
    assert found == read_manifest(folder / MANIFEST)
    assert (found.name, found.organization) == ("torch", "Tallowick")
    assert found.values["script"] == "\n@on\n", "a text that begins with @ would name a file in a command"
    assert base64.b64decode(found.values["icon"]) == b"\x89PNG"
    assert [file.name for file in found.files] == [MANIFEST, "index.js", "icon.png"]


@pytest.mark.parametrize("name", ["index.js", "icon.png", MANIFEST])
def test_changed_file_is_detected(folder: Path, name: str) -> None:
    found = read_manifest(folder)
    assert file_states(found.files) == found.seen
    (folder / name).write_text("longer than it was before, whatever it was, and however long that took to write " * 5)
    assert file_states(found.files) != found.seen
    (folder / name).unlink()
    assert file_states(found.files) != found.seen


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "link", "loop", "x" * 300])
def test_nothing_outside_the_folder_is_read(folder: Path, path: str) -> None:
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "loop").symlink_to("loop")
    assert "not a path in the folder" in problem(folder, GOOD.replace("icon.png", path))


def test_a_pipe_and_a_large_file_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert "line 4: script: pipe is not a file" in problem(folder, GOOD.replace("index.js", "pipe"))
    (folder / "large.js").write_bytes(b"x" * (LARGEST + 1))
    assert "line 4: script: large.js is too large: at most 1 MB" in problem(
        folder, GOOD.replace("index.js", "large.js")
    )


def test_problems_name_their_lines(folder: Path) -> None:
    reason = problem(folder, GOOD.replace("title: Torch", "titel: Torch").replace("scopes: []", "scopes: [moon]"))
    assert "line 1: title: is required; line 2: titel: unknown key: did you mean title?; line 6: scopes.0: " in reason
    many = "".join(f"unknown{number}: 1\n" for number in range(MOST_PROBLEMS + 2))
    assert problem(folder, GOOD + many).endswith("; and 2 more")
    assert problem(folder, "- a list\n").endswith("line 1: has no keys such as name, title and script")


def test_secrets_may_contain_environment_variables(folder: Path) -> None:
    text = GOOD + "secrets:\n  KEY: a ${{ env.KEY }} z\n  NUMBER: 5\n"
    assert "line 9: secrets.KEY: the environment variable KEY is not set" in problem(folder, text)
    found = read_manifest(folder, {"KEY": "b"})
    assert found.values["secrets"] == {"KEY": "a b z", "NUMBER": "5"}
