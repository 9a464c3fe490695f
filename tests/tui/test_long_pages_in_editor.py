"""The built-in editor with a page of 5,000 lines, and the wrapping of lines."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import until
from tests.tui.change_request_factory import begun
from tests.tui.markdown_editor import editing, editor
from textual.widgets import TextArea

from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.styled_text import plain
from presscheck.tui.screens.markdown_editor import area as area_module
from presscheck.tui.screens.markdown_editor.area import WrappedText, fence_below

pytestmark = pytest.mark.service(shared=True)


@pytest.mark.slow
async def test_a_key_reads_only_a_few_lines_of_a_long_page(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only lines near the cursor are read and drawn, so that the cost of a key does not grow with the page."""
    conflict = "<<<<<<< change request\nmine\n=======\ntheirs\n>>>>>>> live\n\n"
    sections = "".join(f"## Section {number}\n\nLine {number} of many.\n\n" for number in range(1_250))
    one = await begun(service, "Read", f"A key lasts for ever.\n\n{conflict}{sections}")
    read: list[str] = []

    def counted(fence: str, line: str) -> str:
        read.append(line)
        return fence_below(fence, line)

    monkeypatch.setattr(area_module, "fence_below", counted)
    async with editing(service, tmp_path, one) as pilot:
        await pilot.press("ctrl+f", *"Line 700 ", "enter", "right")
        await until(pilot, holds=lambda: editor(pilot)._split is not None and "Line 700 of" in shown_preview(pilot))
        before, page = editor(pilot)._split, editor(pilot)._preview.document
        read.clear()
        await pilot.press("X")
        await until(pilot, holds=lambda: "Line 700 Xof" in shown_preview(pilot))
        after, drawn = editor(pilot)._split, editor(pilot)._preview.document
        assert before is not None and after is not None and isinstance(drawn, PageLines) and drawn is not page
        assert len(read) < 200, "the colors of visible lines"
        assert len(drawn.blocks) < 200, "the preview"
        reused = {id(block) for block in before.blocks}
        assert sum(id(block) not in reused for block in after.blocks) < 40 < len(after.blocks) - 2_400


def shown_preview(pilot: Any) -> str:
    """Return the visible text of the preview."""
    preview = editor(pilot)._preview
    lines = preview.document.lines if preview.document else []
    return "\n".join(plain(line) for line in lines[preview.top : preview.top + preview.size.height])


@pytest.mark.parametrize("text", ["one two three", "öne two three"], ids=["ASCII", "other letters"])
@pytest.mark.parametrize("width", range(5, 9))
def test_no_wrapped_line_starts_with_a_blank(text: str, width: int) -> None:
    wrapped = WrappedText(TextArea(text).document, width)
    lines = wrapped.get_sections(0)
    assert len(lines) > 1
    assert not any(line.startswith(" ") for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= width
