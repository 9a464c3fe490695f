"""Checking a space out into a folder, and pulling later changes of others into it.

Files are replaced one by one and the state last, so that a pull that was killed is completed by the next one. A text
that was edited on both sides is merged; lines that both sides changed stay in the file with conflict markers. A file
that cannot be merged keeps its content, and the other version is written next to it.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from presscheck.api.content import Revision
from presscheck.documents.git_format.config import CONFIG_FILE
from presscheck.documents.git_format.exported import Key
from presscheck.documents.git_format.files import INCLUDES, MAX_DEPTH, RepositoryFiles, git_oid
from presscheck.documents.git_format.repository import ASSETS
from presscheck.documents.merge.conflict_blocks import (
    ConflictBlock,
    conflict_blocks,
    draft_name,
    resolve,
    revision_name,
)
from presscheck.documents.merge.text import merge_text
from presscheck.engine.checkout.content import (
    SUMMARY,
    Downloader,
    SpaceFiles,
    each,
    newest_revision,
    revision_by_id,
    same_entries,
)
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.state import STATE_FILE, Checkout, CheckoutState, Item, locate, read_file, write_file
from presscheck.errors import ChecksFailed, ConfigurationError

LONGEST_NAME = 255
"""Maximum number of bytes in the name of a file on most disks."""
LONGEST_PATH = 700
"""Maximum number of bytes in a path within the folder; macOS takes 1,024 with the path of the folder."""
LONGEST_ADDITION = 30
"""Maximum number of bytes that are added to a name while the file is written, and to that of a version next to it."""
_UNUSUAL = re.compile(r'[<>:"|?*\\]|[. ]$')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$) *(\.|$)", re.IGNORECASE)
Report = Callable[[str], None]
"""Called with the path of each file that was written."""


@dataclass
class Pulled:
    """The result of a pull, as paths.

    Attributes:
        place: what the folder follows now: `main` or `#12`.
        written: files that were added or replaced.
        merged: files in which edits of both sides were merged without conflicts.
        conflicts: files with conflict markers, or with the other version next to them.
        deleted: files that were deleted.
        kept: files that others deleted and that were edited here, or that others edited and that were deleted here.
    """

    place: str = ""
    written: list[str] = field(default_factory=list[str])
    merged: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])
    deleted: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])


def prepare_folder(root: Path) -> None:
    """Create the folder of a new checkout.

    Raises:
        ConfigurationError: the folder is not empty, or is in another checkout.
        OSError: the folder cannot be created.
    """
    try:
        outer = Checkout.find(root if root.is_dir() else root.parent)
    except ConfigurationError:
        outer = None
    if outer:
        raise ConfigurationError(f"{root} is in the checkout {outer.root}: choose a folder outside of it")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ConfigurationError(f"Choose another folder: {root} is not empty")
    root.mkdir(parents=True, exist_ok=True)


def open_checkout(root: Path, state: CheckoutState) -> Checkout:
    """Return the checkout in a folder, following what `state` follows; the next pull brings its content.

    A new or empty folder becomes a checkout.

    Args:
        root: the folder.
        state: the service, the space and the change request that the folder shall follow.

    Raises:
        ConfigurationError: the folder has other files, or is a checkout of another space.
        ChecksFailed: the folder has edits for something else than `state` follows.
        OSError: the folder cannot be read or created.
    """
    if not (root / STATE_FILE).is_file():
        prepare_folder(root)
        checkout = Checkout(root.resolve(), state)
        checkout.save()
        return checkout
    checkout = Checkout.find(root)
    own = checkout.state
    if (own.service, own.space) != (state.service, state.space):
        raise ConfigurationError(f"{root} is a checkout of {own.title}: choose another folder for {state.title}")
    if own.request != state.request:
        if own.revision and folder_changes(checkout):
            raise ChecksFailed(f"Push or undo the edits for {own.place} first: they are in {root}")
        own.request, own.number = state.request, state.number
    return checkout


async def pull(engine: Downloader, checkout: Checkout, author: str = "", report: Report = lambda _: None) -> Pulled:
    """Bring a folder to the newest revision of the change request or main, whichever it follows.

    A new checkout gets all files.

    Args:
        engine: reads the revisions.
        checkout: the folder.
        author: the name of the user, for conflict markers.
        report: see `Report`.

    Raises:
        PresscheckError: the revision cannot be read. Files that were written are complete, and the next pull continues.
        OSError: a file cannot be written.
    """
    state = checkout.state
    revision = await newest_revision(engine, state)
    result = Pulled(state.place)
    if revision.id == state.revision:
        if not (checkout.root / SUMMARY).exists():
            files = SpaceFiles.of(state.space, revision, state.names())
            write_file(locate(checkout.root, SUMMARY, set()), files.summary().encode())
            result.written.append(SUMMARY)
            state.others[SUMMARY] = git_oid(files.summary().encode())
        checkout.remove_remains()
        checkout.save()
        return result
    base = None
    if state.revision:
        base = SpaceFiles.of(state.space, await revision_by_id(engine, state), state.names())
    names = state.names()
    new = SpaceFiles.of(state.space, revision, names)
    ignores_case = (checkout.root / STATE_FILE.upper()).exists() or os.name == "nt"
    sources = new.exported.sources
    others = {*RepositoryFiles(checkout.root)} - {*sources.values()} if ignores_case else ()
    is_windows = refuses_reserved_names(checkout.root)
    safe = safe_names(sources, names, others, ignores_case=ignores_case, is_windows=is_windows)
    if safe:
        new = SpaceFiles.of(state.space, revision, names | safe)
    work = _Pull(engine, checkout, base, new, author, result, report)
    await work.run()
    state.revision = revision.id
    checkout.remove_remains()
    checkout.save()
    return result


@dataclass
class _Pull:
    engine: Downloader
    checkout: Checkout
    base: SpaceFiles | None
    new: SpaceFiles
    author: str
    result: Pulled
    report: Report
    _real_folders: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        state, base, new = self.checkout.state, self.base, self.new
        present = {key: path for key, path in new.exported.sources.items() if key[1] not in state.removed}
        changed = [
            key
            for key, path in present.items()
            if path not in state.items
            or not state.items[path].oid
            or base is None
            or base.fingerprint(key) != new.fingerprint(key)
        ]
        await each(changed, self._bring)
        ids = {*present}
        for path, item in [*state.items.items()]:
            if (item.kind, item.id) not in ids:
                self._delete(path, item)
        state.removed = {one: kind for one, kind in state.removed.items() if (kind, one) in new.exported.sources}
        former = base.general_files() if base else {}
        for path, content in new.general_files().items():
            before = former.get(path)
            if before != content or path not in state.others:
                self._bring_general(path, content, before)

    def _locate(self, path: str) -> Path:
        return locate(self.checkout.root, path, self._real_folders)

    async def _bring(self, key: Key) -> None:
        path = self.new.exported.sources[key]
        theirs = await self.new.content(self.engine, key)
        state = self.checkout.state
        item = state.items.get(path)
        state.items[path] = Item(kind=key[0], id=key[1], oid=git_oid(theirs))
        location = self._locate(path)
        local = read_file(location)
        if local == theirs:
            return
        if local is None or (item and not _is_edited(local, item)):
            if local is None and item and item.oid:
                self.result.kept.append(path)  # deleted here and edited there
            self._write(location, path, theirs, self.result.written)
            return
        if key[0] == "file":
            self._write_beside(path, theirs)
            return
        has_base = self.base is not None and self.base.fingerprint(key) is not None
        before = await self.base.content(self.engine, key) if self.base and has_base else b""
        if before != theirs:  # or else it was edited only here, such as a page that a push added without its final text
            await asyncio.to_thread(self._merge, location, path, before, local, theirs)

    def _bring_general(self, path: str, theirs: bytes, before: bytes | None) -> None:
        self.checkout.state.others[path] = git_oid(theirs)
        location = self._locate(path)
        local = read_file(location)
        if local is None or local == before or (path == SUMMARY and before and same_entries(local, before)):
            if local != theirs:
                self._write(location, path, theirs, self.result.written)
        elif local != theirs and not (path == SUMMARY and same_entries(local, theirs)):
            self._merge(location, path, before or b"", local, theirs)

    def _merge(self, location: Path, path: str, before: bytes, local: bytes, theirs: bytes) -> None:
        ours = local.decode("utf-8", "replace").replace("\r\n", "\n")
        blocks = conflict_blocks(ours)
        for block in reversed(blocks):
            ours = resolve(ours, block, "ours")
        revision = self.new.revision
        merged = merge_text(
            before.decode(),
            ours,
            theirs.decode(),
            our_name=draft_name(self.author, _edited_at(location)),
            their_name=revision_name(self.checkout.state.place, _author_of(revision), revision.created_at),
        )
        if blocks:
            if _sides(blocks) != _sides(conflict_blocks(merged.text)):
                raise ChecksFailed(f"Others edited {path} again: resolve its conflicts first, and pull")
            self.result.conflicts.append(path)  # a pull of the same text that was killed wrote them
            return
        self._write(
            location, path, merged.text.encode(), self.result.conflicts if merged.conflicts else self.result.merged
        )

    def _delete(self, path: str, item: Item) -> None:
        location = self._locate(path)
        local = read_file(location)
        if local is not None and _is_edited(local, item):
            self.result.kept.append(path)  # edited here and deleted there: it is a new file from now on
        elif local is not None:
            location.unlink()
            _remove_empty(self.checkout.root, path)
            self.result.deleted.append(path)
            self.report(path)
        del self.checkout.state.items[path]

    def _write(self, location: Path, path: str, content: bytes, into: list[str]) -> None:
        write_file(location, content)
        into.append(path)
        self.report(path)

    def _write_beside(self, path: str, content: bytes) -> None:
        name = PurePosixPath(path)
        other = name.with_name(f"{name.stem}.{self.new.revision.id[:8]}{name.suffix}")
        write_file(self._locate(str(other)), content)
        self.result.conflicts.append(path)
        self.report(str(other))


def _sides(blocks: Iterable[ConflictBlock]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(block.ours, block.theirs) for block in blocks]


def _is_edited(local: bytes, item: Item) -> bool:
    """Return whether the file of an item has something that the service does not have."""
    return git_oid(local) != item.oid or item.has_unsent


def _author_of(revision: Revision) -> str:
    author = (revision.model_extra or {}).get("createdBy")
    return str(author.get("displayName") or "") if isinstance(author, dict) else ""


def _edited_at(file: Path) -> str:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()


def _remove_empty(root: Path, path: str) -> None:
    for parent in PurePosixPath(path).parents:
        if parent.parts:
            try:
                (root / parent).rmdir()
            except OSError:
                return


def refuses_reserved_names(root: Path) -> bool:
    """Return whether the disk of a folder refuses names that Windows reserves, as its disks do on any system."""
    probe = root / f".?.{os.getpid()}.new"  # a name that `Checkout.remove_remains` deletes
    try:
        probe.touch()
    except OSError:
        return True
    probe.unlink()
    return False


def safe_names(
    sources: Mapping[Key, str],
    names: Mapping[Key, str],
    others: Iterable[str] = (),
    *,
    ignores_case: bool,
    is_windows: bool,
) -> dict[Key, str]:
    """Return other paths for new items whose paths the disk cannot store, or cannot tell from another item's path.

    Args:
        sources: the paths of all items.
        names: the paths of the items that are in the folder already.
        others: the paths of other files in the folder.
        ignores_case: whether the disk ignores the case of names, and the form of accents.
        is_windows: whether the disk refuses the names that Windows reserves.
    """
    spellings: dict[str, tuple[str, bool]] = {}  # of paths that are taken, and whether they are folders

    def entries(path: str) -> Iterator[tuple[str, tuple[str, bool]]]:
        place = path
        while place:
            yield normalize("NFC", place).casefold() if ignores_case else place, (place, place != path)
            place = place.rpartition("/")[0]

    def is_free(path: str) -> bool:
        (known, _), *folders = entries(path)
        return known not in spellings and all(spellings.get(name, folder) == folder for name, folder in folders)

    for path in (CONFIG_FILE, SUMMARY, *names.values(), *others):
        spellings.update(entries(path))
    safe: dict[Key, str] = {}
    for key, path in sources.items():
        if key in names:
            continue
        parts = path.split("/")
        is_long = any(len(part.encode()) > LONGEST_NAME - LONGEST_ADDITION for part in parts)
        is_long = is_long or len(path.encode()) > LONGEST_PATH or len(parts) > MAX_DEPTH
        if is_long or (is_windows and any(map(_is_reserved, parts))) or not is_free(path):
            folder = ASSETS if key[0] == "file" else INCLUDES if key[0] == "snippet" else ""
            suffix = PurePosixPath(path).suffix[:20] if key[0] == "file" else ".md"
            suffix = "" if is_windows and _is_reserved(f"-{suffix}") else suffix
            path = safe[key] = f"{folder}{key[0]}-{key[1]}{suffix}"
        spellings.update(entries(path))
    return safe


def _is_reserved(name: str) -> bool:
    """Return whether no file can have a name on Windows: for its characters or as a device such as `nul`."""
    return bool(_UNUSUAL.search(name) or _DEVICE.match(name))
