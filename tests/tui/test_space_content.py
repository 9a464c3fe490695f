"""Links and files of a space: actions by keys, checked at the service."""

import stat
from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService
from tests.service_users import page_of
from tests.table import each_case
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.space_content import PAGE, PNG, SPACE, drafted, file, listed, merged, opened, page

from presscheck.api.content import ListChangeRequestFiles, RevisionFile, RevisionPage
from presscheck.api.links import ContentLocation
from presscheck.client.client import Client
from presscheck.documents.pages.file_urls import address_in_page
from presscheck.engine.drafts import drafts
from presscheck.errors import PresscheckError
from presscheck.text.phrases import size_of
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.replace.screen import ReplaceScreen
from presscheck.tui.screens.space_content.file_actions import local_name, read_upload
from presscheck.tui.screens.space_content.link_rows import markdown_of, target_kind, target_name
from presscheck.tui.screens.space_content.screen import SpaceContentScreen

HOSTILE = "\x1b]0;title\x07 [b]x[/b] \u202egpj.exe"


@pytest.mark.slow
async def test_links_are_listed_filtered_and_opened_at_their_line(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await merged(client, page("Limits", "# Limits\n\nText."), page("Map", PAGE), file("plan.png", PNG))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "l")
        await until(pilot, shows="go to a space, or open a review first")
        await opened(pilot)
        await listed(pilot)
        await until(pilot, shows="gone.md")
        rows = [line.replace("▌", " ").split()[1] for line in shown(pilot.app).split("\n") if " Map " in line]
        assert rows == ["broken", "external", "ok", "ok", "ok"], "a mention is no broken link"
        assert not any(line.rstrip().endswith("…") for line in shown(pilot.app).split("\n") if "links to" in line)
        assert "✗ 1 broken" in shown(pilot.app)
        assert "↗ 1 external" in shown(pilot.app)
        await pilot.press("F")
        await pick(pilot, "external")
        await until(pilot, shows="only external")
        assert "gone.md" not in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, shows="copied the address")
        await pilot.press("F")
        await pick(pilot, "Only in app")
        await until(pilot, shows="No link is in app.")
        await pilot.press("F")
        await pick(pilot, "All links")
        await until(pilot, shows="gone.md")
        await write(pilot, "/", "gone", "enter")
        await until(pilot, shows="1 of 1")
        assert pilot.app.screen.lists.tab.count == 1, "only the rows with the text are listed"
        await pilot.press("escape", "enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="› Map")
        await until(pilot, shows="gone")
        view = pilot.app.screen.page_view
        assert any(span.link == "gone.md" for span in view.document.lines[view.cursor])


@pytest.mark.slow
async def test_a_file_is_uploaded_and_saved(service: RunningService, client: Client, tmp_path: Path) -> None:
    path = await drafted(client, "Maps")
    picture, target = tmp_path / "plan.png", tmp_path / "saved.png"
    picture.write_bytes(PNG)
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, request=path["change_request_id"])
        await pilot.press("2")
        await until(pilot, shows="No files yet.")
        await write(pilot, "a", "")
        pilot.app.focused.value = str(tmp_path / "none")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "there is no file" in pilot.app.notices.history[-1].text)
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpaceContentScreen))
        await write(pilot, "a", "")
        pilot.app.focused.value = str(picture)
        await pilot.press("enter")
        await until(pilot, shows="uploaded plan.png: its Markdown is copied")
        assert pilot.app.clipboard == "![plan.png](/plan.png)"
        await until(pilot, shows="16 × 8")
        [stored] = (await client.send(ListChangeRequestFiles(**path))).items
        assert (stored.name, stored.size) == ("plan.png", len(PNG))
        [upload] = [entry for entry in pilot.app.engine.history() if entry.description == "add files"]
        assert "base64" not in upload.call.given()["changes"][0]["files"][0], "the history keeps no bytes of files"
        await pilot.press("enter")
        await pick(pilot, "Save as")
        await until(pilot, shows="Save plan.png as")
        await write(pilot, "", "")
        pilot.app.focused.value = str(target)
        await pilot.press("enter")
        await until(pilot, shows="saved 280 B to")
        assert target.read_bytes() == PNG
        target.write_text("mine")
        await pilot.press("enter")
        await pick(pilot, "Save as")
        await until(pilot, shows="Save plan.png as")
        pilot.app.focused.value = str(target)
        await pilot.press("enter")
        await until(pilot, shows="Replace saved.png?")
        await pilot.press("n")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpaceContentScreen))
        assert target.read_text() == "mine"
        await pilot.press("enter")
        await pick(pilot, "Where used")
        await until(pilot, shows="no page that was searched uses it")
        assert "not searched, because not in the cache: API docs" in pilot.app.notices.history[-1].text


@pytest.mark.slow
async def test_a_file_is_replaced_on_all_pages_that_show_it(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    pages = (
        page("Map", "![Plan](/plan.png) and `![code](/plan.png)`"),
        page("Limits", '<img src="plan.png">\n\n[a](b.png)'),
    )
    await merged(client, file("plan.png", PNG), *pages)
    picture, words = tmp_path / "plan.png", tmp_path / "words.txt"
    picture.write_bytes(PNG + b"new")
    words.write_text("words")

    async def asked(pilot: Any, path: Path) -> None:
        await pilot.press(".")
        await until(pilot, shows="replace the file")
        await pilot.press("f")
        await until(pilot, shows="Replace plan.png by a local file, at most 1.0 MB: its path")
        pilot.app.focused.value = str(path)
        await pilot.press("enter")

    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await pilot.press(".", "f")
        await until(pilot, shows="find and replace: works in Files (2), not here")
        await pilot.press("2")
        await until(pilot, shows="2 pages")
        await asked(pilot, words)
        await until(pilot, shows="words.txt is not an image")
        labels = [(draft.label, draft.space) for draft in drafts(pilot.app.engine.outbox.drafts())]
        assert labels == [("path of a file that replaces another: plan.png", SPACE)]
        await asked(pilot, picture)
        await until(pilot, shows="2 hits on 2 pages chosen", holds=lambda: isinstance(pilot.app.screen, ReplaceScreen))
        await until(pilot, shows="plan.png → plan-2.png")
        await until(pilot, shows="/plan.png/plan-2.png) and `![code](/plan.png)`")
        await pilot.press("ctrl+s")
        await until(pilot, shows="Replace 2 hits on 2 pages in a new change request: subject")
        await until(pilot, shows="Uploads plan-2.png. The former file stays")
        await until(pilot, shows="Replace the file plan.png")
        await pilot.press("enter")
        await until(
            pilot,
            shows="replaced 2 hits on 2 pages in #",
            holds=lambda: not isinstance(pilot.app.screen, ReplaceScreen),
        )
        assert not pilot.app.engine.outbox.drafts()
        request = pilot.app.screen.session.model.path
        await pilot.press("q")
        await until(pilot, shows="Replace the file plan.png › Release notes › Links and files")
    found = {one.name: one for one in (await client.send(ListChangeRequestFiles(**request))).items}
    assert (found["plan-2.png"].size, found["plan.png"].size) == (len(PNG) + 3, len(PNG))
    texts = [(await page_of(client, request, title)).markdown for title in ("Map", "Limits")]
    assert texts == [
        "# Map\n\n![Plan](/plan-2.png) and `![code](/plan.png)`\n",
        '# Limits\n\n<img src="/plan-2.png">\n\n[a](b.png)\n',
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the opener may outlive the test
async def test_a_file_opens_in_its_program_or_its_address_is_copied(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await drafted(
        client, "Maps", file("plan.png", PNG), file("run.sh", b"echo"), page("Map", "![Plan](plan.png)")
    )
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(
        f'#!/bin/sh\ncp "$1" {tmp_path}/copy\necho "$1" > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/opened\n'
    )
    opener.chmod(opener.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{opener.parent}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.delenv("SSH_TTY", raising=False)
    log = tmp_path / "opened"
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, request=path["change_request_id"])
        await listed(pilot)
        await pilot.press("2")
        await until(pilot, shows="1 page")
        await pilot.press("enter")
        await pick(pilot, "Open")
        await until(pilot, holds=log.exists)
        assert log.read_text().strip().endswith("/plan.png")
        assert (tmp_path / "copy").read_bytes() == PNG
        log.unlink()
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpaceContentScreen))
        await pilot.press("j", "enter")
        await pick(pilot, "Open")
        await until(pilot, holds=log.exists)
        assert log.read_text().startswith("http"), "a script is shown by the browser, never run"
        monkeypatch.setenv("SSH_CONNECTION", "elsewhere")
        await pilot.press("k", "enter")
        await pick(pilot, "Open")
        await until(pilot, shows="Address, copied")
        await pilot.press("escape", "enter")
        await pick(pilot, "Where used")
        await pick(pilot, "Map")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="› Map")


@each_case(
    ("name", "reason"),
    [
        ("none", "there is no file"),
        ("", "is a directory"),
        ("large.bin", "has 1.0 MB: at most 1.0 MB"),
        ("empty.txt", "is empty"),
    ],
)
def test_invalid_uploads_are_rejected_with_a_reason(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(1_000_001))
    (tmp_path / "empty.txt").touch()
    with pytest.raises(PresscheckError, match=reason):
        read_upload(str(tmp_path / name))


def test_hostile_names_are_only_shown() -> None:
    file = RevisionFile(id="f", name=HOSTILE, content_type="image/png", download_url="http://x/f")
    page = RevisionPage(id="p", title=HOSTILE)
    targets = (
        ContentLocation(kind="url", url=f"{HOSTILE}.md"),
        ContentLocation(kind="url", url=f"https://example.org/{HOSTILE}"),
        ContentLocation(kind="file", file=file),
        ContentLocation(kind="page", page=page),
        ContentLocation(kind=HOSTILE),
    )
    texts = [*map(target_name, targets), target_kind(targets[-1]), markdown_of(file), local_name(file)]
    assert not [text for text in texts if ACTS.search(text)]
    assert "/" not in local_name(file)


def test_the_address_in_a_page_does_not_expire() -> None:
    signed = RevisionFile(
        id="f", name="a [b].png", content_type="image/png", download_url="http://x/f?expires=1&signature=2"
    )
    assert markdown_of(signed) == "![a \\[b\\].png](/a%20%5Bb%5D.png)"
    lasting = RevisionFile(id="f", name="a.pdf", content_type="application/pdf", download_url="https://x/a(1).pdf")
    assert markdown_of(lasting) == "[a.pdf](https://x/a%281%29.pdf)"
    assert address_in_page(lasting) == "https://x/a%281%29.pdf"
    assert [size_of(size) for size in (0, 999, 1000, 12_345, 1_000_000, 20_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "12 kB",
        "1.0 MB",
        "20 MB",
    ]
