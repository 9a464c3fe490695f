"""Helpers of tests with checkouts: edits of files, and the contents of a folder."""

from pathlib import Path

from presscheck.engine.checkout.state import STATE_FILE


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text in a file, which must have it."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def contents(directory: Path) -> dict[str, bytes]:
    """The files of a checkout by path, without its state."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != STATE_FILE
    }
