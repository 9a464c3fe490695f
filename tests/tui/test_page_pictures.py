"""Images of pages in Browse: files of the space, size limits, scroll position, and graphics protocols."""

import base64
import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.running_service import RunningService
from tests.service_users import page_of, somebody
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, plain, running, shown, until
from tests.tui.page_pictures import BLUE, HOSTILE, RED, bomb, png
from tests.tui.page_reading import reading

from presscheck.api.change_requests import (
    CreateChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile, UpdatePage
from presscheck.documents.pages.tree import flatten
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.tui.terminal.pictures import DIACRITICS, PLACEHOLDER

FILES = {
    "map.png": png(200, 160),
    "wide.png": png(1200, 80),
    "bomb.png": bomb(100_000, 100_000),
    "cut.png": png(300, 300)[:120],
    "plan.svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>',
}
PAGE = f"""\
First words.

![The map](map.png)

<figure><img src="map.png" alt=""><figcaption><p>The same map</p></figcaption></figure>

Words with ![a small one](map.png) between them.

{HOSTILE}

![Too large](bomb.png)

![Damaged](cut.png)

![Drawing](plan.svg)

![Elsewhere](http://127.0.0.1:9/pixel.png)

{"Many words. " * 2000}

![Wide](wide.png)

Last words.
"""


async def write_page(service: RunningService) -> None:
    async with somebody(service, "robin") as (robin,):
        made = await robin.send(CreateChangeRequest(space_id="runbook", subject="Images"))
        at = {"space_id": "runbook", "change_request_id": made.id}
        files = tuple(
            NewFile(
                name=name,
                base64=base64.b64encode(content).decode(),
                content_type="image/svg+xml" if name.endswith("svg") else "image/png",
            )
            for name, content in FILES.items()
        )
        page = await page_of(robin, at, "Afterwards")
        changes = (InsertFiles(files=files), UpdatePage(page=page.id, document=Document(markdown=PAGE)))
        await robin.send(EditChangeRequestContent(**at, changes=changes, compat=False))
        await robin.send(UpdateChangeRequest(**at, status="open"))
        await robin.send(MergeChangeRequest(**at))


pytestmark = pytest.mark.service(shared=True, prepare=write_page)


def blocks(pilot: Any) -> list[str]:
    """Return the style of each row of the first picture."""
    lines = pilot.app.screen.page_view.document.lines
    return [line[0].style.rpartition(" ")[0] for line in lines if "▀" in plain(line)][:8]


@pytest.mark.slow
async def test_images_of_the_space_are_drawn_and_others_have_captions_with_a_reason(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path, images="blocks"), (120, 50)) as pilot:
        await reading(pilot, "Afterwards", "First words.")
        await until(pilot, shows="▀" * 20)
        await until(pilot, holds=lambda: "not drawn: not an image" in shown(pilot.app))
        view: Any = pilot.app.screen.page_view
        text = [plain(line) for line in view.document.lines]
        assert text.count("▀" * 20) == 16, "two pictures of 200 × 160 pixels, in cells of 10 × 20"
        assert text[text.index("▣ The map") - 8 : text.index("▣ The map")] == ["▀" * 20] * 8
        assert blocks(pilot) == [f"{RED} on{RED}"] * 4 + [f"{BLUE} on{BLUE}"] * 4
        for caption in (
            "▣ The same map map.png",
            "Words with ▣ a small one between them.",
            "▣ Too large · not drawn: more than 24,000,000 pixels",
            "▣ Damaged · not drawn: not an image, or damaged",
            "▣ Drawing · not drawn: SVG",
            "▣ Elsewhere · not loaded: it is on another host",
        ):
            assert caption in text, "\n".join(text)

        drawing = "▣ Drawing · not drawn: SVG"
        # the line at the cursor stays in place if a picture above it appears or disappears
        view.move_to(text.index(drawing))
        make = view._make_layout
        title, markdown = pilot.app.screen.page_pane.page_text
        view.show_again(lambda width: PageLines(markdown, width, title=title))
        assert plain(view.document.lines[view.cursor]) == "▣ Drawing"
        assert view.cursor < text.index(drawing) - 10
        y = view.cursor - view.top
        view.show_again(make)
        assert (plain(view.document.lines[view.cursor]), view.cursor - view.top) == (drawing, y)

        # pictures far below are drawn when they scroll near the visible lines
        assert not any("▀" in plain(line) for line in view.document.lines[-20:])
        await pilot.press("G")
        await until(pilot, shows="▀" * 80)


PROGRAM = """
import sys
from pathlib import Path
from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp, Start
from presscheck.tui.places import Place
from presscheck.wiring import open_engine

home, page = Path(sys.argv[3]), sys.argv[4]
profile = Profile(base_url=sys.argv[1], token=sys.argv[2], sync=False)
places = Places(home / "config", home / "cache", home / "state", home / "data")
first = lambda app: app.go(Place.page("runbook", page))
sys.exit(PresscheckApp(lambda profile: open_engine(profile, places), profile, places, Start(then=first)).run_to_end())
"""
SEQUENCE = re.compile(rb"\x1b([_P^X\]].*?)(?:\x1b\\|\x07)", re.DOTALL)
"""Escape sequences with data: Kitty images (APC), sixel images (DCS), titles and iTerm2 images (OSC)."""


@pytest.mark.slow
async def test_only_own_images_reach_a_terminal_with_a_protocol(service: RunningService, tmp_path: Path) -> None:
    """The page has images and, as text, sequences of three protocols: only its images reach the terminal."""
    async with somebody(service, "robin") as (robin,):
        pages = (await robin.send(ListPages(space_id="runbook"))).pages
    page = next(page for page in flatten(pages) if page.title == "Afterwards")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), service.base_url, service.token, str(tmp_path), page.id]
    terminal = Terminal(command, size=(120, 50), env={"KITTY_WINDOW_ID": "1", "TMUX": "", "STY": ""})
    try:
        terminal.wait("Drawing · not drawn: SVG")
        while terminal.raw.count(f"{PLACEHOLDER}{DIACRITICS[7]}{DIACRITICS[19]}".encode()) < 2:
            assert terminal.read(), terminal.text
        assert "␛_Ga=T,f=100,i=1,U=1;aGVsbG8=␛" in terminal.wait("Words with")
        terminal.press("ctrl+q")
        assert terminal.end() == 0
    finally:
        terminal.close()

    sequences = [body for body in SEQUENCE.findall(terminal.raw) if body[:1] in b"_P" or body.startswith(b"]1337")]
    [transmission, deletion] = [body.decode("ascii") for body in sequences]
    head, _, data = transmission.partition(";")
    match = re.fullmatch(r"_Ga=T,U=1,f=100,i=(\d+),c=20,r=8,q=2,m=0", head)
    assert match, head
    assert deletion == f"_Ga=d,d=I,i={match[1]},q=2;"
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert (image.size, image.getpixel((5, 5)), image.getpixel((5, 155))) == (
            (200, 160),
            (0xC8, 0x1E, 0x1E),
            (0x1E, 0x1E, 0xC8),
        )

    # every placeholder is a cell of this image; its color encodes the image id
    number = int(match[1])
    color = f"38;2;{number >> 16 & 255};{number >> 8 & 255};{number & 255}"
    text = terminal.raw.decode()
    assert not set("\x90\x9f\x9c").intersection(text)
    seen, current = list[str](), ""
    for sgr, cells in re.findall(rf"\x1b\[([\d;]*)m|((?:{PLACEHOLDER}[\u0300-\u0400]{{2}})+)", text):
        foreground = re.search(r"38;2;\d+;\d+;\d+", sgr)
        is_reset = {"0", "39"} & {*re.sub(r"48;2;\d+;\d+;\d+", "", sgr).split(";")}
        current = foreground[0] if foreground else "" if is_reset else current
        if cells:
            assert current == color
            seen.append(cells)
    assert set(seen) == {"".join(f"{PLACEHOLDER}{DIACRITICS[y]}{DIACRITICS[x]}" for x in range(20)) for y in range(8)}
    assert sum(cells.count(PLACEHOLDER) for cells in seen) == text.count(PLACEHOLDER)
