"""Decodes image files for the terminal. It loads Pillow, so it is imported at the first image, and runs in a thread.

The files are untrusted: only a few formats are allowed, the stated size is checked before decoding, and every decoder
error becomes an `UnreadableImage`. Transparent parts become white, because images are made for white pages.
"""

from __future__ import annotations

import base64
import io
import math
import warnings
from itertools import groupby
from typing import TYPE_CHECKING

from PIL import Image, ImageOps
from textual_image._sixel import SixelOptions, image_to_sixels

from presscheck.errors import PresscheckError
from presscheck.text.styled_text import Line, Span
from presscheck.tui.terminal.pictures import (
    MOST_COLUMNS,
    MOST_PIXELS,
    MOST_ROWS,
    TOO_LARGE,
    CellSize,
    DrawnPicture,
    Protocol,
    fitted,
    picture_style,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""Formats that Pillow decodes itself. Pillow would pass PostScript to Ghostscript, which can read files."""
MOST_SENT = 1600
"""Maximum pixels of the longer side of an image that is sent to the terminal."""
SIXEL_COLORS = 64
"""Colors per row of a sixel image: more colors are hardly visible and make the output longer."""
_BACKGROUND = (255, 255, 255, 255)


class UnreadableImage(PresscheckError):
    """The error of a file that is not an image, is damaged, or is too large; the message has the reason."""


def draw(content: bytes, number: int, protocol: Protocol, cell: CellSize, columns: int, rows: int) -> DrawnPicture:
    """Draw an image for the terminal.

    Args:
        content: the file.
        number: the number of the picture.
        protocol: the image protocol of the terminal.
        cell: the size of a cell in pixels.
        columns: the maximum width, in cells.
        rows: the maximum height, in cells.

    Raises:
        UnreadableImage: the image cannot be drawn.
    """
    image = decode(content, cell.width * min(columns, MOST_COLUMNS), cell.height * min(rows, MOST_ROWS))
    width, height = fitted(*image.size, cell, columns, rows)
    lines = [*_blocks(image, number, width, height)]
    if protocol == "kitty":
        return DrawnPicture(width, lines, (_as_base64(image, width * cell.width, height * cell.height),))
    if protocol == "sixel":
        return DrawnPicture(width, lines, tuple(_sixels(image, width * cell.width, height, cell.height)))
    return DrawnPicture(width, lines)


def decode(content: bytes, width: int, height: int) -> Image.Image:
    """Decode the first frame of an image as RGB.

    A JPEG is scaled down while it is decoded, but not below `width` and `height`, in pixels.

    Raises:
        UnreadableImage: the image cannot be decoded, or has more than `MOST_PIXELS` pixels.
    """
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings would be written to the terminal
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise UnreadableImage(f"not drawn: {TOO_LARGE}")
                image.draft("RGB", (width, height))
                image.load()
                upright = ImageOps.exif_transpose(image)
                return _opaque(upright)
    except UnreadableImage:
        raise
    except Image.DecompressionBombError as error:
        raise UnreadableImage(f"not drawn: {TOO_LARGE}") from error
    except Exception as error:  # decoders of damaged files raise almost anything
        raise UnreadableImage("not drawn: not an image, or damaged") from error


def _opaque(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    colored = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", colored.size, _BACKGROUND), colored).convert("RGB")


def _resized(
    image: Image.Image, width: int, height: int, method: Image.Resampling = Image.Resampling.LANCZOS
) -> Image.Image:
    return image.resize((width, height), method)  # Pillow's own annotation refers to numpy, which is not installed


def _blocks(image: Image.Image, number: int, columns: int, rows: int) -> Iterator[Line]:
    """Yield rows of half blocks: the text color paints the upper half, the background the lower half."""
    pixels = _resized(image, columns, rows * 2, Image.Resampling.BOX).tobytes()
    colors = [pixels[at : at + 3].hex() for at in range(0, len(pixels), 3)]
    for row in range(rows):
        mark = picture_style(number, row)
        upper = colors[row * 2 * columns : (row * 2 + 1) * columns]
        lower = colors[(row * 2 + 1) * columns : (row * 2 + 2) * columns]
        runs = groupby(zip(upper, lower, strict=True))
        yield tuple(Span("▀" * len([*cells]), f"#{over} on#{under} {mark}") for (over, under), cells in runs)


def _as_base64(image: Image.Image, width: int, height: int) -> str:
    """Return an image as PNG in base64, scaled down to the size shown in the terminal, in pixels."""
    scale = min(1.0, width / image.width, height / image.height, MOST_SENT / max(image.size))
    size = max(1, math.ceil(image.width * scale)), max(1, math.ceil(image.height * scale))
    stream = io.BytesIO()
    _resized(image, *size).save(stream, "PNG", compress_level=6)
    return base64.b64encode(stream.getvalue()).decode("ascii")


def _sixels(image: Image.Image, width: int, rows: int, cell_height: int) -> Iterator[str]:
    """Yield a sixel image for each row of cells, without a final line feed, which could scroll the screen."""
    scaled = _resized(image, width, rows * cell_height)
    options = SixelOptions(colors=SIXEL_COLORS)
    for row in range(rows):
        band = scaled.crop((0, row * cell_height, width, (row + 1) * cell_height))
        yield image_to_sixels(band, options).removesuffix("-\x1b\\").removesuffix("\x1b\\") + "\x1b\\"
