"""Runs the programs of prose checks on pages, with limits on time and output, and selects the new findings.

The pages are files in a temporary folder, or in a folder of the user. A program gets their paths as arguments.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from presscheck.config.prose_checks import PAGES, ProseCheck
from presscheck.documents.git_format.exported import is_safe_path
from presscheck.documents.git_format.findings import Finding
from presscheck.engine.child_programs import expanded, run_program
from presscheck.engine.prose_checks.output import read_findings
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize

MAX_ARGUMENTS = 100_000
"""Maximum number of characters in the paths of one run; further pages are checked by another run."""
LONGEST_NAME = 200
"""Maximum number of bytes of the name of a file or folder."""
LONGEST_PATH = 1000
"""Maximum number of characters of a source path."""


def page_sources(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the source path of each page, as in a repository: the path with `.md`.

    Paths that a file system may not accept are replaced by `page-NUMBER.md`.

    Args:
        paths: the paths of pages by id.
    """
    sources: dict[str, str] = {}
    taken: set[str] = set()
    for number, (page_id, path) in enumerate(paths.items(), 1):
        source = f"{path}.md"
        folded = source.casefold()
        folders = {folded[:at] for at, sign in enumerate(folded) if sign == "/"}
        has_short_names = all(len(name.encode("utf-8", "replace")) <= LONGEST_NAME for name in source.split("/"))
        is_free = folded not in taken and not any(folder.endswith(".md") for folder in folders)
        if not (path and is_safe_path(source) and is_free and has_short_names and len(source) <= LONGEST_PATH):
            source = f"page-{number}.md"
            while source in taken:
                source = f"page-{source}"
        taken.add(source.casefold())
        sources[page_id] = source
    return sources


async def new_findings(
    check: ProseCheck, before: Mapping[str, str], after: Mapping[str, str], folder: Path | None = None
) -> list[Finding]:
    """Return the findings in new texts that the old texts do not have.

    A finding is old if the old text of its page has a finding with the same rule and message in an equal line.

    Args:
        check: the check.
        before: the old texts by source path, without added pages.
        after: the new texts by source path.
        folder: a folder that has the new texts as files; by default, they are written to a temporary folder.

    Raises:
        PresscheckError: the check failed.
    """
    findings = await all_findings(check, after, folder)
    concerned = {finding.path for finding in findings}
    old_texts = {source: text for source, text in before.items() if source in concerned}
    if not old_texts:
        return findings
    # in the user's folder, so that the program reads the same settings
    old = Counter(_identity(finding, before) for finding in await all_findings(check, old_texts, cwd=folder))
    new: list[Finding] = []
    for finding in findings:
        identity = _identity(finding, after)
        if old[identity]:
            old[identity] -= 1
        else:
            new.append(finding)
    return new


def _identity(finding: Finding, texts: Mapping[str, str]) -> tuple[str, str, str, str]:
    line = texts[finding.path].replace("\r\n", "\n").split("\n")[finding.line - 1]
    return finding.path, finding.rule, finding.message, line.strip()


async def all_findings(
    check: ProseCheck, texts: Mapping[str, str], folder: Path | None = None, *, cwd: Path | None = None
) -> list[Finding]:
    """Return the findings in texts.

    Args:
        check: the check.
        texts: the texts by source path.
        folder: a folder that has the texts as files; by default, they are written to a temporary folder.
        cwd: the working directory if the check names none; by default the folder with the texts.

    Raises:
        PresscheckError: the program is missing, failed, or exceeded its limits, or its output cannot be read.
    """
    findings: list[Finding] = []
    async with _files(texts, folder) as root:
        directory = _working_directory(check, cwd or root)
        for sources in _batches(texts):
            output, errors = await _run(check, directory, [root / source for source in sources])

            def source_of(path: str) -> str | None:
                located = os.path.realpath(directory / path) if "\0" not in path else ""
                return os.path.relpath(located, root) if located.startswith(f"{root}{os.sep}") else None

            findings += await asyncio.to_thread(read_findings, check, output, errors, texts, source_of)
    return findings


@asynccontextmanager
async def _files(texts: Mapping[str, str], folder: Path | None) -> AsyncGenerator[Path]:
    """Yield the folder with the texts, as a path without symbolic links."""
    if folder is not None:
        yield await asyncio.to_thread(folder.resolve)
        return
    with TemporaryDirectory(prefix="presscheck-checks-", ignore_cleanup_errors=True) as name:
        try:
            root = await asyncio.to_thread(_write, Path(name), texts)
        except OSError as error:
            raise PresscheckError(f"the pages cannot be written for the checks: {error.strerror}") from None
        yield root


def _write(root: Path, texts: Mapping[str, str]) -> Path:
    """Write the texts below a folder. Return the folder as a path without symbolic links."""
    for source, text in texts.items():
        file = root / source
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "replace"))
    return root.resolve()


def _batches(texts: Mapping[str, str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for source in texts:
        if batch and size + len(source) > MAX_ARGUMENTS:
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += len(source)
    if batch:
        yield batch


async def _run(check: ProseCheck, directory: Path, files: Sequence[Path]) -> tuple[str, str]:
    """Run the program of a check on files. Return its standard output and standard error.

    Raises:
        PresscheckError: the program is missing, failed without output, or exceeded its limits.
    """
    # absolute paths never begin like options
    paths = [str(file) for file in files]
    words = [part for word in expanded(check.command) for part in (paths if word == PAGES else [word])]
    if PAGES not in check.command:
        words += paths
    ran = await run_program(check.name, words, directory, check.timeout)
    # most programs exit with a code other than 0 if there are findings; markdownlint prints them to standard error
    has_findings = ran.output.strip() or (check.format == "markdownlint" and ran.code == 1)
    if ran.code < 0 or (ran.code and not has_findings):
        raise ran.failure(check.name)
    return ran.output, ran.errors


def _working_directory(check: ProseCheck, default: Path) -> Path:
    directory = Path(check.directory).expanduser() if check.directory else default
    if not directory.is_dir():
        raise PresscheckError(f"{check.name}: the directory {sanitize(str(directory))} does not exist")
    return directory.absolute()
