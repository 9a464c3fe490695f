"""Output to the terminal: the terminal always shows the last frame, and unchanged cells are not sent."""

import random
import re
from collections.abc import Mapping

import pyte
import pytest
from pyte.screens import Char
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from tests.private_names import LayoutUpdate, whole_update
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip

from presscheck.text.sanitize import COLORED, JOINER, NON_JOINER
from presscheck.tui.terminal.bandwidth import Bandwidth
from presscheck.tui.terminal.output import (
    ControlCharFilter,
    DiffPainter,
    erases_in_color,
    joiners_of,
)

COLUMNS, ROWS = 24, 5
CONSOLE = Console(color_system="truecolor", force_terminal=True)
ALL_JOINERS = NON_JOINER + JOINER + COLORED
INK, STRONG = Style.parse("#d0d0d0 on #14161a"), Style.parse("#d7af5f on #14161a")
STYLES = [
    Style.parse(text) for text in ("white on black", "bold red on black", "underline green on blue", "dim #a0b0c0")
]
WORDS = ["plain", "two words", "日本語", "e\u0301te\u0301", "🙂 ok", "—", "  ", "한글 x", "a"]


def strip(chance: random.Random, columns: int) -> Strip:
    segments = [Segment(chance.choice(WORDS), chance.choice(STYLES)) for _ in range(chance.randint(0, 6))]
    return Strip(segments).adjust_cell_length(columns, STYLES[0]).simplify()


def output(painter: DiffPainter, update: LayoutUpdate, system: ColorSystem = ColorSystem.TRUECOLOR) -> str:
    painter.take(update)
    return painter.output(system)


Look = tuple[str, object, str, bool]


def seen(screen: pyte.Screen) -> list[list[Look]]:
    """Return the cells of a terminal: character, color if it is visible, background, underline.

    The second cell of a wide character is empty.
    """
    return [[look(screen.buffer[y][x]) for x in range(screen.columns)] for y in range(screen.lines)]


def look(cell: Char) -> Look:
    return cell.data, cell.data.strip() and (cell.fg, cell.bold), cell.bg, cell.underscore


def drawn(strips: list[Strip], system: ColorSystem) -> list[list[Look]]:
    screen = pyte.Screen(strips[0].cell_length, len(strips))
    pyte.Stream(screen).feed(output(DiffPainter(), whole_update(strips), system))
    return seen(screen)


@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_a_terminal_shows_the_last_frame_after_random_updates(seed: int, *, is_slow: bool) -> None:
    chance = random.Random(seed)
    bandwidth, system = (
        Bandwidth("on" if is_slow else "off"),
        (ColorSystem.EIGHT_BIT if is_slow else ColorSystem.TRUECOLOR),
    )
    painter, screen = DiffPainter(bandwidth=bandwidth, erases=seed % 2 == 0), pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    picture = [strip(chance, COLUMNS) for _ in range(ROWS)]
    stream.feed(output(painter, whole_update(picture)))
    for _ in range(12):
        x, y = chance.randint(0, COLUMNS - 4), chance.randint(0, ROWS - 1)
        part = strip(chance, chance.randint(2, COLUMNS - x))
        whole = picture[y]
        picture[y] = Strip.join([whole.crop(0, x), part, whole.crop(x + part.cell_length)]).simplify()
        update = whole_update([part], x, y)
        if chance.random() < 0.3:
            painter.take(update)
            continue
        stream.feed(painter.update(update).render_segments(CONSOLE))
        assert seen(screen) == drawn(picture, system)


def test_a_terminal_shows_the_last_frame_after_lines_moved() -> None:
    scrolls = 0
    for seed in range(4):
        chance = random.Random(seed)
        painter, screen = DiffPainter(bandwidth=Bandwidth("on"), erases=seed % 2 == 0), pyte.Screen(COLUMNS, ROWS)
        stream = pyte.Stream(screen)
        picture = [strip(chance, COLUMNS) for _ in range(ROWS)]
        stream.feed(output(painter, whole_update(picture)))
        for _ in range(10):
            first, last = sorted(chance.sample(range(ROWS + 1), 2))
            lines, by = picture[first:last], chance.randint(1, 3)
            new = [strip(chance, COLUMNS) for _ in lines[:by]]
            picture[first:last] = (lines + new)[-len(lines) :] if chance.random() < 0.5 else (new + lines)[: len(lines)]
            if chance.random() < 0.5:
                picture[chance.randrange(ROWS)] = strip(chance, COLUMNS)
            sent = painter.update(whole_update(picture)).render_segments(CONSOLE)
            scrolls += "\x1bM" in sent or "r\x1b[" in sent
            stream.feed(sent)
            assert seen(screen) == drawn(picture, ColorSystem.EIGHT_BIT), seed
    assert scrolls > 2


def test_a_slow_terminal_scrolls_a_list_whose_cursor_moves_beyond_its_end() -> None:
    chance = random.Random(1)
    words = [" ".join(chance.choices(["merge", "request", "rewrite", "guide", "many"], k=4)) for _ in range(20)]

    def frame(top: int, cursor: int) -> list[Strip]:
        rows = [Strip([Segment(words[top + y].ljust(40), STYLES[y == cursor])]) for y in range(10)]
        return [Strip([Segment("Heading".ljust(40), STYLES[0])]), *rows, Strip([Segment("Hints".ljust(40), STYLES[0])])]

    sent = {}
    for setting in ("on", "off"):
        painter = DiffPainter(bandwidth=Bandwidth(setting))
        output(painter, whole_update(frame(0, 9)))
        sent[setting] = len(output(painter, whole_update(frame(1, 9))))
    assert sent["on"] < 150 < sent["off"]


ROWS_BELOW = 6
"""Number of rows of the tree that do not fit into its pane."""
MOST_OF_A_KEY, CURSOR_HOME = 400, 12
"""Maximum number of bytes sent at once for a key, and how many of them Textual sends itself."""


def test_a_slow_terminal_scrolls_a_list_whose_times_change_meanwhile() -> None:
    chance = random.Random(1)
    titles = [words(chance, 30) for _ in range(20)]

    def frame(top: int, minutes: int) -> list[Strip]:
        times = [minutes if y % 4 else 9 for y in range(top, top + 12)]
        rows = [f"{title:32}{time} min".ljust(40) for title, time in zip(titles[top:], times, strict=False)]
        return [Strip([Segment(text, STYLES[0])]) for text in ("Heading".ljust(40), *rows, "Hints".ljust(40))]

    painter, list_region = DiffPainter(bandwidth=Bandwidth("on")), Region(0, 1, 40, 12)
    screen = pyte.Screen(40, 14)
    stream = pyte.Stream(screen)
    stream.feed(output(painter, whole_update(frame(0, 1))))
    painter.restart()
    sent = painter.update(whole_update(frame(1, 2)), list_region).render_segments(CONSOLE)
    stream.feed(sent)
    assert seen(screen) == drawn(frame(1, 2), ColorSystem.EIGHT_BIT)
    assert len(sent) < 180, sent


def test_a_preview_sent_after_its_row_leaves_bytes_for_later_changes_of_the_row() -> None:
    painter, row_region = DiffPainter(bandwidth=Bandwidth("on")), Region(0, 0, 160, 1)

    def sent(row: str, preview: str) -> int:
        frame = [Strip([Segment(text.ljust(160), STYLES[0])]) for text in (row, preview)]
        return len(painter.update(whole_update(frame), row_region).render_segments(CONSOLE).encode())

    sent("", "")
    painter.restart()
    follows = [sent("first" * 30, ""), sent("first" * 30, "about" * 30), sent("first" * 25 + "voted" * 5, "about" * 30)]
    assert [number > 0 for number in follows] == [True, False, True], follows
    painter.restart()
    assert 300 < sent("other" * 30, "about" * 30) <= MOST_OF_A_KEY, (
        "in the picture of its row, a preview is sent at once"
    )


class Panes:
    """A tree, a border and a page on a slow terminal, in a frame of two lines above and one below.

    The tree is longer than its pane. The page has no blank lines, and each row of the tree has another page.
    """

    def __init__(self, size: tuple[int, int], *, erases: bool) -> None:
        self.width, self.height = size
        chance, self.tree_width = random.Random(1), self.width // 4
        self.painter = DiffPainter(bandwidth=Bandwidth("on"), erases=erases)
        self.screen = pyte.Screen(*size)
        self.stream = pyte.Stream(self.screen)
        self.pane = Region(0, 2, self.tree_width, self.height - 3)
        self.titles = [words(chance, self.tree_width - 9) for _ in range(self.pane.height + ROWS_BELOW)]
        self.page = [words(chance, self.width - self.tree_width - 3) for _ in range(self.height + len(self.titles))]
        self.top = self.cursor = self.page_of = 0
        self.stream.feed(output(self.painter, whole_update(self.frame())))

    def frame(self) -> list[Strip]:
        lines = [[Segment(text.ljust(self.width), INK)] for text in ("Heading", "", "Hints")]
        for y in range(self.pane.height):
            bar = "▌" if self.top + y == self.cursor else " "
            title = f"      {self.titles[self.top + y]}".ljust(self.tree_width - 1)
            page = f"| {self.page[(7 * self.page_of + y) % len(self.page)]}".ljust(self.width - self.tree_width)
            row = [Segment(bar, STRONG), Segment(title, INK), Segment(page[0], STRONG), Segment(page[1:], INK)]
            lines.insert(-1, row)
        return [Strip(segments) for segments in lines]

    def press(self, by: int) -> str:
        """Move the cursor by a row, and return what is sent at once."""
        self.cursor += by
        self.top = min(max(self.top, self.cursor - self.pane.height + 1), self.cursor)
        self.painter.restart()
        return self._sent(self.pane)

    def load_page(self) -> str:
        """Show the page of the cursor, and return what is sent at once; the rest is sent when the cursor rests."""
        self.page_of = self.cursor
        return self._sent(self.pane)

    def rest(self) -> None:
        self._sent(None)

    def _sent(self, first: Region | None) -> str:
        sent = self.painter.update(whole_update(self.frame()), first).render_segments(CONSOLE)
        self.stream.feed(sent)
        return sent

    def tree(self) -> list[str]:
        """Return the lines of the tree and its border as the terminal shows them."""
        rows = range(self.pane.y, self.pane.bottom)
        return ["".join(self.screen.buffer[y][x].data for x in range(self.tree_width + 1)) for y in rows]


def words(chance: random.Random, columns: int) -> str:
    """Return random words that fill at least two thirds of the columns."""
    return " ".join(chance.choices(["merge", "request", "rewrite", "guide", "many"], k=columns))[
        : chance.randint(columns * 2 // 3, columns)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "erases"), [((80, 24), True), ((120, 40), False)])
def test_a_key_that_scrolls_a_tree_beside_a_page_sends_few_bytes(size: tuple[int, int], *, erases: bool) -> None:
    panes = Panes(size, erases=erases)
    sent: list[int] = []
    for by in (1, -1):
        panes.cursor = panes.top + (panes.pane.height - 2 if by > 0 else 1)
        panes.rest()
        for number in range(ROWS_BELOW + 1):
            sent.append(len((panes.press(by) + panes.load_page()).encode()))
            assert panes.tree() == [strip.text[: panes.tree_width + 1] for strip in panes.frame()[2:-1]]
            if number % 4 == 0:
                panes.rest()
                assert seen(panes.screen) == drawn(panes.frame(), ColorSystem.EIGHT_BIT)
    assert panes.top == 0
    assert max(sent) <= MOST_OF_A_KEY - CURSOR_HOME, sent
    assert sorted(sent)[len(sent) // 2] < 150, "the page is blanked once, until the cursor rests"


@pytest.mark.parametrize(("lines", "stays"), [(8, True), (24, False)])
def test_a_page_is_blanked_beside_a_tree_that_scrolls_only_if_the_rows_take_many_bytes(
    lines: int, *, stays: bool
) -> None:
    panes = Panes((80, lines), erases=True)
    panes.cursor = panes.pane.height - 1
    panes.rest()
    panes.press(1)
    assert panes.top == 1
    assert (seen(panes.screen) == drawn(panes.frame(), ColorSystem.EIGHT_BIT)) is stays
    panes.rest()
    assert seen(panes.screen) == drawn(panes.frame(), ColorSystem.EIGHT_BIT)


@pytest.mark.parametrize("erases", [True, False])
def test_blanks_are_erased_where_the_terminal_can(erases: bool) -> None:
    painter = DiffPainter(erases=erases)
    full = Strip([Segment("x" * COLUMNS, STYLES[0])])
    empty = Strip([Segment("x" + " " * (COLUMNS - 2) + "x", STYLES[0])])
    output(painter, whole_update([full]), ColorSystem.STANDARD)
    sent = output(painter, whole_update([empty]), ColorSystem.STANDARD)
    blanks = f"\x1b[{COLUMNS - 2}X" if erases else " " * (COLUMNS - 2)
    assert sent == f"\x1b[1;2H\x1b[40m{blanks}\x1b[0m"


@pytest.mark.parametrize("setting", ["on", "off"])
def test_texts_of_the_same_color_are_sent_together(setting: str) -> None:
    painter = DiffPainter(bandwidth=Bandwidth(setting), erases=True)
    text = [Segment("| ", STYLES[0]), Segment("a few words", STYLES[1]), Segment(" " * 9, STYLES[0])]
    sent = output(painter, whole_update([Strip(text)] * 3), ColorSystem.STANDARD)
    marks = "\x1b[1H\x1b[37;40m| \x1bD\r| \x1bD\r| "
    words = "\x1b[1;3H\x1b[1;31ma few words\x1b[K\x1b[2;3Ha few words\x1b[K\x1b[3;3Ha few words\x1b[K"
    assert sent == f"{marks}{words}\x1b[0m"


def test_the_cursor_is_not_moved_back_from_behind_the_last_column() -> None:
    painter, screen = DiffPainter(), pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    for last in "ab":
        line = Strip([Segment("x" * (COLUMNS - 1) + last, STYLES[0])])
        stream.feed(output(painter, whole_update([line] * 2)))
    assert screen.display[:2] == ["x" * (COLUMNS - 1) + "b"] * 2


def test_cells_between_two_changes_are_skipped() -> None:
    painter = DiffPainter()
    for words in ("first words that stay here", "worst words that stay long"):
        line = Strip([Segment(words, STYLES[0])])
        sent = output(painter, whole_update([line]), ColorSystem.STANDARD)
    assert sent == "\x1b[1H\x1b[37;40mwo\x1b[23Glong\x1b[0m"


@pytest.mark.parametrize(
    ("environment", "erases"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "STY": "1.pts"}, False),
        ({"TERM": "screen-256color"}, False),
        ({}, False),
    ],
)
def test_only_known_terminals_erase_in_color(environment: Mapping[str, str], erases: bool) -> None:
    assert erases_in_color(environment) is erases


def test_cells_are_sent_if_only_their_style_changes() -> None:
    painter, screen = DiffPainter(), pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    for style in STYLES:
        line = Strip([Segment("all the same text", style)]).adjust_cell_length(COLUMNS, STYLES[0])
        stream.feed(output(painter, whole_update([line])))
        cell = screen.buffer[0][3]
        assert (cell.bold, cell.underscore) == (bool(style.bold), bool(style.underline))
        assert style.color
        assert cell.fg in (style.color.name.lstrip("#"), "red", "green", "white")


def test_unchanged_cells_are_not_sent() -> None:
    painter = DiffPainter()
    lines = [strip(random.Random(1), COLUMNS) for _ in range(ROWS)]
    output(painter, whole_update(lines))
    assert output(painter, whole_update(lines)) == ""
    painter.reset()
    assert output(painter, whole_update(lines)) != ""


def test_a_changed_letter_sends_one_letter() -> None:
    painter = DiffPainter()
    before = Strip([Segment("a line of text here", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
    after = Strip([Segment("a line of next here", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
    output(painter, whole_update([before]), ColorSystem.STANDARD)
    assert output(painter, whole_update([after]), ColorSystem.STANDARD) == "\x1b[1;11H\x1b[37;40mn\x1b[0m"


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
def test_the_filter_replaces_unsafe_characters_and_keeps_the_width(text: str, sent: str) -> None:
    before, after = filtered(Segment("kept", STYLES[1]), Segment(text, STYLES[2]))
    assert (before, after) == (Segment("kept", STYLES[1]), Segment(sent, STYLES[2]))
    assert after.cell_length == Segment(text).cell_length


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://a.example/\x1b]0;x"])
def test_the_filter_removes_unsafe_links_and_keeps_the_text(url: str) -> None:
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
    text = output(DiffPainter(), whole_update([line]))
    assert f"ක\u0dca{JOINER}ෂ x" in text


def test_joined_emoji_pass_the_filter_and_keep_the_columns_beside_them() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    [segment] = filtered(Segment(f"a{family} x", STYLES[0]))
    assert segment.text == f"a{family} x"
    for at in range(COLUMNS - 2):
        painter = DiffPainter()
        line = Strip([Segment(f"a{family} x{family}", STYLES[0])]).adjust_cell_length(COLUMNS, STYLES[0])
        assert f"a{family} x{family}" in (output(painter, whole_update([line])))
        # the edge of a dialog lies before, in and after the family
        dialog = Strip([Segment("||", STYLES[1])])
        sent = output(painter, whole_update([dialog], at))
        shown = re.sub("\x1b[^Hm]*[Hm]", "", sent)
        assert cell_len(shown) == COLUMNS
        assert cell_len(shown.partition("||")[0]) == at
        assert shown.replace(family, "").isascii()
