"""The built-in editor of pages, with real keys against the real service."""

import asyncio
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.change_request_factory import Begun, begun, rewritten
from tests.tui.keyboard import burst, seen
from tests.tui.markdown_editor import TEXT, editing, editor, is_editing
from textual import events

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.service import nodes_conversion
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.blocks import BLOCKS, CURSOR
from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

pytestmark = pytest.mark.service(shared=True)


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def editor_drafts(pilot: Any) -> list[str]:
    """Return the stored drafts of page texts."""
    rows = pilot.app.engine.outbox._db.execute("SELECT text FROM drafts WHERE key LIKE '%edit %'").fetchall()
    return [text for (text,) in rows]


async def there(service: RunningService, one: Begun) -> str:
    [page] = await say(service, one.token, GetChangeRequestPage(**one.at, page_id=one.page, format="markdown"))
    return (page.markdown or "").partition("\n\n")[2].strip()


@pytest.mark.slow
async def test_a_page_is_edited_previewed_and_saved(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_more(markdown: str, *given: Any) -> dict[str, Any]:
        tree = markdown_to_nodes(markdown, *given)
        more = [{"object": "block", "type": kind, "data": {}, "nodes": []} for kind in ("poll", "drawing")]
        return {**tree, "nodes": [*tree["nodes"], *more]}

    text = f"Write {{\\% if visitor %}} in a line.\n\n{TEXT.strip()}"
    one = await begun(service, "Longer tokens", text)
    async with editing(service, tmp_path, one) as pilot:
        assert "no changes" in shown(pilot.app)
        assert "Write {% if visitor %} in a line." in shown(pilot.app)
        await pilot.press("ctrl+end", "enter", *"Ask **Mia**.")
        await until(pilot, shows="draft saved")
        await until(pilot, holds=lambda: "Ask Mia." in shown(pilot.app))  # only the preview is without the marks
        await pilot.press("ctrl+o")
        await until(pilot, holds=lambda: "Ask Mia." not in shown(pilot.app))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Lasting: +1 −0 lines")
        await pilot.press("d")
        await until(pilot, shows="+Ask **Mia**.")
        await pilot.press("n")
        await until(pilot, shows="your draft is kept")
        await pilot.press("ctrl+z", "ctrl+s")
        await until(pilot, shows="no changes")
        await pilot.press("ctrl+y", "ctrl+s")
        await until(pilot, shows="Lasting: +1 −0 lines")
        await pilot.press("y")
        await until(pilot, shows="saved to the change request")
        assert await there(service, one) == f"{text}\n\nAsk **Mia**.", "other lines are as they were"
        assert not editor_drafts(pilot)
        # stands for a service whose pages have blocks without a Markdown form
        monkeypatch.setattr(nodes_conversion, "markdown_to_nodes", with_more)
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await pilot.press("ctrl+home", "down", "down", *"Please: ", "ctrl+s")
        await until(pilot, shows="It was text, and becomes a tag: Please: Write {% if visitor %}")
        sheet = " ".join(shown(pilot.app).replace("│", " ").split())
        assert "Not in the Markdown of the service, so saving removes it: poll, drawing" in sheet
        await pilot.press("n")


@pytest.mark.slow
async def test_draft_is_stored_at_every_key_and_merged_when_opened_again(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Kept drafts", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        for typed in ("N", "No", "Now"):
            await pilot.press(typed[-1])
            await until(pilot, holds=lambda typed=typed: any(draft.startswith(typed) for draft in editor_drafts(pilot)))
        await rewritten(service, one, TEXT.replace("for ever", "a year"))
        await pilot.press("escape")
        await until(pilot, shows="not saved: your text is kept as a draft")
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:  # after a new start, merged with another edit
        await until(pilot, shows="Needs me")
        await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Lasting")
        await pilot.press("e")
        await until(pilot, shows="Now# Lasting")
        await until(pilot, shows="A key lasts a year.")
        assert "▌" not in shown(pilot.app), "a narrow terminal has no preview beside the text"
        await pilot.press("ctrl+o")
        await until(pilot, shows="▌")
        await pilot.press("escape")
        await until(pilot, holds=lambda: is_editing(pilot))


@pytest.mark.slow
async def test_keys_resolve_only_the_conflict_at_the_cursor(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Sides", TEXT)
    async with editing(service, tmp_path, one, (80, 24)) as pilot:
        area = editor(pilot).area
        await pilot.press(
            "down", "down", "end", "backspace", *" at most.", "down", "down", "end", "backspace", *", so."
        )
        theirs = TEXT.replace("30 days", "60 days").replace("for ever", "a year")
        await rewritten(service, one, theirs)
        await pilot.press("ctrl+s")
        await until(pilot, shows="conflicts: alt+m mine, alt+t theirs, alt+a both")
        assert area.document.get_line(area.cursor_location[0]) == "A token lasts 30 days at most."
        assert await there(service, one) == theirs.strip(), "nothing was overwritten"
        await pilot.press("ctrl+z")
        assert "<<<<<<<" in area.text, "undoing the merge and saving would overwrite the other edit"
        conflicts = area.text
        for key, left in (
            ("alt+m", ["30 days at most"]),
            ("alt+a", ["30 days at most", "60 days"]),
            ("f3", ["60 days"]),
        ):
            area.text = conflicts
            await pilot.press("ctrl+home", key)
            assert area.text.count("<<<<<<<") == 2, "a side of a conflict that the cursor is not in is not taken"
            await until(pilot, shows="conflicts: ")
            await pilot.press(key)
            await until(pilot, shows="1 more conflict")
            assert area.document.get_line(area.cursor_location[0]) == "A key lasts for ever, so.", key
            burst(pilot, key, "ctrl+s")
            await until(pilot, shows="Save to the change request?" if key != "f3" else "no changes")
            text = area.text
            assert [words for words in ("30 days at most", "60 days") if words in text] == left, key
            assert not re.search("<<<|===|>>>", text), key
            assert "it still has" not in shown(pilot.app).lower(), key
            if key != "f3":
                await pilot.press("n")
                await until(pilot, holds=lambda: is_editing(pilot))


@pytest.mark.parametrize("is_burst", [False, True], ids=["slowly", "in a burst"])
async def test_a_damaged_conflict_marker_is_not_saved(service: RunningService, tmp_path: Path, is_burst: bool) -> None:
    one = await begun(service, f"Damaged {is_burst}", TEXT)
    async with editing(service, tmp_path, one, (80, 24)) as pilot:
        area = editor(pilot).area
        await pilot.press("down", "down", "end", "backspace", *" at most.")
        await rewritten(service, one, TEXT.replace("30 days", "60 days"))
        await pilot.press("ctrl+s")
        await until(pilot, shows=" conflict: ")
        assert area.cursor_location == (3, 0), "what is typed next is no part of the marker"
        keys = ("up", "e", "ctrl+home", "ctrl+s")
        if is_burst:
            burst(pilot, *keys)
        else:
            await pilot.press(*keys)
        await until(pilot, shows="not saved: line 3 is a damaged conflict marker")
        await until(pilot, holds=lambda: area.cursor_location == (2, 0))
        assert not isinstance(pilot.app.screen, ConfirmDialog)
        assert await there(service, one) == TEXT.replace("30 days", "60 days").strip()
        await pilot.press("alt+t")
        await until(pilot, shows="took theirs: no conflict is left")
        assert area.text == f"# Lasting\n\n{TEXT.replace('30 days', '60 days')}"


@pytest.mark.slow
async def test_blocks_links_and_mentions_are_inserted(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Inserted", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        await until(pilot, holds=lambda: bool(editor(pilot)._pages and editor(pilot)._people))
        await pilot.press("ctrl+end", "enter", "enter", *"/warn")
        await seen(pilot, "Hint: warning")
        await pilot.press("tab", *"Mind.")
        await until(pilot, holds=lambda: '\n\n{% hint style="warning" %}\nMind.\n{% endhint %}' in area.text)
        await pilot.press("ctrl+end", "enter", "enter", *"See [[quick")
        await seen(pilot, "▌Quickstart")
        await pilot.press("tab", *" and [this](quick")
        await seen(pilot, "▌Quickstart")
        await pilot.press("tab", *", ask @mia")
        await seen(pilot, "▌Mia")
        await pilot.press("tab")
        await until(pilot, holds=lambda: area.text.rstrip().endswith('/~/users/mia "mention")'))
        assert "See [Quickstart](quickstart.md) and [this](quickstart.md), ask [Mia" in area.text
        await pilot.press("ctrl+l")
        await until(pilot, shows="Mention of a person")
        await pilot.press(*"expand", "enter")
        await until(pilot, holds=lambda: "<summary></summary>" in area.text)


@asynccontextmanager
async def reading_slowly(pilot: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Delay reads of the page until the end of the block, as on a slow connection."""
    goes_on, draft = asyncio.Event(), editor(pilot).draft
    read = draft._read_page

    async def read_later() -> Any:
        await goes_on.wait()
        return await read()

    with monkeypatch.context() as patched:
        patched.setattr(draft, "_read_page", read_later)
        yield
    goes_on.set()


@pytest.mark.slow
async def test_typed_text_is_kept_while_the_page_is_sent_refused_or_pending(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Typed on", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        await pilot.press("ctrl+end", "enter", *"Ask Mia.", "ctrl+s")
        await until(pilot, shows="Lasting: +1 −0 lines")
        async with reading_slowly(pilot, monkeypatch):
            await pilot.press("y")
            await until(pilot, holds=lambda: is_editing(pilot))
            await pilot.press(*" Or Jon.")
            await until(pilot, holds=lambda: editor(pilot).area.text.endswith("Ask Mia. Or Jon."))
        await until(pilot, shows="saved to the change request; what you typed since then is a draft")
        assert await there(service, one) == f"{TEXT.strip()}\n\nAsk Mia."
        assert [text.endswith("Ask Mia. Or Jon.") for text in editor_drafts(pilot)[-1:]] == [True]
        await pilot.press("ctrl+s")
        await until(pilot, shows="Lasting: +1 −2 lines")
        await pilot.press("y")
        await until(pilot, holds=lambda: not editor_drafts(pilot))
        assert await there(service, one) == f"{TEXT.strip()}\n\nAsk Mia. Or Jon."
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await pilot.press(*"Now ")
        await say(service, one.token, UpdateChangeRequest(**one.at, status="archived"))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Save to the change request?")
        await pilot.press("y")
        await until(pilot, shows="✗")
        assert is_editing(pilot)
        assert editor_drafts(pilot), "the draft stays"
        service.stop()
        try:
            cast("PresscheckApp", pilot.app).engine.refresh()
            await until(pilot, shows="offline")
            await pilot.press("ctrl+s")
            await until(pilot, shows="Save to the change request?")
            await pilot.press("y")
            await until(pilot, shows="pending (g x shows it): sent and merged when the service is back")
            assert not editor_drafts(pilot)
        finally:
            service.start()


@pytest.mark.slow
async def test_each_editor_can_be_chosen(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Chosen", TEXT)
    has_run = tmp_path / "has-run"
    monkeypatch.setenv("VISUAL", shlex.join(["touch", str(has_run)]))
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A key lasts for ever.")
        await pilot.press("e")
        await until(pilot, holds=has_run.exists)
        assert not any(isinstance(screen, MarkdownEditor) for screen in pilot.app.screen_stack)
        await pilot.press(".", "e")
        await until(pilot, holds=lambda: is_editing(pilot))
        script = tmp_path / "editor.py"
        script.write_text(
            "import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\nfile.write_text(file.read_text() + 'Outside.')"
        )
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))
        await pilot.press("ctrl+e")
        await until(pilot, shows="Outside.")
        await pilot.press("ctrl+z")
        await until(pilot, holds=lambda: "Outside." not in editor(pilot).area.text)


@pytest.mark.slow
async def test_a_paste_of_400_kilobytes_does_not_freeze(service: RunningService, tmp_path: Path) -> None:
    # the text area of Textual needs minutes for this paste
    one = await begun(service, "Long", TEXT)
    async with editing(service, tmp_path, one) as pilot:

        async def kept(start: str) -> None:
            """Wait until a draft with this start is stored, without reading the screen."""
            async with asyncio.timeout(60):
                while not any(draft.startswith(start) for draft in editor_drafts(pilot)):  # noqa: ASYNC110  # a file
                    await asyncio.sleep(0.05)

        pilot.app.post_message(events.Paste("word " * 80_000))
        await kept("word word")
        await pilot.press("end", "up", "ctrl+home", *"typed")
        await kept("typedword word")


def test_each_template_produces_its_kind_of_block() -> None:
    kinds = {
        "hint": "hint", "warning": "hint", "danger": "hint", "success": "hint", "tabs": "tabs", "stepper": "stepper",
        "columns": "columns", "cards": "table", "code": "code", "table": "table", "math": "math",
        "expandable": "expandable", "quote": "blockquote", "tasks": "list-tasks", "embed": "embed",
        "download": "file", "divider": "divider",
    }  # fmt: skip
    found = {block.name: markdown_to_nodes(block.text.replace(CURSOR, "x")) for block in BLOCKS}
    assert {name: document["nodes"][0]["type"] for name, document in found.items()} == kinds


@pytest.mark.slow
async def test_files_and_images_of_the_space_are_inserted(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "With files", TEXT)
    files = (
        NewFile(name="auth flow.png", base64="iVBORw0KGgo=", content_type="image/png"),
        NewFile(name="auth.pdf", base64="JVBERg==", content_type="application/pdf"),
    )
    await say(service, one.token, EditChangeRequestContent(**one.at, changes=(InsertFiles(files=files),), compat=False))
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        await pilot.press("ctrl+end", "enter", "enter", *"See [[auth.")
        await seen(pilot, "▌auth.pdf")
        await pilot.press("tab", *", ![[auth")
        await seen(pilot, "▌auth flow.png")
        assert "auth.pdf   " not in shown(pilot.app), "an image is no other file"
        await pilot.press("tab", *", ![The flow](auth")
        await seen(pilot, "▌auth flow.png")
        await pilot.press("tab", *', <img src="auth')
        await seen(pilot, "▌auth flow.png")
        await pilot.press("tab", *'">', "enter", "enter", *'{% file src="auth.p')
        await seen(pilot, "▌auth.pdf")
        await pilot.press("tab", *'" %}', "enter", "enter", "ctrl+l")
        await until(pilot, shows="Image of the space")
        await pilot.press(*"image", "enter")
        await until(pilot, shows="auth flow.png  ")
        await pilot.press("enter")
        image = "/auth%20flow.png"
        await until(pilot, holds=lambda: area.text.endswith(f"![auth flow]({image})"))
        line = f'See [auth.pdf](/auth.pdf), ![auth flow]({image}), ![The flow]({image}), <img src="{image}">'
        assert f'{line}\n\n{{% file src="/auth.pdf" %}}' in area.text
