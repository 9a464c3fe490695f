"""Files of texts that are open in the user's editor; the next start recovers them if this process ends first.

Each text has a separate directory with a record of its draft, and a lock that the process holds while it runs.
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
"""Prefix of the keys of recovered texts whose draft was changed in the meantime."""
_RECORD, _LOCK = "draft.json", "lock"


class OpenText:
    """A text that is open in an editor.

    Args:
        slot: the draft that stores the edited text if this process ends first.
        text: the text.
        suffix: the suffix of the file name.

    Attributes:
        file: the file with the text.

    Raises:
        OSError: the files cannot be written.
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
        """Return the edited text; after a failure of the editor, the newest of the text and its recovery files.

        Raises:
            OSError: the file cannot be read.
        """
        file = _newest(self._directory, self.file.name) if failed else self.file
        return file.read_text("utf-8", errors="replace")

    def remove(self) -> None:
        """Remove the directory of the text and release its lock. Call this when the text is stored or unchanged."""
        self._lock.release()
        _clear(self._directory)


def take_left_texts(outbox: LocalState) -> int:
    """Store changed texts that ended processes left open as drafts. Return the number of stored texts.

    Raises:
        StoreError: a draft cannot be stored; its file stays.
    """
    folder = outbox.open_texts
    return sum(_take(directory, outbox) for directory in sorted(folder.iterdir())) if folder.is_dir() else 0


def _take(directory: Path, outbox: LocalState) -> bool:
    """Store the text of a directory as a draft if the text was changed and its process has ended.

    Return whether the text was stored.
    """
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
        outbox.save_draft(record["key"], text, record["about"], record["beside"])
    elif is_changed:
        # the draft was continued since: keep both texts
        about: dict[str, str] = record["about"]
        outbox.save_draft(f"{LEFT}{directory.name}", text, {"title": about.get("page", ""), **about})
    lock.release()
    _clear(directory)
    return is_changed


def _clear(directory: Path) -> None:
    """Remove a directory, unless it has a swap file of vim with unsaved text, which `vim -r` restores."""
    if any(directory.glob(".*.sw?")):
        (directory / _RECORD).unlink(missing_ok=True)
    else:
        rmtree(directory, ignore_errors=True)


def _newest(directory: Path, name: str) -> Path:
    """Return the newest file: the text, or a recovery file that nano or emacs writes when the terminal closes."""
    files = [directory / written for written in (name, f"{name}.save", f"#{name}#")]
    return max((file for file in files if file.is_file()), key=lambda file: file.stat().st_mtime_ns, default=files[0])
