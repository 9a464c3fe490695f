"""Texts that an ended process left in the user's editor become drafts; those of a running process are left alone."""

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


def left(outbox: Outbox, text: str, *, name: str = "") -> Path:
    """What a killed process leaves of a text that was `Before.` when it was opened; returns the directory."""
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


def test_a_changed_text_is_a_draft_with_the_text_that_it_was_edited_from(outbox: Outbox) -> None:
    assert take_left_texts(outbox) == 0
    directory = left(outbox, "After.\n")
    assert directory.stat().st_mode & 0o77 == outbox.open_texts.stat().st_mode & 0o77 == 0
    assert take_left_texts(outbox) == 1
    assert stored(outbox) == {KEY: "After.\n", "review r base p": "Base."}
    assert outbox.drafts()[0].about == ABOUT
    assert [*outbox.open_texts.iterdir()] == []
    assert take_left_texts(outbox) == 0


@pytest.mark.parametrize("text", ["Before.\n", "Before.", "", " \n"])
def test_a_text_without_changes_or_words_is_no_draft(outbox: Outbox, text: str) -> None:
    outbox.save_draft(KEY, "Mine.")
    left(outbox, text)
    assert take_left_texts(outbox) == 0
    assert stored(outbox) == {KEY: "Mine."}
    assert [*outbox.open_texts.iterdir()] == []


def test_a_text_that_cannot_be_stored_for_the_editor_is_an_error_that_names_the_folder(outbox: Outbox) -> None:
    outbox.open_texts.touch()
    app = cast(AppContext, None)  # never asked for its terminal
    with pytest.raises(PresscheckError, match=r"stored for the editor: Could not use the folder .*\.editor: File"):
        edit_text(app, "Before.\n", lambda _: None, DraftSlot(outbox, KEY))


def test_a_text_that_is_still_open_is_left_alone(outbox: Outbox) -> None:
    opened = OpenText(DraftSlot(outbox, KEY), "Before.\n", ".md")
    opened.file.write_text("Half a sen")
    assert take_left_texts(outbox) == 0
    assert opened.file.read_text() == "Half a sen"
    opened.remove()
    assert [*outbox.open_texts.iterdir()] == []


def test_a_draft_that_was_continued_since_stays(outbox: Outbox) -> None:
    directory = left(outbox, "After.\n")
    outbox.save_draft(KEY, "Continued elsewhere.", ABOUT)
    assert take_left_texts(outbox) == 1
    assert stored(outbox) == {KEY: "Continued elsewhere.", f"{LEFT}{directory.name}": "After.\n"}


@pytest.mark.parametrize("name", ["text.md.save", "#text.md#"])
def test_what_an_editor_saved_when_its_terminal_was_gone_is_taken(outbox: Outbox, name: str) -> None:
    left(outbox, "After.\n", name=name)
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "After.\nMore.\n"


def test_a_recovery_file_of_vim_is_kept(outbox: Outbox) -> None:
    directory = left(outbox, "After.\n", name=".text.md.swp")
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "After.\n"
    assert (directory / ".text.md.swp").exists()
    assert take_left_texts(outbox) == 0


def test_damaged_records_are_passed_over(outbox: Outbox) -> None:
    directory = left(outbox, "After.\n")
    (directory / "draft.json").write_text("{")
    left(outbox, "Other.\n")
    assert take_left_texts(outbox) == 1
    assert stored(outbox)[KEY] == "Other.\n"
    assert (directory / "text.md").read_text() == "After.\n"
