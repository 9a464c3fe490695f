"""Run commands with broken standard streams, one after the other in this process.

The arguments are a JSON file with jobs, each with its streams and words, and the file for the results. A stream is
`full`, `closed` or `gone` (a pipe without a reader); the output of other streams is captured.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from presscheck.__main__ import main

NAMES = ("stdin", "stdout", "stderr")


def result_of(streams: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Run a command like the interpreter, in which a closed stream is None."""
    with tempfile.TemporaryFile() as nothing, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        for number, (name, usual) in enumerate(zip(NAMES, (nothing, output, errors), strict=True)):
            kind = streams.get(name, "")
            _connect(number, kind, usual)
            is_closed = kind == "closed"
            setattr(sys, name, None if is_closed else open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
        sys.argv = ["presscheck", *words]
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            code = repr(error)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        return {"code": code, "stdout": _text(output), "stderr": _text(errors)}


def _connect(number: int, kind: str, usual: IO[bytes]) -> None:
    if kind == "closed":
        os.close(number)
    elif kind == "full":
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, number)
        os.close(full)  # it may have the number of a closed stream
    elif kind == "gone":
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, number)
        os.close(writer)
    else:
        os.dup2(usual.fileno(), number)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    # each command leaves descriptors open that would be closed at the end of a process
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    gc.set_threshold(200_000, 20, 20)  # as in the tests, because garbage collection takes a part of the time
    jobs, report = json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2])
    report.write_text(json.dumps([result_of(streams, words) for streams, words in jobs]), "utf-8")
