"""The state of a checkout, in one file of its folder: the revision that was checked out, and the items in the folder.

The state has no content. What the folder had before an edit is read from the revision, which never changes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from presscheck.config.file_replacement import is_unfinished, replace_file
from presscheck.documents.git_format.exported import Key, Kind
from presscheck.errors import ConfigurationError

STATE_FILE = ".presscheck-checkout.json"
LARGEST_STATE = 64 << 20
SHARED = 0o644


class Item(BaseModel):
    """A page, file or snippet in the folder. `oid` is the Git object id of its file as the service has it.

    An empty `oid` means that the service may have other content than the file, such as for a page that was just added.
    `has_unsent` means that the file with this `oid` also has details that a push could not send.
    """

    kind: Kind
    id: str
    oid: str = ""
    has_unsent: bool = False


class CheckoutState(BaseModel):
    """The state of a checkout.

    Attributes:
        service: the URL of the API.
        space: the id of the space.
        title: the title of the space.
        request: the id of the change request that the folder follows; None for main.
        number: the number of that change request.
        creating: the subject of the change request that a push is creating. An interrupted push finds it again.
        revision: the revision of the last checkout, pull or push.
        items: the pages, files and snippets by path.
        others: the object ids of the table of contents and the configuration, by path.
        removed: items that the folder does not have although the revision has them, by id: files that were replaced or
            deleted here, which the API cannot delete.
    """

    model_config = ConfigDict(extra="ignore")

    version: Literal[1] = 1
    service: str
    space: str
    title: str = ""
    request: str | None = None
    number: int | None = None
    creating: str | None = None
    revision: str = ""
    items: dict[str, Item] = Field(default_factory=dict[str, Item])
    others: dict[str, str] = Field(default_factory=dict[str, str])
    removed: dict[str, Kind] = Field(default_factory=dict[str, Kind])

    @property
    def place(self) -> str:
        """What the folder follows, in words: `main` or `#12`."""
        return f"#{self.number}" if self.request else "main"

    def names(self) -> dict[Key, str]:
        """Return the paths of all items, by kind and id."""
        return {(item.kind, item.id): path for path, item in self.items.items()}


class Checkout:
    """A folder into which a space was checked out.

    Attributes:
        root: the folder.
        state: the state of the checkout, which `save` writes.
    """

    def __init__(self, root: Path, state: CheckoutState) -> None:
        self.root, self.state = root, state

    @classmethod
    def find(cls, directory: Path) -> Checkout:
        """Return the checkout that a directory is in.

        Raises:
            ConfigurationError: neither the directory nor a directory above it is a checkout, or its state is damaged.
        """
        directory = directory.resolve()
        for root in (directory, *directory.parents):
            file = root / STATE_FILE
            if file.is_file():
                return cls(root, _read(file))
        raise ConfigurationError(f"{directory} is not in a checkout. Make one: presscheck checkout SPACE")

    def save(self) -> None:
        """Write the state.

        Raises:
            OSError: the file cannot be written.
        """
        text = self.state.model_dump_json(indent=1, exclude_defaults=True)
        replace_file(self.root / STATE_FILE, text + "\n", SHARED)

    def remove_remains(self) -> None:
        """Delete files that a killed pull or push was writing, which are not in place yet."""
        folders = {path.rpartition("/")[0] for path in self.state.items} | {""}
        for folder in (self.root / name for name in folders):
            for file in folder.iterdir() if folder.is_dir() else ():
                if is_unfinished(file.name):
                    file.unlink(missing_ok=True)


def _read(file: Path) -> CheckoutState:
    try:
        if file.stat().st_size > LARGEST_STATE:
            raise ValueError("too large")
        return CheckoutState.model_validate_json(file.read_bytes())
    except (ValidationError, ValueError):
        raise ConfigurationError(
            f"{file}: this is not the state of a checkout. Check the space out again, into another folder, and copy "
            "your edits there"
        ) from None


def locate(root: Path, path: str, real_folders: set[str]) -> Path:
    """Return the location of a file in a folder.

    Args:
        root: the folder.
        path: the path of the file in it.
        real_folders: folders that are not symbolic links; those that lead to the file are added. Keep it for a single
            pull or push.

    Raises:
        ConfigurationError: the path leads through a symbolic link, such as out of the folder.
    """
    location = os.fspath(root)
    *folders, name = path.split("/")
    for folder in folders:
        location = f"{location}{os.sep}{folder}"  # in half the time of `Path`
        if location not in real_folders:
            _refuse_link(location)
            real_folders.add(location)
    location = f"{location}{os.sep}{name}"
    _refuse_link(location)
    return Path(location)


def _refuse_link(location: str) -> None:
    if os.path.islink(location):  # noqa: PTH114
        raise ConfigurationError(f"{location} is a symbolic link: replace it by what it leads to")


def read_file(location: Path) -> bytes | None:
    """Return the content of a file, or None if the file is missing.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        return location.read_bytes()
    except FileNotFoundError:
        return None


def write_file(location: Path, content: bytes) -> None:
    """Write a file. An existing file keeps its mode, and a missing folder is created.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        mode = location.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = SHARED
        if not location.parent.is_dir():
            location.parent.mkdir(parents=True, exist_ok=True)
    replace_file(location, content, mode, is_lasting=False)
