"""Typesetting of documents in a separate process, limited in memory and time.

Text and images are untrusted. A small image can need gigabytes when it is decoded, and the typesetter has no limits of
its own.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from presscheck.service.bounded_process import ProcessFailed, limit_resources, run_bounded
from presscheck.service.integrations.script_process import INTERPRETER_MEMORY, restrict

MOST_MEMORY = 1536 * 1024 * 1024
"""Maximum memory of the process, in bytes."""
MOST_SECONDS = 90
"""Limit for a document in seconds, of processor time and by the clock."""
MOST_SECONDS_OF_IMAGE = 15
"""The limit for a single image."""
THREADS = "2"
FONTS = Path(__file__).with_name("fonts")
"""Fonts of the package: Noto Emoji at weight 400, because few servers have a font with emoji."""


class TypesettingFailed(Exception):
    """The document cannot be typeset: the markup or an image is invalid, or it exceeds the limits."""


def typeset(markup: str, root: Path, made_at: datetime | None = None, *, seconds: int = MOST_SECONDS) -> bytes:
    """Typeset markup and return the PDF.

    Args:
        markup: the Typst markup.
        root: the directory with the images.
        made_at: the time in the metadata of the PDF.
        seconds: the time limit.

    Raises:
        TypesettingFailed: typesetting failed; the message is the reason.
    """
    arguments = (str(root), *([made_at.isoformat()] if made_at else []))
    threads = {"RAYON_NUM_THREADS": THREADS, "MALLOC_ARENA_MAX": THREADS}
    try:
        return run_bounded(__name__, *arguments, stdin=markup.encode(), seconds=seconds, environment=threads)
    except ProcessFailed as error:
        raise TypesettingFailed(str(error)) from None


def _main(root: str, made_at: str | None = None) -> int:
    from typst import Compiler, Fonts, TypstError  # takes 7 ms to import, so only in the process of the typesetter

    limit_resources(MOST_MEMORY, MOST_SECONDS)
    # `root`: neither markup nor an SVG image can open a file outside of it, or a URL. But markup can download packages,
    # so text of users is always escaped
    compiler = Compiler(sys.stdin.buffer.read(), root=Path(root), font_paths=Fonts(font_paths=[FONTS]))
    # fonts are read when a character needs them, so files stay readable; the kernel refuses connections, other programs
    # and writing
    restrict(MOST_MEMORY + INTERPRETER_MEMORY, MOST_SECONDS, MOST_SECONDS, reads_files=True)
    try:
        made = compiler.compile(timestamp=datetime.fromisoformat(made_at) if made_at else None)
    except TypstError as error:
        sys.stderr.write(error.message)
        return 1
    if not isinstance(made, bytes):
        raise TypeError("expected a single PDF file")
    sys.stdout.buffer.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
