"""Input of texts, such as comments and pages, from an option, a file, standard input, or the user's editor.

Text from the editor is kept in a file until the command succeeds; after a failure, the path of the file is printed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from presscheck.cli.output import print_message
from presscheck.config.tokens import child_environment
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.paths import places, private_directory


def body_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--body` and `--body-file` to a command."""
    as_file = click.option(
        "-F", "--body-file", metavar="FILE", help="Read the text from this file; - is standard input."
    )
    return click.option("--body", metavar="TEXT", help="Text, in Markdown; if omitted, your editor opens.")(
        as_file(function)
    )


@contextmanager
def body_text(body: str | None, body_file: str | None, *, before: str = "") -> Generator[str]:
    """Yield the text of an option, of a file or from the editor. If the block fails, text from the editor is kept.

    Raises:
        InvalidArgument: both options are given, the text is empty, or there is no terminal for an editor.
    """
    if body is not None and body_file is not None:
        raise InvalidArgument("--body", "give either --body or --body-file")
    given = body if body is not None else _from_file(body_file) if body_file is not None else None
    if given is not None:
        if not given.strip():
            raise InvalidArgument("--body", "the text is empty")
        yield given
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgument(
            "--body", "is required without a terminal: give --body TEXT or --body-file FILE (- is standard input)"
        )
    file = private_directory(places().state / "typed") / f"{uuid4().hex}.md"
    text = _from_editor(file, before)
    try:
        yield text
    except BaseException:
        print_message(f"Your text is saved in {file}.")
        raise
    file.unlink(missing_ok=True)


def edit_file(file: Path) -> None:
    """Open a file in the user's editor and wait until it exits.

    Raises:
        PresscheckError: the editor cannot be started, or it failed.
    """
    if code := run_editor(file):
        raise PresscheckError(f"the editor exited with code {code}; your text is saved in {file}")


def run_editor(file: Path) -> int:
    """Open a file in the user's editor, wait until it exits, and return its exit code.

    Raises:
        PresscheckError: the editor cannot be started.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        # the user's own command, in the user's own environment
        return subprocess.run([*words, str(file)], env=child_environment(), check=False).returncode  # noqa: S603
    except OSError as error:
        raise PresscheckError(
            f"could not start the editor {words[0]}: {error.strerror}. Set VISUAL or EDITOR"
        ) from None


def _from_file(name: str) -> str:
    try:
        return sys.stdin.read().removeprefix("\ufeff") if name == "-" else Path(name).read_text("utf-8-sig")
    except OSError as error:
        raise InvalidArgument("--body-file", f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidArgument("--body-file", f"{name}: is not UTF-8 text") from None


def _from_editor(file: Path, before: str) -> str:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(before)
    edit_file(file)
    text = file.read_text("utf-8", errors="replace")
    if not text.strip() or text == before:
        file.unlink()
        raise InvalidArgument("--body", "the text is empty")
    return text
