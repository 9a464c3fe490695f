"""Notifications for terminals: text cannot leave the escape sequence that contains it."""

from tests.hostile_strings import ACTS, HOSTILE
from tests.table import each_case

from presscheck.text.notifications import MAX_WIDTH, notification


@each_case(("way", "begin"), [("osc9", "\x1b]9;presscheck: "), ("osc777", "\x1b]777;notify;presscheck;")])
def test_hostile_text_stays_inside_the_escape_sequence(way: str, begin: str) -> None:
    for text in (*HOSTILE, "x" * 5000, "字" * 5000, ""):
        sent = notification(way, text)
        assert sent.startswith(begin)
        assert sent.endswith("\a")
        inside = sent.removeprefix(begin).removesuffix("\a")
        assert not ACTS.search(inside), repr(text)
        assert len(inside) <= MAX_WIDTH


def test_bell_has_no_text() -> None:
    assert notification("bell", "\x1b]0;owned") == "\a"
