"""What changed in the folder of a checkout since its last checkout, pull or push; read without the service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, read_config
from presscheck.documents.git_format.files import RepositoryFiles, git_oid
from presscheck.documents.git_format.models import Repository
from presscheck.documents.git_format.repository import read_repository
from presscheck.documents.merge.conflict_blocks import conflict_blocks
from presscheck.engine.checkout.content import SUMMARY
from presscheck.engine.checkout.state import Checkout
from presscheck.errors import ChecksFailed

_UNREADABLE = frozenset(("unreadable", "not-utf-8", "too-large"))
"""The rules of findings on pages whose text is not the whole text of their file."""


@dataclass(frozen=True)
class FolderChanges:
    """The differences between a folder and its revision, as paths in order.

    Attributes:
        added: new files.
        modified: edited files.
        deleted: files that are gone.
        renamed: the new path by the old path.
        conflicts: files with conflict markers.
        unreadable: why a file of the checkout cannot be read, by path. Such a file counts as unchanged.
        repository: the content of the folder.
        oids: the Git object ids of the files by path.
    """

    added: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
    renamed: dict[str, str]
    conflicts: tuple[str, ...]
    unreadable: dict[str, str]
    repository: Repository
    oids: dict[str, str]

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.deleted or self.renamed)


def folder_changes(checkout: Checkout) -> FolderChanges:
    """Compare the folder of a checkout with its state.

    Raises:
        ChecksFailed: the folder is not laid out as a checkout any more.
        OSError: the folder cannot be read.
    """
    _require_layout(checkout)
    root, items = checkout.root, checkout.state.items
    repository = read_repository(root)
    oids, unreadable = _object_ids(checkout, repository)
    known = {path: item.oid for path, item in items.items()} | checkout.state.others
    gone = {path for path in known if path not in oids and path not in unreadable}
    added = {path for path in oids if path not in known}
    renamed = _renamed(checkout, repository, gone, added, oids)
    modified = {path for path, oid in known.items() if path in oids and oids[path] != oid}
    modified |= {new for old, new in renamed.items() if oids[new] != known[old]}
    texts = sorted(path for path in modified | added if path.endswith(".md"))
    conflicts = tuple(path for path in texts if conflict_blocks((root / path).read_text("utf-8", "replace")))
    return FolderChanges(
        tuple(sorted(added - {*renamed.values()})),
        tuple(sorted(modified)),
        tuple(sorted(gone - {*renamed})),
        renamed,
        conflicts,
        unreadable,
        repository,
        oids,
    )


def _object_ids(checkout: Checkout, repository: Repository) -> tuple[dict[str, str], dict[str, str]]:
    """Return the object ids of the files of the content, and the reasons why other files cannot be read, by path."""
    oids = {page.source: page.oid for page in repository.walk() if page.source}
    oids |= {snippet.source: snippet.oid for snippet in repository.snippets}
    unreadable: dict[str, str] = {}
    for finding in repository.findings:
        if finding.path in oids and finding.rule in _UNREADABLE:
            unreadable[finding.path] = finding.message
    present = RepositoryFiles(checkout.root)
    wanted = {file.source for file in repository.files} | {*checkout.state.items, *checkout.state.others}
    for path in wanted - {*oids}:
        if path not in present:
            if _is_listed(checkout.root, path):
                unreadable[path] = "is a symbolic link or in a folder that is not read"
            continue
        try:
            oids[path] = git_oid((checkout.root / path).read_bytes())
        except OSError as error:
            unreadable[path] = f"cannot be read: {error.strerror}"
    for path in unreadable:
        oids.pop(path, None)
    return oids, unreadable


def _is_listed(root: Path, path: str) -> bool:
    """Return whether a path exists in exactly this spelling; some disks find `Guide.md` as `guide.md`, too.

    In a folder that cannot be read, every path counts as existing, so that no page seems deleted.
    """
    try:
        for name in path.split("/"):
            if all(entry.name != name for entry in root.iterdir()):
                return False
            root /= name
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _require_layout(checkout: Checkout) -> None:
    """Check that the table of contents exists and the configuration is unchanged, or else pages would seem deleted.

    Raises:
        ChecksFailed: the table of contents is missing, or the configuration leads to other folders.
    """
    if not (checkout.root / SUMMARY).is_file():
        raise ChecksFailed(f"{SUMMARY} is missing: presscheck pull restores it")
    file = checkout.root / CONFIG_FILE
    config = read_config(file.read_text("utf-8", "replace"))[0] if file.is_file() else RepositoryConfig()
    if (config.root, config.summary, config.readme) != ("", SUMMARY, RepositoryConfig().readme):
        raise ChecksFailed(f"{CONFIG_FILE}: root and structure must stay as they were checked out")


def _renamed(
    checkout: Checkout, repository: Repository, gone: set[str], added: set[str], oids: dict[str, str]
) -> dict[str, str]:
    """Return the new path of each file that was renamed: a new file has the same content."""
    state, pairs = checkout.state, dict[str, str]()
    pages = {page.source: page for page in repository.walk() if page.source}
    left = sorted(added)
    for old in sorted(gone & {*state.items}):
        item = state.items[old]
        same = [path for path in left if oids[path] == item.oid and (path in pages) is (item.kind == "page")]
        if same:
            # a file with the same name, or with its case changed, rather than a copy with another name
            pairs[old] = next((path for path in same if _name(path) == _name(old)), same[0])
            left.remove(pairs[old])
    return pairs


def _name(path: str) -> str:
    return path.rpartition("/")[2].casefold()
