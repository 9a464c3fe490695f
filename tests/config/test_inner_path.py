"""`inner_path`: untrusted paths cannot leave their folder."""

from pathlib import Path

import pytest

from presscheck.config.inner_path import inner_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "loop").symlink_to("loop")
    (folder / "first").symlink_to("second")
    (folder / "second").symlink_to("first/x")
    (folder / "out").symlink_to("/etc")
    (folder / "up").symlink_to("..")
    (folder / "link").symlink_to("inner")
    (tmp_path / "folder 2").mkdir()
    return folder.resolve()


def test_path_inside_the_folder_is_resolved(folder: Path) -> None:
    for path, found in (
        (".", folder),
        ("inner/../new/é", folder / "new" / "é"),
        ("link/x", folder / "inner" / "x"),
        ("up/folder/inner", folder / "inner"),
        (str(folder / "inner"), folder / "inner"),
    ):
        assert inner_path(folder, path) == found
    (folder.parent / "link to folder").symlink_to(folder)
    assert inner_path(folder.parent / "link to folder", "inner") == folder / "inner"


OTHERS = ("..", "/", "/etc", "out", "out/x", "up", "up/folder 2", "../folder 2", "loop", "loop/x", "first")
NO_PATHS = ("a\0b", "\ud800", "x" * 300)


@pytest.mark.parametrize("path", [*OTHERS, *NO_PATHS])
def test_invalid_paths_and_paths_outside_the_folder_are_rejected(folder: Path, path: str) -> None:
    assert inner_path(folder, path) is None
