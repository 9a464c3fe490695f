"""File names in a checkout: each item has its own file in the folder, with a name that the file system can store."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.checkout_folder import check_out, contents
from tests.table import each_case

from presscheck.api.content import Revision
from presscheck.engine.checkout.content import SUMMARY, SpaceFiles
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import pull, refuses_reserved_names, safe_names
from presscheck.engine.checkout.state import Checkout, locate, read_file, write_file
from presscheck.engine.engine import Engine
from presscheck.errors import ConfigurationError


class Disk(NamedTuple):
    """Rules of a file system for names."""

    ignores_case: bool = False
    is_windows: bool = False


LINUX, MAC, WINDOWS = Disk(), Disk(ignores_case=True), Disk(ignores_case=True, is_windows=True)
P0, P1, P2 = "page-p0.md", "page-p1.md", "page-p2.md"
F0, F1 = ".gitbook/assets/f0", ".gitbook/assets/f1"
LONG = "x" * 222 + ".md"

PLANS: list[tuple[Disk, list[str], list[str]]] = [
    # names of files and folders that differ only in case, or only in the encoding of accents
    (LINUX, ["Guide/a.md", "guide/b.md", "Guide/A.md"], ["Guide/a.md", "guide/b.md", "Guide/A.md"]),
    (MAC, ["Guide/a.md", "guide/b.md", "Guide/A.md"], ["Guide/a.md", P1, P2]),
    (MAC, ["a/Guide/x/c.md", "a/guide/y/d.md", "a/Guide/z.md"], ["a/Guide/x/c.md", P1, "a/Guide/z.md"]),
    (MAC, ["straße.md", "STRASSE.md"], ["straße.md", P1]),
    (MAC, ["caf\u00e9.md", "cafe\u0301.md"], ["caf\u00e9.md", P1]),
    (LINUX, ["caf\u00e9.md", "cafe\u0301.md"], ["caf\u00e9.md", "cafe\u0301.md"]),
    # names of files that every checkout has
    (LINUX, ["summary.md", "SUMMARY.md", ".gitbook.yaml"], ["summary.md", P1, P2]),
    (MAC, ["summary.md", "x.md"], [P0, "x.md"]),
    # a file whose name is the folder of another item, in both orders
    (LINUX, ["a.md", "a.md/b.md"], ["a.md", P1]),
    (LINUX, ["a.md/b.md", "a.md"], ["a.md/b.md", P1]),
    # lengths, in bytes
    (LINUX, [LONG, f"x{LONG}", f"{LONG}/y.md"], [LONG, P1, "page-p2.md"]),
    (LINUX, ["ü" * 111 + ".md", "ü" * 112 + ".md"], ["ü" * 111 + ".md", P1]),
    (LINUX, ["/".join(["x" * 99] * 7), "/".join(["x" * 99] * 7) + "y.md"], ["/".join(["x" * 99] * 7), P1]),
    (LINUX, ["x/" * 49 + "a.md", "x/" * 50 + "b.md"], ["x/" * 49 + "a.md", P1]),
    # names that are invalid only on Windows
    (LINUX, ["CON.md", "docs/nul.txt.md", "a:b.md"], ["CON.md", "docs/nul.txt.md", "a:b.md"]),
    (MAC, ["con.md", "x./y.md", "what?.md"], ["con.md", "x./y.md", "what?.md"]),
    (WINDOWS, ["CON.md", "docs/nul.md", "aux/x.md"], [P0, P1, P2]),
    (WINDOWS, ["com1.md", "LPT9 .md", "com\u00b9.tar.md"], [P0, P1, P2]),
    (WINDOWS, ["console.md", "nullable.md", "com10.md"], ["console.md", "nullable.md", "com10.md"]),
    (WINDOWS, ["x./y.md", "x /y.md", 'a"b.md'], [P0, P1, P2]),
    (WINDOWS, ["a:b.md", "what?.md", "a<b>|*.md"], [P0, P1, P2]),
    # paths that lead out of the folder and texts that are not paths, on every file system
    *(
        (disk, [path, "ok.md"], [P0, "ok.md"])
        for disk in (LINUX, MAC, WINDOWS)
        for path in ("../a.md", "a/../../b.md", "/etc/passwd", "a//b.md", "./a.md", "..\\a.md", "C:\\a.md")
    ),
    *(
        (disk, [path], [P0])
        for disk in (LINUX, WINDOWS)
        for path in ("a\0b.md", "a\nb.md", "a\x1bb.md", "a\x7fb.md", ".git/hooks/x.md", "a/.git/config", "..", ".")
    ),
]


def planned(
    disk: Disk, paths: list[str], names: dict[str, str] | None = None, others: tuple[str, ...] = ()
) -> list[str]:
    pages = [{"id": f"p{number}", "git": {"path": path, "oid": ""}} for number, path in enumerate(paths)]
    revision = Revision.model_validate({"id": "r", "pages": pages})
    present = {("page", page): name for page, name in (names or {}).items()}
    sources = SpaceFiles.of("s", revision, present).exported.sources
    safe = safe_names(sources, present, others, ignores_case=disk.ignores_case, is_windows=disk.is_windows)
    return [*(sources | safe).values()]


@each_case(("disk", "paths", "expected"), PLANS)
def test_pages_get_names_that_the_disk_can_store(
    disk: Disk, paths: list[str], expected: list[str], tmp_path: Path
) -> None:
    names = planned(disk, paths)
    assert names == expected
    if sys.platform != "linux" and disk is LINUX:
        return  # this file system cannot store all of these names
    for number, name in enumerate(names):
        write_file(locate(tmp_path, name, set()), f"{number}".encode())
    assert [read_file(locate(tmp_path, name, set())) for name in names] == [
        f"{number}".encode() for number in range(len(names))
    ]


def test_items_keep_the_names_that_they_have_in_the_folder() -> None:
    assert planned(MAC, ["Guide/a.md", "guide/b.md"], {"p1": "guide/b.md"}) == [P0, "guide/b.md"]
    assert planned(WINDOWS, ["con.md", "b.md"], {"p0": "con.md"}) == ["con.md", "b.md"]


def test_page_names_do_not_clash_with_files_of_the_user() -> None:
    assert planned(MAC, ["Notes.md", "x/a.md", "b.md"], others=("notes.md", "X/own.md")) == [P0, P1, "b.md"]


def test_disk_that_refuses_names_like_windows_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refuses_reserved_names(tmp_path) == (sys.platform == "win32")
    touch = Path.touch

    def refuse(file: Path) -> None:  # like a file system of Windows that is mounted on Linux
        if "?" in file.name:
            raise OSError(errno.EINVAL, "Invalid argument")
        touch(file)

    monkeypatch.setattr(Path, "touch", refuse)
    assert refuses_reserved_names(tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.service(sample=True, shared=True)
async def test_new_case_of_a_name_is_a_rename_on_a_disk_that_ignores_case(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    exists = os.path.lexists

    def ignore_case(path: Path) -> bool:
        return exists(path) or path.name.casefold() in {other.name.casefold() for other in path.parent.iterdir()}

    monkeypatch.setattr(os.path, "lexists", ignore_case)
    (folder / "a-copy.md").write_bytes((folder / "quickstart.md").read_bytes())
    (folder / "quickstart.md").rename(folder / "Quickstart.md")
    changes = folder_changes(Checkout.find(folder))
    assert (changes.renamed, changes.added) == ({"quickstart.md": "Quickstart.md"}, ("a-copy.md",))
    assert (changes.deleted, changes.unreadable) == ((), {})


def test_files_and_snippets_keep_their_folders() -> None:
    revision = Revision.model_validate(
        {
            "id": "r",
            "files": [
                {"id": "f0", "name": "A.png", "downloadURL": ""},
                {"id": "f1", "name": "a.png", "downloadURL": ""},
                {"id": "f2", "name": "../../x\0y.", "downloadURL": ""},
            ],
            "reusableContents": [{"id": "s0", "title": "Note"}, {"id": "s1", "title": "note"}],
        }
    )
    sources = SpaceFiles.of("s", revision, {}).exported.sources
    assert safe_names(sources, {}, ignores_case=True, is_windows=True) == {
        ("file", "f1"): ".gitbook/assets/file-f1.png",
        ("file", "f2"): ".gitbook/assets/file-f2",
        ("snippet", "s1"): ".gitbook/includes/snippet-s1.md",
    }


@each_case("moved", [False, True])
def test_links_are_rewritten_to_relative_paths_in_the_folder(*, moved: bool) -> None:
    picture, snippet = {"path": ".gitbook/assets/a.png", "oid": ""}, {"path": ".gitbook/includes/note.md", "oid": ""}
    revision = Revision.model_validate(
        {
            "id": "r",
            "pages": [{"id": "p0", "type": "document", "title": "A", "git": {"path": "docs/a.md", "oid": ""}}],
            "files": [{"id": "f0", "name": "a.png", "downloadURL": "", "git": picture}],
            "reusableContents": [{"id": "s0", "title": "Note", "git": snippet}],
        }
    )
    names = {("page", "p0"): "guides/a.md"} if moved else {}
    exported = SpaceFiles.of("s", revision, names).exported
    for target, path in {
        "/~/files/f0": "../.gitbook/assets/a.png",
        "/~/reusable/s0": "../.gitbook/includes/note.md",
        "https://example.org/a.png": "https://example.org/a.png",
        "../docs/a.md": "a.md" if moved else "../docs/a.md",
    }.items():
        assert exported.page(revision.pages[0], {"p0": f"[x]({target})"}).body == f"[x]({path})"


@pytest.mark.service(sample=True, shared=True)
async def test_unusual_files_of_the_user_stay_unchanged(engine: Engine, tmp_path: Path) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    before = contents(folder)
    not_utf_8 = (b"caf\xe9.md", b"\xff") if sys.platform == "linux" else ()
    names = [os.fsencode(folder) + b"/" + name for name in (*not_utf_8, b"a\nb.md", b"con.md", b"x. ")]
    for name in names:
        Path(os.fsdecode(name)).write_bytes(b"\xff\xfe own")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "nowhere.md").symlink_to(tmp_path / "nowhere.md")
    os.mkfifo(folder / "pipe.md")
    changes = folder_changes(Checkout.find(folder))
    assert (changes.modified, changes.deleted, changes.renamed) == ((), (), {})
    await pull(engine, Checkout.find(folder))
    assert all(Path(os.fsdecode(name)).read_bytes() == b"\xff\xfe own" for name in names)
    assert (folder / "loop").is_symlink() and (folder / "nowhere.md").is_symlink() and (folder / "pipe.md").is_fifo()
    assert {name: content for name, content in contents(folder).items() if name in before} == before


@pytest.mark.service(sample=True, shared=True)
async def test_nothing_is_written_through_a_link_to_another_folder(engine: Engine, tmp_path: Path) -> None:
    folder, elsewhere = await check_out(engine, tmp_path / "guides"), tmp_path / "elsewhere"
    (folder / "ship").rename(elsewhere)
    (folder / "ship").symlink_to(elsewhere, target_is_directory=True)
    there = contents(elsewhere)
    checkout = Checkout.find(folder)
    checkout.state.revision = ""  # pull everything again
    (folder / SUMMARY).unlink()
    with pytest.raises(ConfigurationError, match="symbolic link"):
        await pull(engine, checkout)
    assert contents(elsewhere) == there
