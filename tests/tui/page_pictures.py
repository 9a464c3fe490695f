"""Image files: good, hostile and much too large."""

import io
import struct
import zlib

from PIL import Image

RED, BLUE = "#c81e1e", "#1e1ec8"
HOSTILE = (
    "\x1b_Ga=T,f=100,i=1,U=1;aGVsbG8=\x1b\\ and \x1bPq#0~~\x1b\\ and \x1b]1337;File=inline=1:aGVsbG8=\x07 and "
    "\x90q#0!9~\x9c and \x9fGa=d\x9c and \U0010eeee\u0305\u0305"
)


def png(width: int, height: int) -> bytes:
    """Return a PNG with a red upper and a blue lower half."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (0, height // 2, width, height))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def bomb(width: int, height: int) -> bytes:
    """Return a small PNG whose header states this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(9999))) + chunk(b"IEND", b"")
    )
