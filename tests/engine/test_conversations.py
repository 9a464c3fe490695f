"""Conversations from a file: each is reported, a refused one does not stop the others, and memory use is small."""

import io
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

from presscheck.api.conversations import IngestConversations
from presscheck.engine.conversations import BATCH, LONGEST, ReadLine, in_batches, ingest, read_conversations
from presscheck.errors import Forbidden, Refused

GOOD = b'{"id": "%d", "parts": [{"role": "user", "body": "Hello"}]}\n'


def read(content: bytes) -> AsyncIterator[list[ReadLine]]:
    return in_batches(read_conversations(io.BytesIO(content)))


async def test_each_line_is_reported_and_one_refused_conversation_does_not_stop_the_others() -> None:
    sent: list[str] = []

    async def send(call: IngestConversations) -> None:
        given = call.conversations
        assert isinstance(given, tuple)
        if any(one.id == "7" for one in given):
            raise Refused("parts: must have at most 500 items", request="POST", status=400)
        sent.extend(one.id for one in given)

    lines = [GOOD % number for number in range(BATCH + 5)]
    lines[3:3] = [b"\n", b"{broken\n", b'{"id": "", "parts": []}\n']
    reports = [report async for report in ingest(send, "o", read(b"".join(lines)))]
    failed = {report.line: report for report in reports if report.problem}
    assert [*failed] == [5, 6, 11], "lines are counted from 1, with those that are empty"
    assert failed[11].id == "7"
    assert "500 items" in failed[11].problem
    assert "id" in failed[6].problem
    assert len(reports) == BATCH + 5 + 2
    assert sorted(sent, key=int) == [str(number) for number in range(BATCH + 5) if number != 7]


async def test_import_without_permission_ends_after_one_request() -> None:
    calls = 0

    async def send(call: IngestConversations) -> None:
        nonlocal calls
        calls += 1
        raise Forbidden("not an installation", request="POST", status=403)

    try:
        async for _ in ingest(send, "o", read(GOOD % 1 + GOOD % 2)):
            raise AssertionError("nothing was sent")
    except Forbidden:
        assert calls == 1


def told(content: bytes) -> list[tuple[int, str, str]]:
    """Return the line, id and problem of each conversation in a file."""
    return [
        (one.number, one.conversation.id if one.conversation else "", one.problem)
        for one in read_conversations(io.BytesIO(content))
    ]


def test_array_is_read_like_lines() -> None:
    pretty = b'\n[\n  {"id": "a", "parts": [\n    {"role": "user", "body": "]},{ \\" \xe2\x82\xac"}]},\n'
    assert told(pretty + b'{"id": "b", "parts": []}, 7\n,{"id": 3}]')[0] == (3, "a", "")
    found = told(pretty + GOOD % 5 + b",7,\n" + GOOD % 6 + b"]")
    assert [(line, identity) for line, identity, _ in found] == [(3, "a"), (5, "5"), (6, ""), (7, "6")]
    for start, content in ((b"[", b'{"id": '), (b"[", b""), (b"[" + GOOD % 1, b",{broken}, " + GOOD % 2 + b"]")):
        *_, (_, identity, problem) = told(start + content)
        assert not identity
        assert problem.endswith("Nothing after it was read"), problem
    assert told(b"[]") == told(b" \n ") == told(b"") == []


def test_large_files_take_little_memory_and_overlong_lines_are_rejected(tmp_path: Path) -> None:
    file, body = tmp_path / "large.jsonl", b"x" * 20_000
    talk = b'{"id": "%d", "parts": [{"role": "user", "body": "' + body + b'"}]}'
    for start, end, comma in ((b"", b"\n", b""), (b"[", b"]", b",")):
        with file.open("wb") as stream:
            stream.write(start)
            for number in range(250):
                stream.write((comma if number else b"") + talk % number + b"\n")
            stream.write(end)
        tracemalloc.start()
        with file.open("rb") as stream:
            assert sum(bool(one.conversation) for one in read_conversations(stream)) == 250
        assert tracemalloc.get_traced_memory()[1] < file.stat().st_size / 10
        tracemalloc.stop()
    [one] = told(b'{"id": "' + b"x" * (LONGEST + 10))
    assert one == (1, "", "is too long: at most 4 MB")
