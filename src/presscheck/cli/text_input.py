"""Where the text of a comment or a page comes from: an option, a file, standard input, or the user's editor.

What comes from an editor is kept in a file until it is taken, and that file is named where it was not.
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

from presscheck.cli.output import talk
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.paths import places, private_directory


def body_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--body` and `--body-file`."""
    as_file = click.option("-F", "--body-file", metavar="FILE", help="Read the text from a file; - is standard input.")
    return click.option("--body", metavar="TEXT", help="The text, in Markdown; omit it to open your editor.")(
        as_file(function)
    )


@contextmanager
def body_text(body: str | None, body_file: str | None, *, before: str = "") -> Generator[str]:
    """The text; what was typed into an editor is kept where the block fails.

    Raises:
        InvalidArgument: there is no text, and no terminal to ask for one in.
    """
    if body is not None and body_file is not None:
        raise InvalidArgument("--body", "pass --body or --body-file, not both")
    given = body if body is not None else _from_file(body_file) if body_file is not None else None
    if given is not None:
        if not given.strip():
            raise InvalidArgument("--body", "the text is empty")
        yield given
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgument("--body", "pass --body TEXT or --body-file FILE (- is standard input)")
    kept = private_directory(places().state / "typed") / f"{uuid4().hex}.md"
    text = _from_editor(kept, before)
    try:
        yield text
    except BaseException:
        talk(f"Your text is saved in {kept}")
        raise
    kept.unlink(missing_ok=True)


def editor_environment() -> dict[str, str]:
    """What an editor may know of our environment."""
    return {name: value for name, value in os.environ.items() if name != "PRESSCHECK_TOKEN"}


def edit_file(file: Path) -> None:
    """Open a file in the user's editor, and wait for its end.

    Raises:
        PresscheckError: it cannot be started, or it failed.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        # the user's own command, in the user's own environment
        ended = subprocess.run([*words, str(file)], env=editor_environment(), check=False)  # noqa: S603
    except OSError as error:
        raise PresscheckError(f"could not start the editor {words[0]}: {error.strerror}") from None
    if ended.returncode:
        raise PresscheckError(f"the editor exited with {ended.returncode}; the text is in {file}")


def _from_file(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except OSError as error:
        raise InvalidArgument("--body-file", f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidArgument("--body-file", f"{name}: not UTF-8 text") from None


def _from_editor(file: Path, before: str) -> str:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(before)
    edit_file(file)
    text = file.read_text("utf-8", errors="replace")
    if not text.strip() or text == before:
        file.unlink()
        raise InvalidArgument("--body", "the text is empty")
    return text
