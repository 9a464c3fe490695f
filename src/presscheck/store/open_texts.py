"""Texts that are open in the user's editor, in files that the next start finds if this process ends before the editor.

Each text has a directory of its own, with the draft that it becomes and a lock that the process holds while it runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from presscheck.paths import private_directory, private_opener

if TYPE_CHECKING:
    from presscheck.store.drafts import DraftSlot
    from presscheck.store.outbox import LocalState

LEFT = "left "
"""The start of the keys of drafts whose own key has another draft by now."""
_RECORD, _LOCK = "draft.json", "lock"


class OpenText:
    """A text that is open in an editor.

    Args:
        slot: where it is stored as a draft, if this process ends first.
        text: the text.
        suffix: how the name of its file ends.

    Attributes:
        file: the file with the text.

    Raises:
        OSError: it cannot be written.
        StoreError: the directory for open texts cannot be created.
    """

    def __init__(self, slot: DraftSlot, text: str, suffix: str) -> None:
        from filelock import FileLock  # 10 ms, only to edit a text

        self._directory = Path(mkdtemp(dir=private_directory(slot.outbox.open_texts)))
        self._lock = FileLock(self._directory / _LOCK, mode=0o600)
        self._lock.acquire()
        self.file = self._directory / f"text{suffix}"
        with open(self.file, "w", encoding="utf-8", opener=private_opener) as file:
            file.write(text)
        record = {
            "key": slot.key,
            "about": dict(slot.about),
            "beside": dict(slot.beside),
            "before": slot.outbox.draft(slot.key),
            "text": text,
            "name": self.file.name,
        }
        with open(self._directory / _RECORD, "w", encoding="utf-8", opener=private_opener) as file:
            json.dump(record, file)

    def written(self, *, failed: bool) -> str:
        """What the editor wrote; of one that failed, also what it saved when its terminal was gone.

        Raises:
            OSError: it cannot be read.
        """
        file = _newest(self._directory, self.file.name) if failed else self.file
        return file.read_text("utf-8", errors="replace")

    def remove(self) -> None:
        """Remove the file: its text is stored, or was not changed."""
        self._lock.release()
        _clear(self._directory)


def take_left_texts(outbox: LocalState) -> int:
    """Store the texts that ended processes left as drafts; returns how many there were.

    Raises:
        StoreError: a draft cannot be stored; its text stays where it is.
    """
    folder = outbox.open_texts
    return sum(_take(directory, outbox) for directory in sorted(folder.iterdir())) if folder.is_dir() else 0


def _take(directory: Path, outbox: LocalState) -> bool:
    """Store the text of a directory as a draft, unless its process still runs; returns whether it was changed."""
    from filelock import FileLock  # 10 ms, only if a text was left

    lock = FileLock(directory / _LOCK, mode=0o600)
    try:
        record: dict[str, Any] = json.loads((directory / _RECORD).read_text("utf-8"))
        lock.acquire(timeout=0)
        text = _newest(directory, record["name"]).read_text("utf-8", errors="replace")
    except (OSError, ValueError):
        lock.release()
        return False
    is_changed = bool(text.strip()) and text.rstrip("\n") != record["text"].rstrip("\n")
    if is_changed and outbox.draft(record["key"]) == record["before"]:
        for key, other in record["beside"].items():
            outbox.save_draft(key, other, record["about"])
        outbox.save_draft(record["key"], text, record["about"])
    elif is_changed:
        # somebody continued the draft since: neither text replaces the other
        about: dict[str, str] = record["about"]
        outbox.save_draft(f"{LEFT}{directory.name}", text, {"title": about.get("page", ""), **about})
    lock.release()
    _clear(directory)
    return is_changed


def _clear(directory: Path) -> None:
    """Remove a text, unless vim has left a file with what it had not written yet, which `vim -r` restores."""
    if any(directory.glob(".*.sw?")):
        (directory / _RECORD).unlink(missing_ok=True)
    else:
        rmtree(directory, ignore_errors=True)


def _newest(directory: Path, name: str) -> Path:
    """The file that was written last: the text, or what nano and emacs write when their terminal is gone."""
    files = [directory / written for written in (name, f"{name}.save", f"#{name}#")]
    return max((file for file in files if file.is_file()), key=lambda file: file.stat().st_mtime_ns, default=files[0])
