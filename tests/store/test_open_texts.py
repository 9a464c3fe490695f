"""Texts left open in an editor by a process that has ended become drafts; those of running processes do not."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.store.open_texts import LEFT, OpenText, take_left_texts
from presscheck.store.outbox import Outbox
from presscheck.tui.app_context import AppContext
from presscheck.tui.external_programs import edit_text

KEY, ABOUT = "review r edit p", {"page": "Tokens", "space": "api"}


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    opened = Outbox(tmp_path / "default.sqlite")
    yield opened
    opened.close()


def leave_open_text(outbox: Outbox, text: str, *, name: str = "") -> Path:
    """Create the files that a killed process leaves of a text that was `Before.` when it was opened.

    Args:
        outbox: the outbox whose drafts the text belongs to.
        text: the text in the file at the time of the kill.
        name: name of a newer file beside it, saved by the editor, with one more line.

    Returns:
        The directory of the files.
    """
    opened = OpenText(DraftSlot(outbox, KEY, about=ABOUT, beside={"review r base p": "Base."}), "Before.\n", ".md")
    opened.file.write_text(text)
    if name:
        written = opened.file.with_name(name)
        written.write_text(f"{text}More.\n")
        os.utime(written, (2e9, 2e9))
    opened._lock.release()
    return opened.file.parent


def stored(outbox: Outbox) -> dict[str, str]:
    return {draft.key: draft.text for draft in outbox.drafts()}


def test_changed_text_becomes_a_draft_with_its_base(outbox: Outbox) -> None:
    assert take_left_texts(outbox) == 0
    directory = leave_open_text(outbox, "After.\n")
    assert directory.stat().st_mode & 0o77 == outbox.open_texts.stat().st_mode & 0o77 == 0
    assert take_left_texts(outbox) == 1
    assert stored(outbox) == {KEY: "After.\n", "review r base p": "Base."}
    assert outbox.drafts()[0].about == ABOUT
    assert [*outbox.open_texts.iterdir()] == []
    assert take_left_texts(outbox) == 0


@pytest.mark.parametrize("text", ["Before.\n", "Before.", "", " \n"])
def test_unchanged_or_empty_text_is_discarded(outbox: Outbox, text: str) -> None:
    outbox.save_draft(KEY, "Mine.")
    leave_open_text(outbox, text)
    assert take_left_texts(outbox) == 0
    assert stored(outbox) == {KEY: "Mine."}
    assert [*outbox.open_texts.iterdir()] == []


def test_error_names_the_folder_if_the_text_cannot_be_written(outbox: Outbox) -> None:
    outbox.open_texts.touch()
    app = cast(AppContext, None)  # the error is raised before the app is used
    with pytest.raises(PresscheckError, match=r"stored for the editor: Could not use the folder .*\.editor: File"):
        edit_text(app, "Before.\n", lambda _: None, DraftSlot(outbox, KEY))


def test_text_of_a_running_process_is_not_taken(outbox: Outbox) -> None:
    opened = OpenText(DraftSlot(outbox, KEY), "Before.\n", ".md")
    opened.file.write_text("Half a sen")
    assert take_left_texts(outbox) == 0
    assert opened.file.read_text() == "Half a sen"
    opened.remove()
    assert [*outbox.open_texts.iterdir()] == []


def test_left_text_does_not_replace_a_newer_draft(outbox: Outbox) -> None:
    directory = leave_open_text(outbox, "After.\n")
    outbox.save_draft(KEY, "Continued elsewhere.", ABOUT)
    assert take_left_texts(outbox) == 1
    assert stored(outbox) == {KEY: "Continued elsewhere.", f"{LEFT}{directory.name}": "After.\n"}


@pytest.mark.parametrize("name", ["text.md.save", "#text.md#"])
def test_emergency_save_of_an_editor_is_taken(outbox: Outbox, name: str) -> None:
    leave_open_text(outbox, "After.\n", name=name)
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "After.\nMore.\n"


def test_swap_file_of_vim_is_kept(outbox: Outbox) -> None:
    directory = leave_open_text(outbox, "After.\n", name=".text.md.swp")
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "After.\n"
    assert (directory / ".text.md.swp").exists()
    assert take_left_texts(outbox) == 0


def test_damaged_records_are_skipped(outbox: Outbox) -> None:
    directory = leave_open_text(outbox, "After.\n")
    (directory / "draft.json").write_text("{")
    leave_open_text(outbox, "Other.\n")
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "Other.\n"
    assert (directory / "text.md").read_text() == "After.\n"
