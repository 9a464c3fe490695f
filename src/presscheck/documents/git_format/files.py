"""The files in a directory, listed once without following symbolic links. Paths are looked up only in this list."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from io import BytesIO
from mimetypes import MimeTypes
from pathlib import Path
from typing import NamedTuple

import imagesize

from presscheck.documents.git_format.findings import Finding
from presscheck.documents.git_format.models import SourceFile

INCLUDES = ".gitbook/includes/"
"""The folder of snippets."""
MAX_DEPTH = 50
"""Maximum nesting depth of folders."""
MAX_TEXT = 16 * 1024 * 1024
"""Maximum size of a page, in bytes."""
MAX_FILE = 100 * 1024 * 1024
"""Maximum size of any other file, in bytes."""

_SKIPPED = frozenset(("node_modules",))
# without the types of the operating system, so that every machine gives the same result
_TYPES = MimeTypes(filenames=())
_TYPES.add_type("image/webp", ".webp")
_TYPES.add_type("text/markdown", ".md")
_MEASURED = {"image/png", "image/gif", "image/jpeg", "image/webp", "image/avif", "image/svg+xml"}
"""Types of images whose dimensions are read."""
_HEAD = 256 * 1024


class Entry(NamedTuple):
    """A file in the directory: its path, its size in bytes, and the time of its last change in nanoseconds."""

    location: Path
    size: int
    modified: int = 0


class DecodedText(NamedTuple):
    """A decoded text, its Git object id, and its findings."""

    text: str
    oid: str = ""
    findings: tuple[Finding, ...] = ()


class RepositoryFiles:
    """Every file in a directory by source path, except symbolic links and unreadable names.

    Hidden folders (other than ``.gitbook``), ``node_modules`` and folders deeper than `MAX_DEPTH` are skipped.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.entries: dict[str, Entry] = {}
        self.findings: list[Finding] = []
        self.entries.update(sorted(self._find()))
        self._readmes = {
            folder: source
            for source in reversed(self.entries)
            for folder, _, name in (source.rpartition("/"),)
            if name.casefold() == "readme.md"
        }

    def __contains__(self, source: str) -> bool:
        return source in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def texts(self) -> list[str]:
        """Return the source paths of all pages and snippets."""
        return [
            source
            for source in self.entries
            if source.casefold().endswith(".md") and (source.startswith(INCLUDES) or not source.startswith(".gitbook/"))
        ]

    def readme(self, folder: str) -> str | None:
        """Return the source path of a folder's README, or None."""
        return self._readmes.get(folder)

    def text(self, source: str) -> DecodedText:
        """Read a text; see `read_text`."""
        return read_text(source, self.entries[source].location)

    def file(self, source: str) -> SourceFile:
        """Return a file with its media type, and the dimensions if it is an image."""
        entry = self.entries[source]
        name = source.rpartition("/")[2]
        content_type = media_type(name)
        return SourceFile(source, name, content_type, entry.size, entry.location, _measured(entry, content_type))

    def _find(self) -> Iterator[tuple[str, Entry]]:
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(self.root / folder) as scanned:
                    entries = list(scanned)
            except OSError as error:
                self._report(folder or ".", f"cannot be read: {error.strerror}", "unreadable")
                continue
            for entry in entries:
                source = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if self._enters(source, entry.name):
                        pending.append(source)
                elif self._includes(source, entry):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        self._report(source, f"cannot be read: {error.strerror}", "unreadable")
                    else:
                        yield source, Entry(Path(entry.path), status.st_size, status.st_mtime_ns)

    def _enters(self, source: str, name: str) -> bool:
        if name in _SKIPPED or (name[0] == "." and name != ".gitbook"):
            return False
        if source.count("/") >= MAX_DEPTH:
            self._report(source, f"is more than {MAX_DEPTH} folders deep: skipped", "too-deep")
            return False
        return True

    def _includes(self, source: str, entry: os.DirEntry[str]) -> bool:
        if entry.is_symlink():
            self._report(source, "is a symbolic link, which is not followed", "symbolic-link")
            return False
        if not _is_text(source):
            self._report(source, "has a name that is not UTF-8: skipped", "not-utf-8")
            return False
        return entry.is_file()

    def _report(self, source: str, message: str, rule: str) -> None:
        self.findings.append(Finding(source, 1, message, rule))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_text(source: str, location: Path) -> DecodedText:
    """Read a text. If it is too large or cannot be read, the text is empty and has a finding."""
    try:
        with location.open("rb") as file:
            content = file.read(MAX_TEXT + 1)
    except OSError as error:
        return DecodedText("", "", (Finding(source, 1, f"cannot be read: {error.strerror}", "unreadable"),))
    if len(content) > MAX_TEXT:
        message = f"has more than {MAX_TEXT:,} bytes, the limit for a page"
        return DecodedText("", "", (Finding(source, 1, message, "too-large"),))
    return decode_text(source, content)


def decode_text(source: str, content: bytes) -> DecodedText:
    """Decode the bytes of a text. Bytes that are not UTF-8 are replaced, and reported as a finding."""
    findings: tuple[Finding, ...] = ()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = "is not UTF-8 here; unreadable bytes are shown as \N{REPLACEMENT CHARACTER}"
        findings = (Finding(source, line, reason, "not-utf-8"),)
        text = content.decode("utf-8-sig", "replace")
    return DecodedText(text.replace("\r\n", "\n"), git_oid(content), findings)


def git_oid(content: bytes) -> str:
    """Return the Git object id of a file with these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def image_dimensions(content_type: str, content: bytes) -> tuple[float, float] | None:
    """Return width and height of an image in pixels, or None if they are unknown."""
    head = content[:_HEAD]
    if content_type == "image/svg+xml":
        return _svg(head)
    if content_type not in _MEASURED or head.startswith(b"<"):  # the library would expand all entities of an SVG image
        return None
    width, height = imagesize.get(BytesIO(head))  # as bytes: given a name, the library opens files and requests URLs
    return (width, height) if width > 0 and height > 0 else None


def media_type(name: str) -> str:
    """Return the media type for a file name."""
    return _TYPES.guess_type(name)[0] or "application/octet-stream"


def _measured(entry: Entry, content_type: str) -> tuple[float, float] | None:
    if content_type not in _MEASURED:
        return None
    try:
        with entry.location.open("rb") as opened:
            return image_dimensions(content_type, opened.read(_HEAD))
    except OSError:
        return None


def _svg(head: bytes) -> tuple[float, float] | None:
    text = head.decode("utf-8", "replace")
    tag = re.search(r"<svg\b[^>]*", text)
    if tag is None:
        return None
    width, height = (re.search(rf'\s{name}="([\d.]+)(?:px)?"', tag[0]) for name in ("width", "height"))
    if width and height:
        return float(width[1]), float(height[1])
    box = re.search(r'\sviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)[ ,]+([\d.]+)"', tag[0])
    return (float(box[1]), float(box[2])) if box else None
