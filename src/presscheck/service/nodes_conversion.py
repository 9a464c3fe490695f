"""Conversion of Markdown to document nodes as JSON. Large pages are converted in a separate process: `python -m` this
module.

The conversion of a page at its limits takes seconds. In a thread, it would slow down all other requests, because the
interpreter runs one thread at a time. The process has limits (see `bounded_process`), and few run at the same time.

Protocol: standard input has a line with the length of the Markdown, then the Markdown. The process writes one line of
JSON with all references and the types of their nodes. It then reads the mapped references from standard input and
writes the nodes.
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
"""Maximum number of parts (see `count_parts`) of a page that is converted in the current thread, which takes 0.2
seconds.
"""
MOST_SECONDS = 10
"""Maximum processor time of a conversion, in seconds."""
MOST_WAIT = 6
"""Ratio of the timeout to the processor time; it allows for other programs that use the processors."""
MOST_MEMORY = 512 * 1024 * 1024
"""Maximum memory of a conversion, in bytes; a page at its limits takes a third."""
AT_ONCE, WAITING = 2, 6
"""Maximum number of running and of waiting conversions."""

_running = threading.Semaphore(AT_ONCE)
_places = threading.Semaphore(AT_ONCE + WAITING)


class NotConverted(Exception):
    """The conversion exceeds its limits."""


class ConversionsBusy(Exception):
    """Too many conversions are waiting."""


def nodes_json(markdown: str, change: ReferenceMapper) -> bytes:
    """Convert Markdown to document nodes as JSON; `change` maps references.

    Raises:
        NotConverted: the conversion takes more time or memory than is allowed.
        ConversionsBusy: too many conversions are waiting.
        ProcessFailed: the process of the conversion failed for another reason.
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
    """Convert the Markdown on standard input, and write the nodes to standard output."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    restrict(MOST_MEMORY + INTERPRETER_MEMORY, MOST_SECONDS, 2 * MOST_SECONDS, reads_files=True)
    try:
        _convert()
    except MemoryError:
        signal.raise_signal(signal.SIGKILL)  # exit as if the kernel had enforced the limit


def _convert() -> None:
    markdown = sys.stdin.buffer.read(int(sys.stdin.buffer.readline())).decode()
    document = keyless_nodes(markdown)
    references: dict[str, tuple[Reference, str]] = {}

    def key_of(ref: Reference, kind: str) -> str:
        return json.dumps((ref, kind), sort_keys=True)

    def note_reference(ref: Reference, kind: str) -> Reference:
        references[key_of(ref, kind)] = ref, kind
        return ref

    map_references(document, note_reference)
    sys.stdout.buffer.write(_json_of([*references.values()]) + b"\n")
    sys.stdout.buffer.flush()
    answers: list[Any] = json.load(sys.stdin.buffer)
    changed = dict(zip(references, answers, strict=True))
    map_references(document, lambda ref, kind: changed[key_of(ref, kind)])
    add_keys(document)
    sys.stdout.buffer.write(_json_of(document))


if __name__ == "__main__":
    main()
