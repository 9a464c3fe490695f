"""Helpers that download and read PDF files, and create small PNG images."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import httpx
import pypdf
from pypdf.generic import ByteStringObject, ContentStream, TextStringObject
from tests.service.factories import World

from presscheck.api.change_requests import ChangeRequest, GetChangeRequestPDF
from presscheck.api.spaces import GetSpacePDF


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 40, height: int = 30) -> bytes:
    rows = b"".join(b"\0" + b"\x30\x60\xa0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", head)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


async def download(url: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as web:
        return await web.get(url)


async def read(url: str) -> pypdf.PdfReader:
    answer = await download(url)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    return pypdf.PdfReader(io.BytesIO(answer.content))


def images(reader: pypdf.PdfReader) -> list[tuple[int, int]]:
    every = [reader.get_object(number) for number in range(1, int(reader.trailer["/Size"]))]
    found = [one for one in every if isinstance(one, dict) and one.get("/Subtype") == "/Image"]
    return [(int(one["/Width"]), int(one["/Height"])) for one in found]


def undrawn(reader: pypdf.PdfReader) -> int:
    """Count the characters without a glyph: PDF viewers draw glyph 0 of the font, an empty box."""
    missing = 0
    for page in reader.pages:
        for operands, operator in ContentStream(page.get_contents(), reader).operations:
            pieces = operands[0] if operator == b"TJ" else operands if operator == b"Tj" else ()
            codes = [
                piece.original_bytes for piece in pieces if isinstance(piece, (TextStringObject, ByteStringObject))
            ]
            missing += sum(code[at : at + 2] == b"\0\0" for code in codes for at in range(0, len(code), 2))
    return missing


async def space_pdf(world: World, by: str = "read", **asked: Any) -> str:
    return (await world.clients[by].send(GetSpacePDF(space_id=world.space, **asked))).url


async def draft_pdf(world: World, draft: ChangeRequest, **asked: Any) -> str:
    call = GetChangeRequestPDF(space_id=world.space, change_request_id=draft.id, **asked)
    return (await world.clients["read"].send(call)).url
