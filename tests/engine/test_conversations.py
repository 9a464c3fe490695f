"""Conversations from JSON lines: each line is reported, and a refused batch does not lose the others."""

from presscheck.api.conversations import IngestConversations
from presscheck.engine.conversations import BATCH, ingest, read_lines
from presscheck.errors import Forbidden, Refused

GOOD = b'{"id": "%d", "parts": [{"role": "user", "body": "Hello"}]}\n'


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
    reports = [report async for report in ingest(send, "o", read_lines(lines))]
    failed = {report.line: report for report in reports if report.problem}
    assert [*failed] == [5, 6, 11], "lines are counted from 1, with those that are empty"
    assert failed[11].id == "7"
    assert "500 items" in failed[11].problem
    assert "id" in failed[6].problem
    assert len(reports) == BATCH + 5 + 2
    assert sorted(sent, key=int) == [str(number) for number in range(BATCH + 5) if number != 7]


async def test_who_may_not_send_learns_it_at_once() -> None:
    calls = 0

    async def send(call: IngestConversations) -> None:
        nonlocal calls
        calls += 1
        raise Forbidden("not an installation", request="POST", status=403)

    try:
        async for _ in ingest(send, "o", read_lines([GOOD % 1, GOOD % 2])):
            raise AssertionError("nothing was sent")
    except Forbidden:
        assert calls == 1
