"""Typesets documents in a process of their own, limited in memory and time.

Authors choose the text and the images. A small image can need gigabytes when it is decoded, and the typesetter has no
limits: a process that exceeds its own takes nothing else with it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

MOST_MEMORY = 1536 * 1024 * 1024
"""Bytes of memory of the process."""
MOST_SECONDS = 90
"""Seconds until a document is given up, of time and of processor time."""
MOST_SECONDS_OF_IMAGE = 15
"""The same for a single image."""
LONGEST_REASON = 500
THREADS = 2

_KEPT = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "XDG_DATA_HOME", "XDG_DATA_DIRS")
"""Variables of the process: where libraries and fonts are, and no credentials of the service."""


class TypesettingFailed(Exception):
    """A document cannot be typeset: the markup or an image is invalid, or it exceeds the limits."""


def typeset(markup: str, root: Path, made_at: datetime | None = None, *, seconds: int = MOST_SECONDS) -> bytes:
    """Typesets markup and returns the PDF.

    Args:
        markup: the Typst markup.
        root: the directory with the images.
        made_at: the time in the metadata of the PDF.
        seconds: the time limit.

    Raises:
        TypesettingFailed: that failed; the message has the reason.
    """
    command = [sys.executable, "-P", "-m", __name__, str(root), *([made_at.isoformat()] if made_at else [])]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {"RAYON_NUM_THREADS": str(THREADS), "MALLOC_ARENA_MAX": str(THREADS)}
    try:
        ran = subprocess.run(  # noqa: S603  # this program, with its own paths
            command, input=markup.encode(), capture_output=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise TypesettingFailed(f"not done after {seconds} seconds") from None
    if ran.returncode < 0:
        raise TypesettingFailed("more memory or time needed than is allowed")
    if ran.returncode:
        reason = ran.stderr.decode("utf-8", "replace").strip()
        raise TypesettingFailed(reason[-LONGEST_REASON:] or f"exit code {ran.returncode}")
    return ran.stdout


def _main(root: str, made_at: str | None = None) -> int:
    from typst import Compiler, Fonts, TypstError  # 7 ms, only in the process of the typesetter

    _limit()
    compiler = Compiler(sys.stdin.buffer.read(), root=Path(root), font_paths=Fonts())
    try:
        made = compiler.compile(timestamp=datetime.fromisoformat(made_at) if made_at else None)
    except TypstError as error:
        sys.stderr.write(error.message)
        return 1
    if not isinstance(made, bytes):
        raise TypeError("expected a single PDF file")
    sys.stdout.buffer.write(made)
    return 0


def _limit() -> None:
    for kind, limit in (
        (resource.RLIMIT_DATA, MOST_MEMORY),
        (resource.RLIMIT_CPU, MOST_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems do not limit everything
            resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
