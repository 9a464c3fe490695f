"""Runs the programs of prose checks on pages, with limits on time and output, and finds the new findings.

The pages are files in a temporary folder, or in a folder of the user. A program gets their paths as arguments, and no
token in its environment. It is killed with its child processes when the check ends or is canceled.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from presscheck.config.prose_checks import PAGES, ProseCheck
from presscheck.config.tokens import child_environment
from presscheck.documents.git_format.exported import is_safe_path
from presscheck.documents.git_format.findings import Finding
from presscheck.engine.prose_checks.output import read_findings
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize

MAX_OUTPUT = 8 * 1024 * 1024
"""Maximum number of bytes that a program may print; it is killed if it prints more."""
MAX_ARGUMENTS = 100_000
"""Maximum number of characters in the paths of one run; further pages are checked by another run."""
LONGEST_END = 2.0
"""Maximum wait for the end of a killed program, in seconds."""
LONGEST_NAME = 200
"""Maximum number of bytes of the name of a file or folder."""
LONGEST_PATH = 1000
"""Maximum number of characters of a source path."""
LONGEST_REASON = 200
"""Maximum number of characters of a program's error message."""


def page_sources(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the source path of each page, as in a repository: the path with `.md`.

    Paths that a disk may not hold are replaced by `page-NUMBER.md`.

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
    # beside the user's folder, so that the program has the same settings
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
    """Return the findings in texts, by their place.

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
    words = [part for word in check.command for part in (paths if word == PAGES else [_expanded(word)])]
    if PAGES not in check.command:
        words += paths
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=directory,
            env=child_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # so that its child processes can be killed with it
        )
    except FileNotFoundError:
        raise PresscheckError(f"{check.name}: {sanitize(words[0])} is not installed: install it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PresscheckError(f"{check.name}: {sanitize(words[0])} cannot be started: {reason}") from None
    try:
        async with asyncio.timeout(check.timeout):
            output, errors, _ = await asyncio.gather(
                _read(process, process.stdout), _read(process, process.stderr), process.wait()
            )
    except TimeoutError:
        raise PresscheckError(f"{check.name}: not done after {check.timeout} seconds (setting timeout)") from None
    finally:
        _kill(process)
        await _ended(process)
    if output is None or errors is None:
        raise PresscheckError(f"{check.name}: printed more than {MAX_OUTPUT >> 20} MB")
    # findings make the exit code of most programs another one than 0, and those of markdownlint are on standard error
    code = process.returncode or 0
    has_findings = output.strip() or (check.format == "markdownlint" and code == 1)
    if code < 0 or (code and not has_findings):
        how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        reason = sanitize(" ".join(errors.split()))[:LONGEST_REASON]
        raise PresscheckError(f"{check.name}: {how}{reason and f': {reason}'}")
    return output, errors


def _working_directory(check: ProseCheck, default: Path) -> Path:
    directory = Path(check.directory).expanduser() if check.directory else default
    if not directory.is_dir():
        raise PresscheckError(f"{check.name}: the directory {sanitize(str(directory))} does not exist")
    return directory.absolute()


def _expanded(word: str) -> str:
    return str(Path(word).expanduser()) if word.startswith("~/") else word


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a program and its child processes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a killed process. Its output is read to the end: asyncio waits for that, too.

    A child process with a session of its own may keep the output open, so the wait is limited.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_END):
            await asyncio.gather(_skip(process.stdout), _skip(process.stderr), process.wait())


async def _skip(stream: asyncio.StreamReader | None) -> None:
    while stream and await stream.read(1 << 16):
        pass


async def _read(process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None) -> str | None:
    """Return what a program prints; None, after the program was killed, if it prints too much."""
    parts: list[bytes] = []
    size = 0
    while stream and (part := await stream.read(1 << 16)):
        size += len(part)
        if size > MAX_OUTPUT:
            _kill(process)
            await _skip(stream)
            return None
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")
