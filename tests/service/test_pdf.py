"""PDFs of spaces and change requests, downloaded from the running service and parsed."""

from __future__ import annotations

import asyncio
import base64
import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdf
import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from tests.running_service import RunningService
from tests.service.factories import World, insert, rewrite
from tests.service.pdf import download, draft_pdf, images, png, read, space_pdf, undrawn

from presscheck import errors
from presscheck.api.content import ListChangeRequestFiles
from presscheck.api.content_changes import InsertFiles, NewFile
from presscheck.service.db.engine import Database
from presscheck.service.db.signing import LIFETIME
from presscheck.service.models.jobs import SettingRow
from presscheck.service.pdf import export, markup, source
from presscheck.service.pdf.export import MOST_KEPT
from presscheck.service.pdf.typesetter import typeset


def said(reader: pypdf.PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def outline(reader: pypdf.PdfReader) -> list[Any]:
    def level(items: Sequence[Any]) -> list[Any]:
        return [level(item) if isinstance(item, list) else item.title for item in items]

    return level(reader.outline)


def exports(service: RunningService) -> list[Path]:
    return sorted((service.directory / "exports").glob("*.pdf"), key=lambda path: path.stat().st_mtime_ns)


CODE = '#read("/etc/passwd") #eval("1+1") ] } \\ $x$ @ref <label> #import "@preview/x:1.0.0": *'


@pytest.mark.slow
@pytest.mark.attack("scripts in content")
async def test_pdf_has_contents_images_links_and_emoji_and_runs_no_code(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = await world.draft()
    files = [
        NewFile(name=name, content_type=kind, base64=base64.b64encode(content).decode())
        for name, kind, content in (
            ("sky.png", "image/png", png()),
            ("broken.png", "image/png", png()[:40]),
            ("named.png", "application/octet-stream", png(20, 10)),
            ("letter.png", "image/png", typeset("Dear reader", tmp_path)),
            ("paper.txt", "text/plain", b"text"),
        )
    ]
    await world.edit(draft, InsertFiles(files=tuple(files)))
    kept = await world.admin.send(ListChangeRequestFiles(space_id=world.space, change_request_id=draft.id))
    address = {file.name: file.download_url for file in kept.items}
    start = (
        "# Start\n\nSee [the guide](guide.md#second-part) and [the web](https://example.org/x), or"
        " [write](mailto:team@example.org) and [attach](mailto:team@example.org?%61ttach=/etc/passwd).\n\n"
        f"![Sky](sky.png)\n\n![Stored]({address['sky.png']})\n\n![Broken](broken.png)\n\n"
        "![Named](named.png)\n\n![Letter](letter.png)\n\n"
        '![Elsewhere](https://example.org/far.png)\n\n{% file src="paper.txt" %}\n'
    )
    guide = f"# Guide #panic()\n\n{CODE}\n\n```\n{CODE}\n```\n\n## Second part\n\nTwo.\n"
    emoji = "## Up :cat:\n\nHi :tada:\n\n| :house: | b |\n| - | - |\n| 🚀 | `🚀` |\n"
    await world.edit(draft, rewrite("start", start), rewrite("guide", guide), insert("Go :rocket:", emoji))
    reader = await read(await draft_pdf(world, draft))
    words = said(reader)

    assert reader.metadata
    assert (reader.metadata.title, reader.metadata.author) == ("Manual", "Acme")
    cover, contents = (" ".join(reader.pages[number].extract_text().split()) for number in (0, 1))
    assert "Manual" in cover and "ACME" in cover.upper() and "Change request #1: Better" in cover
    assert contents.index("Start") < contents.index("Guide") < contents.index("Reference")
    titles = ["Start", "Guide #panic()", ["Second part"], "Reference", "Go 🚀", ["Up 🐱"]]
    assert outline(reader) == titles

    assert sorted(images(reader)) == [(20, 10), (40, 30)], "an image used twice must be in the file once"
    assert "Dear reader" not in words, "a PDF is no image, whatever its name is"
    addresses, inner = [], 0
    for page in reader.pages:
        for one in page.get("/Annots") or ():
            action = one.get_object().get("/A", {})
            addresses += [action["/URI"]] if "/URI" in action else []
            inner += "/Dest" in one.get_object() or action.get("/S") == "/GoTo"
    assert "https://example.org/x" in addresses
    assert "https://example.org/far.png" in addresses
    assert [found for found in addresses if found.startswith("mailto:")] == ["mailto:team@example.org"]
    assert not [found for found in addresses if "/files/" in found], "URLs of files expire"
    assert inner >= 5  # the entries of the table of contents, and the link to the guide

    assert undrawn(reader) == 0
    for wanted in ("Go 🚀", "Up 🐱", "Hi 🎉", "🏠 b 🚀 🚀", '#read("/etc/passwd")', '#eval("1+1")', "Guide #panic()"):
        assert wanted in words
    assert "root:" not in words

    monkeypatch.setattr(export, "MOST_SECONDS", 0)
    alone = await read(await draft_pdf(world, draft, page="start", only=True))
    assert images(alone) == [], "the search for broken images takes a limited time"


@pytest.mark.slow
async def test_pdf_of_a_page_includes_subpages_and_is_created_once(world: World, service: RunningService) -> None:
    draft = await world.draft()
    await world.edit(draft, insert("Inner", "## Within\n\nDeep words.\n", into="guide"))
    with_inner = await read(await draft_pdf(world, draft, page="guide"))
    assert outline(with_inner) == ["Guide", ["Inner", ["Within"]]]
    assert "Deep words." in said(with_inner) and "Welcome." not in said(with_inner)
    for number in range(MOST_KEPT + 5):
        (service.directory / "exports" / f"{number}.pdf").write_bytes(b"old")

    url = await draft_pdf(world, draft, page="guide", only=True)
    first, second = await asyncio.gather(download(url), download(url))
    alone = pypdf.PdfReader(io.BytesIO(first.content))
    assert outline(alone) == ["Guide"] and len(alone.pages) == 1
    assert "Second." in said(alone) and "Deep words." not in said(alone)
    assert first.content == second.content
    kept = exports(service)
    assert len(kept) == MOST_KEPT and [path.read_bytes() for path in kept].count(first.content) == 1
    number = kept[-1].stat().st_ino
    assert (await download(url)).content == first.content
    assert exports(service)[-1].stat().st_ino == number
    assert not [path for path in (service.directory / "exports").iterdir() if path.name.startswith(".set-")]


async def test_the_size_of_a_pdf_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, most, words in (
        ("MOST_PARTS", 4, "more than 4 lines, table cells, links and tags"),
        ("MOST_CHARACTERS", 8, "more than 8 characters"),
    ):
        monkeypatch.setattr(source, limit, most)
        answer = await download(await space_pdf(world))
        assert (answer.status_code, words in answer.text) == (413, True)


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
async def test_time_for_the_markup_of_a_pdf_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate process writes the markup, as a large space would keep the interpreter busy for half a minute."""
    monkeypatch.setattr(markup, "MOST_SECONDS", 0)
    answer = await download(await space_pdf(world))
    assert (answer.status_code, "its text takes more than" in answer.text) == (413, True)


async def test_a_missing_page_or_space_cannot_be_exported(world: World) -> None:
    draft = await world.draft()
    for asked in (space_pdf(world, page="none"), draft_pdf(world, draft, page="none", only=True)):
        with pytest.raises(errors.NotFound, match="Page not found"):
            await asked
    with pytest.raises(errors.NotFound, match="Space not found"):
        await space_pdf(world, by="guest")
    url = await space_pdf(world)
    world.change(deleted_at="2026-05-20T09:30:00.000Z")
    assert (await download(url)).status_code == 404


class LongAgo(TimestampSigner):
    """A signer with an expired timestamp."""

    def get_timestamp(self) -> int:
        return int(time.time()) - LIFETIME - 5


async def test_a_pdf_url_is_valid_for_an_hour_and_cannot_be_changed(world: World) -> None:
    url = await space_pdf(world)
    head, _, rest = url.partition("/pdf/")
    address, _, name = rest.partition("/")
    for other in (address[:-1], address[1:], "x" + address, "nothing"):
        answer = await download(f"{head}/pdf/{other}/{name}")
        assert answer.status_code == 404
        assert "PDF not found" in answer.json()["error"]["message"]
    database = Database(world.database_url)
    with database.snapshot() as session:
        key = session.get_one(SettingRow, "signing_key").value
    database.close()
    value = URLSafeTimedSerializer(key, salt="pdf").loads(address)
    old = URLSafeTimedSerializer(key, salt="pdf", signer=LongAgo).dumps(value)
    answer = await download(f"{head}/pdf/{old}/{name}")
    assert answer.status_code == 410
    assert "Export the PDF again" in answer.json()["error"]["message"]
    assert (await download(f"{head}/pdf/{address}/any-name.pdf")).status_code == 200
