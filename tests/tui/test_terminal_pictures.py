"""Drawing images for the terminal: limits, half blocks, and what the painter sends for each protocol."""

import io
import os
import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image
from rich.color import ColorSystem
from rich.segment import Segment
from tests.bait import Bait
from tests.private_names import whole_update
from tests.table import each_case
from tests.tui.page_pictures import HOSTILE, bomb, png
from textual.color import Color
from textual.strip import Strip

from presscheck.errors import PresscheckError
from presscheck.tui.terminal.output import ControlCharFilter, DiffPainter
from presscheck.tui.terminal.picture_decoder import UnreadableImage, decode, draw
from presscheck.tui.terminal.pictures import (
    MOST_KEPT,
    PLACEHOLDER,
    CellSize,
    DrawnPicture,
    PictureTable,
    protocol_of,
)
from presscheck.tui.theme import StyleTable, load
from presscheck.tui.widgets.line_view import render_strip

CELL = CellSize(10, 20)
COLUMNS = 40
style_for = StyleTable(load()["ink"]).__getitem__


def encoded(image: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))


@each_case(
    ("content", "reason"),
    [
        (bomb(100_000, 100_000), "not drawn: more than 24,000,000 pixels"),
        (bomb(5000, 5000), "not drawn: more than 24,000,000 pixels"),
        (bomb(4000, 4000), "not drawn: not an image, or damaged"),
        (encoded(noise(300, 300), "PNG")[:2000], "not drawn: not an image, or damaged"),
        (encoded(noise(300, 300), "JPEG")[:2000], "not drawn: not an image, or damaged"),
        (encoded(noise(30, 30), "TIFF"), "not drawn: not an image, or damaged"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not drawn: not an image, or damaged"),
        (b"GIF89a" + b"\xff" * 100, "not drawn: not an image, or damaged"),
        (b"", "not drawn: not an image, or damaged"),
    ],
)
def test_damaged_and_oversized_images_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableImage) as error:
        decode(content, 100, 100)
    assert error.value.message == reason


def test_images_open_no_file_no_address_and_no_program(
    bait: Bait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pillow itself hands PostScript to Ghostscript, which can read files."""
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\necho started > {tmp_path}/started\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for address in bait.addresses:
        for content in (
            address,
            f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="{address}"/></svg>',
            f"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n({address}) run\n%%EOF\n",
        ):
            with pytest.raises(UnreadableImage):
                decode(content.encode(), 100, 100)
    assert not (tmp_path / "started").exists()


@each_case("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_pixel_format_is_decoded_and_transparent_pixels_are_white(mode: str) -> None:
    image = decode(encoded(Image.new(mode, (4, 4)), "PNG"), 100, 100)
    assert image.getpixel((1, 1)) == ((255, 255, 255) if mode in ("LA", "RGBA") else (0, 0, 0))


def test_a_picture_is_drawn_in_half_blocks() -> None:
    """Two cells wide and one high: 20 × 20 pixels, of which the lower right quarter is green."""
    image = Image.new("RGB", (20, 20), "#102030")
    image.paste("#00ff00", (10, 10, 20, 20))
    picture = draw(encoded(image, "PNG"), 7, "blocks", CELL, 80, 20)
    assert [[(span.text, span.style) for span in line] for line in picture.lines] == [
        [("▀", "#102030 on#102030 picture-7-0"), ("▀", "#102030 on#00ff00 picture-7-0")]
    ]
    wide = draw(png(4000, 1000), 7, "blocks", CELL, 80, 20)
    assert (wide.columns, len(wide.lines)) == (80, 10)


@each_case(
    ("environment", "protocol"),
    [
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM_PROGRAM": "iTerm.app"}, "sixel"),
        ({"LC_TERMINAL": "iTerm2"}, "sixel"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "xterm-256color"}, "blocks"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/tmux", "KITTY_WINDOW_ID": "1"}, "blocks"),
    ],
)
def test_the_protocol_follows_from_the_environment(environment: Mapping[str, str], protocol: str) -> None:
    assert protocol_of(environment) == protocol
    assert PictureTable(environment=environment, measure=lambda: CELL).protocol == protocol
    assert PictureTable(lambda: "blocks", environment).protocol == "blocks"


def test_sixel_needs_the_size_of_a_cell() -> None:
    assert PictureTable(lambda: "sixel", {}, lambda: None).protocol == "blocks"


class Screen:
    """A screen with a picture of 20 × 2 cells after 4 blanks, as the painter sends it."""

    def __init__(self, protocol: str) -> None:
        self.table = PictureTable(lambda: protocol, {}, lambda: CELL)
        self.number = self.table.new_number()
        picture = draw(png(200, 40), self.number, self.table.protocol, CELL, 80, 20)
        self.table.add(self.number, picture)
        self.lines = [render_strip((*picture.lines[y],), 20, style_for) for y in range(2)]
        self.painter = DiffPainter(self.table)

    def whole(self) -> list[Strip]:
        blank = Strip.blank(4, style_for(""))
        return [Strip.join([blank, line]).adjust_cell_length(COLUMNS, style_for("")) for line in self.lines]

    def covered(self) -> list[Strip]:
        """Return the lines with a dialog over the picture."""
        dialog = Strip([Segment("dialog", style_for("raised"))])
        return [Strip.join([line.crop(0, 10), dialog, line.crop(16)]) for line in self.whole()]

    def sent(self, strips: list[Strip]) -> str:
        self.painter.take(whole_update(strips))
        return self.painter.output(ColorSystem.TRUECOLOR)


def test_sixel_rows_cover_their_cells_only_where_they_are_complete() -> None:
    screen = Screen("sixel")
    first = screen.sent(screen.whole())
    images = re.findall(r"\x1b\[(\d+);(\d+)H(\x1bP[0-9;]*q[!-~]*\x1b\\)", first)
    assert [(y, x) for y, x, _ in images] == [("1", "5"), ("2", "5")]
    assert all('"1;1;200;20' in image and not image.endswith("-\x1b\\") for _, _, image in images)
    assert first.count("▀") == 40, "a terminal that does not know sixel shows the blocks"
    assert screen.sent(screen.whole()) == ""
    covered = screen.sent(screen.covered())
    assert "\x1bP" not in covered and "▀" not in covered and covered.count("dialog") == 2
    assert screen.sent(screen.whole()).count("\x1bP") == 2


def test_kitty_receives_an_image_once_and_again_after_a_reset() -> None:
    screen = Screen("kitty")
    first = screen.sent(screen.whole())
    assert first.count("a=T") == 1 and first.count(PLACEHOLDER) == 40 and "▀" not in first
    assert PLACEHOLDER not in screen.sent(screen.covered())
    again = screen.sent(screen.whole())
    assert "a=T" not in again and again.count(PLACEHOLDER) == 40
    screen.painter.reset()
    screen.table.forget_terminal()
    assert screen.sent(screen.whole()).count("a=T") == 1
    assert screen.table.deletion() == f"\x1b_Ga=d,d=I,i={screen.number},q=2;\x1b\\"
    assert screen.table.deletion() == ""


def test_a_long_image_is_sent_in_chunks() -> None:
    table = PictureTable(lambda: "kitty", {}, lambda: CELL)
    picture = draw(encoded(noise(200, 200), "PNG"), 9, "kitty", CELL, 80, 20)
    table.add(9, picture)
    strip = render_strip(picture.lines[0], picture.columns, style_for)
    [row] = table.rows_in(strip)
    parts = re.findall(r"\x1b_G([^;]*),?m=([01]);([^\x1b]{1,4096})\x1b\\", row.before)
    assert len(parts) > 10 and "".join(part[2] for part in parts) == picture.sequences[0]
    assert [more for _, more, _ in parts] == ["1"] * (len(parts) - 1) + ["0"]


def test_the_filter_of_control_characters_lets_no_image_pass() -> None:
    """The text was not sanitized, and has the color that identifies a picture on the screen."""
    screen = Screen("kitty")
    screen.sent(screen.whole())
    for text in (HOSTILE, HOSTILE.replace("\x1b_G", "\x9fG"), PLACEHOLDER * 20, f"{PLACEHOLDER}\u0305\u0305" * 20):
        style = style_for(f"#{screen.number & 0xFFFFFF:06x}")
        segments = ControlCharFilter().apply([Segment(text, style)], Color(0, 0, 0))
        sent = screen.sent([Strip(segments).adjust_cell_length(COLUMNS, style_for("")), *screen.whole()[1:]])
        assert not re.search("\x1b[^[]|[\x80-\x9f\U0010eeee]", sent), sent


def test_only_valid_image_data_is_kept_and_old_images_are_deleted() -> None:
    for protocol, bad in (("kitty", "aGVs\x1b\\"), ("sixel", "\x1bPq#0~~\x1b\\\x1b]0;title\x07")):
        with pytest.raises(PresscheckError, match="not drawn"):
            PictureTable(lambda name=protocol: name, {}, lambda: CELL).add(1, DrawnPicture(1, [()], (bad,)))
    screen = Screen("kitty")
    screen.sent(screen.whole())
    screen.table.add(screen.number + 1, DrawnPicture(1, [()], ("A" * MOST_KEPT,)))
    assert not screen.table.has(screen.number)
    assert screen.table.deletion().count(f"i={screen.number},") == 1
