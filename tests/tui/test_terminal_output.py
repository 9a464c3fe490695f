"""Output to the terminal: it shows the last frame after any other, and unchanged cells are not sent."""

import random
import re
from collections.abc import Mapping

import pyte
import pytest
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from tests.private_names import whole_update
from textual.color import Color
from textual.strip import Strip

from presscheck.text.sanitize import COLORED, JOINER, NON_JOINER
from presscheck.tui.terminal.output import ControlCharFilter, DiffPainter, joiners_of

COLUMNS, ROWS = 24, 5
ALL_JOINERS = NON_JOINER + JOINER + COLORED
STYLES = [
    Style.parse(text) for text in ("white on black", "bold red on black", "underline green on blue", "dim #a0b0c0")
]
WORDS = ["plain", "two words", "日本語", "e\u0301te\u0301", "🙂 ok", "—", "  ", "한글 x", "a"]


def strip(chance: random.Random, columns: int) -> Strip:
    segments = [Segment(chance.choice(WORDS), chance.choice(STYLES)) for _ in range(chance.randint(0, 6))]
    return Strip(segments).adjust_cell_length(columns, STYLES[0]).simplify()


def seen(screen: pyte.Screen) -> list[str]:
    """The lines of a terminal; the second cell of a wide character is empty."""
    return ["".join(screen.buffer[y][x].data for x in range(COLUMNS)) for y in range(ROWS)]


def drawn(strips: list[Strip]) -> list[str]:
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(DiffPainter().differences(whole_update(strips), ColorSystem.TRUECOLOR) or "")
    return seen(screen)


@pytest.mark.parametrize("seed", range(60))
def test_a_terminal_shows_the_last_frame_after_any_other(seed: int) -> None:
    chance = random.Random(seed)
    painter, screen = DiffPainter(), pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    picture = [strip(chance, COLUMNS) for _ in range(ROWS)]
    stream.feed(painter.differences(whole_update(picture), ColorSystem.TRUECOLOR) or "")
    for _ in range(12):
        x, y = chance.randint(0, COLUMNS - 4), chance.randint(0, ROWS - 1)
        part = strip(chance, chance.randint(2, COLUMNS - x))
        whole = picture[y]
        picture[y] = Strip.join([whole.crop(0, x), part, whole.crop(x + part.cell_length)]).simplify()
        stream.feed(painter.differences(whole_update([part], x, y), ColorSystem.TRUECOLOR) or "")
        assert seen(screen) == drawn(picture)


def test_colours_are_right_where_only_they_change() -> None:
    painter, screen = DiffPainter(), pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    for style in STYLES:
        line = Strip([Segment("all the same text", style)]).adjust_cell_length(COLUMNS, STYLES[0])
        stream.feed(painter.differences(whole_update([line]), ColorSystem.TRUECOLOR) or "")
        cell = screen.buffer[0][3]
        assert (cell.bold, cell.underscore) == (bool(style.bold), bool(style.underline))
        assert style.color
        assert cell.fg in (style.color.name.lstrip("#"), "red", "green", "white")


def test_unchanged_cells_are_not_sent() -> None:
    painter = DiffPainter()
    lines = [strip(random.Random(1), COLUMNS) for _ in range(ROWS)]
    painter.differences(whole_update(lines), ColorSystem.TRUECOLOR)
    assert painter.differences(whole_update(lines), ColorSystem.TRUECOLOR) == ""
    painter.reset()
    assert painter.differences(whole_update(lines), ColorSystem.TRUECOLOR) != ""


def test_a_changed_letter_sends_one_letter() -> None:
    painter = DiffPainter()
    before = Strip([Segment("a line of text here", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
    after = Strip([Segment("a line of next here", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
    painter.differences(whole_update([before]), ColorSystem.STANDARD)
    assert painter.differences(whole_update([after]), ColorSystem.STANDARD) == "\x1b[1;11H\x1b[37;40mn\x1b[0m"


def filtered(*segments: Segment) -> list[Segment]:
    return ControlCharFilter().apply([*segments], Color(0, 0, 0))


def test_the_filter_leaves_safe_text_as_it_is() -> None:
    link = Style(link="https://docs.example/a")
    plain = [Segment("two words — 日本語", STYLES[0]), Segment("no style")]
    assert ControlCharFilter().apply(plain, Color(0, 0, 0)) is plain
    assert filtered(Segment("safe", link)) == [Segment("safe", link)]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a\x1b[2Jb", "a[2Jb"),
        ("a\x07", "a"),
        ("a\u3000b", "a  b"),
        ("a\xa0b", "a b"),
        ("a\ue000b", "a?b"),
        ("a\u202eb", "ab"),
    ],
)
def test_the_filter_replaces_what_a_terminal_obeys_and_keeps_the_width(text: str, sent: str) -> None:
    before, after = filtered(Segment("kept", STYLES[1]), Segment(text, STYLES[2]))
    assert (before, after) == (Segment("kept", STYLES[1]), Segment(sent, STYLES[2]))
    assert after.cell_length == Segment(text).cell_length


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://a.example/\x1b]0;x"])
def test_the_filter_takes_unsafe_links_from_text_that_stays(url: str) -> None:
    [segment] = filtered(Segment("here", Style(bold=True, link=url)))
    assert segment.style
    assert (segment.text, segment.style.link, segment.style.bold) == ("here", None, True)
    [both] = filtered(Segment("he\x1bre", Style(link="https://a.example/")))
    assert both.style
    assert (both.text, both.style.link) == ("here", "https://a.example/")


@pytest.mark.parametrize(
    ("environment", "joiners"),
    [
        *(({"TERM": name}, ALL_JOINERS) for name in ("xterm-kitty", "xterm-ghostty", "foot-extra", "contour")),
        *(({"TERM_PROGRAM": name}, ALL_JOINERS) for name in ("iTerm.app", "mintty")),
        ({"TERM_PROGRAM": "WezTerm"}, NON_JOINER + JOINER),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/tmux"}, NON_JOINER),
        ({"TERM": "xterm-256color"}, NON_JOINER),
        ({"TERM_PROGRAM": "vscode"}, NON_JOINER),
        ({"TERM_PROGRAM": "Apple_Terminal"}, ""),
    ],
)
def test_joiners_follow_from_the_environment(environment: Mapping[str, str], joiners: str) -> None:
    assert joiners_of(environment) == joiners


def test_doubled_joiner_of_a_conjunct_is_written_once() -> None:
    line = Strip([Segment(f"ක\u0dca{JOINER}{JOINER}ෂ x", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
    text = DiffPainter().differences(whole_update([line]), ColorSystem.TRUECOLOR) or ""
    assert f"ක\u0dca{JOINER}ෂ x" in text


def test_joined_emoji_pass_the_filter_and_keep_the_columns_beside_them() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    [segment] = filtered(Segment(f"a{family} x", STYLES[0]))
    assert segment.text == f"a{family} x"
    for at in range(COLUMNS - 2):
        painter = DiffPainter()
        line = Strip([Segment(f"a{family} x{family}", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
        assert f"a{family} x{family}" in (painter.differences(whole_update([line]), ColorSystem.TRUECOLOR) or "")
        # the edge of a dialog lies before, in and after the family
        dialog = Strip([Segment("||", STYLES[1])])
        sent = painter.differences(whole_update([dialog], at), ColorSystem.TRUECOLOR) or ""
        shown = re.sub("\x1b[^Hm]*[Hm]", "", sent)
        assert cell_len(shown) == COLUMNS
        assert cell_len(shown.partition("||")[0]) == at
        assert shown.replace(family, "").isascii()
