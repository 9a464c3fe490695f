"""Converts Markdown to document nodes as JSON, a large page in a process of its own: `python -m` this module.

The interpreter runs one thread at a time. A page at its limits takes seconds, in which every other request would wait
for its turn again and again. So the process has limits (see `bounded_process`), and few run at once.

Standard input is the length of the Markdown in a line, and the Markdown. Standard output is a line with all references
as JSON, each with the type of its node; then standard input has what they become, and standard output gets the nodes.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from typing import Any

from presscheck.documents.markdown.page_size import count_parts
from presscheck.documents.nodes.from_markdown import add_keys, keyless_nodes, markdown_to_nodes
from presscheck.documents.nodes.references import Reference, ReferenceMapper, map_references
from presscheck.service.bounded_process import LimitExceeded, limit_resources, run_bounded
from presscheck.service.integrations.script_process import INTERPRETER_MEMORY, restrict

MOST_PARTS = 2_000
"""Most parts, as `count_parts` counts them, of a page that is converted in the thread that asks: 0.2 seconds."""
MOST_SECONDS = 10
"""Seconds of processor time of a conversion."""
MOST_WAIT = 6
"""How many times as long it may take by the clock: other programs use the processors, too."""
MOST_MEMORY = 512 * 1024 * 1024
"""Bytes of memory of a conversion; a page at its limits takes a third."""
AT_ONCE, WAITING = 2, 6
"""Conversions that run at once in processes, and those that may wait for them."""

_running = threading.Semaphore(AT_ONCE)
_places = threading.Semaphore(AT_ONCE + WAITING)


class NotConverted(Exception):
    """The conversion exceeds its limits."""


class ConversionsBusy(Exception):
    """Too many conversions wait already."""


def nodes_json(markdown: str, change: ReferenceMapper) -> bytes:
    """Converts Markdown to document nodes as JSON; `change` maps references.

    Raises:
        NotConverted: it takes more time or memory than is allowed.
        ConversionsBusy: too many conversions wait already.
    """
    if count_parts(markdown) <= MOST_PARTS:
        return _json_of(markdown_to_nodes(markdown, change))

    def answer(question: bytes) -> bytes:
        return _json_of([change(ref, kind) for ref, kind in json.loads(question or b"[]")])

    text = markdown.encode()
    if not _places.acquire(blocking=False):
        raise ConversionsBusy
    try:
        with _running:
            stdin = b"%d\n%b" % (len(text), text)
            return run_bounded(__name__, stdin=stdin, seconds=MOST_WAIT * MOST_SECONDS, answer=answer)
    except LimitExceeded:
        raise NotConverted from None
    finally:
        _places.release()


def _json_of(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def main() -> None:
    """Converts one page."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    restrict(MOST_MEMORY + INTERPRETER_MEMORY, MOST_SECONDS, 2 * MOST_SECONDS, reads_files=True)
    try:
        _convert()
    except MemoryError:
        signal.raise_signal(signal.SIGKILL)  # as if the kernel had noticed


def _convert() -> None:
    markdown = sys.stdin.buffer.read(int(sys.stdin.buffer.readline())).decode()
    document = keyless_nodes(markdown)
    asked: dict[str, tuple[Reference, str]] = {}

    def key_of(ref: Reference, kind: str) -> str:
        return json.dumps((ref, kind), sort_keys=True)

    def ask(ref: Reference, kind: str) -> Reference:
        asked[key_of(ref, kind)] = ref, kind
        return ref

    map_references(document, ask)
    sys.stdout.buffer.write(_json_of([*asked.values()]) + b"\n")
    sys.stdout.buffer.flush()
    answers: list[Any] = json.load(sys.stdin.buffer)
    changed = dict(zip(asked, answers, strict=True))
    map_references(document, lambda ref, kind: changed[key_of(ref, kind)])
    add_keys(document)
    sys.stdout.buffer.write(_json_of(document))


if __name__ == "__main__":
    main()
