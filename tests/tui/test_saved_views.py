"""Saved views of the inbox, stored in the settings file."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until, write

TABS = 1
"""Number of the line that shows the tabs."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "config.toml"


def rows_of(pilot: Any) -> list[str]:
    """Return the lines of the inbox with headings, without the preview."""
    lines = shown(pilot.app).splitlines()[4:]
    return [line for line in lines[: next(at for at, line in enumerate(lines) if "──" in line)] if line]


def numbers(pilot: Any) -> list[str]:
    """Return the number of each row, or the title of a heading."""
    found = [line.replace("▌", " ").replace("•", " ").replace("◆", " ") for line in rows_of(pilot)]
    return [line.split()[0][1:] if line.split()[0].startswith("#") else line.strip() for line in found]


def tabs(pilot: Any) -> str:
    return shown(pilot.app).splitlines()[TABS]


@pytest.mark.slow
async def test_a_filter_is_saved_as_a_view(service: RunningService, tmp_path: Path, file: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, "F", "space:api sort:-number", "enter")
        await until(pilot, holds=lambda: numbers(pilot) == ["5", "4", "2"])
        await pilot.press("M", "s")
        await until(pilot, shows="Save this view")
        await until(pilot, shows="name is empty")
        await pilot.press(*"API first", "enter")
        await until(pilot, shows="view API first saved")
        await until(pilot, shows="API first 3")
        assert numbers(pilot) == ["5", "4", "2"]
    assert tomllib.loads(file.read_text()) == {
        "views": [{"name": "API first", "query": "waiting:me space:api", "sort_by": "-number"}]
    }
    assert file.stat().st_mode & 0o777 == 0o600
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="API first 3")
        await pilot.press("9")
        await until(pilot, holds=lambda: numbers(pilot) == ["5", "4", "2"])


async def test_a_view_is_edited_in_place(service: RunningService, tmp_path: Path, file: Path) -> None:
    text = '# mine\n[[views]]\nname = "Busy"  # at work\nquery = "comments:>0"\n\n# next\n[profiles.other]\n'
    file.write_text(text)
    file.chmod(0o640)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Busy 4")
        await pilot.press("M", "e")
        await until(pilot, shows="this view is built in")
        await pilot.press("9", "M", "e")
        await until(pilot, shows="Edit this view")
        await pilot.press("end", *" API", "tab", *["backspace"] * 11, *"space:api", "tab", *"colour")
        await until(pilot, shows="sort_by must be one of updated, created")
        await pilot.press("enter", *["backspace"] * 6, *"-number", "tab", "space", "enter")
        await until(pilot, shows="view Busy API changed")
        await until(pilot, shows="Busy API 4")
        assert numbers(pilot) == ["API docs  4", *sorted(numbers(pilot)[1:], reverse=True)]
        assert len(numbers(pilot)) == 5
    assert file.read_text() == text.replace('"Busy"', '"Busy API"').replace('"comments:>0"', '"space:api"').replace(
        'space:api"\n', 'space:api"\nsort_by = "-number"\ngroup = "space"\n'
    )
    assert file.stat().st_mode & 0o777 == 0o640
