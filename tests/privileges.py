"""Drops root's capability to bypass file permissions, so that read-only files are read-only for root as well.

    python -m tests.privileges COMMAND...    run a command without this capability

Only Linux has capabilities; other users do not have them anyway.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
VERSION = 0x20080522
PR_CAPBSET_DROP = 24


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)


@contextmanager
def without_root_rights() -> Iterator[None]:
    """Drop the capability in this thread, and in threads that it starts, for the duration of the block."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    _call("capget", header, sets)
    effective = sets[0]
    sets[0] = effective & ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    _call("capset", header, sets)
    try:
        yield
    finally:
        sets[0] = effective
        _call("capset", header, sets)


def run_without_root_rights(command: list[str]) -> None:
    """Replace this process by a command without the capability."""
    if os.geteuid() == 0 and sys.platform == "linux":
        for right in (DAC_OVERRIDE, DAC_READ_SEARCH):
            _call("prctl", PR_CAPBSET_DROP, right, 0, 0, 0)
    os.execvp(command[0], command)


if __name__ == "__main__":
    run_without_root_rights(sys.argv[1:])
