"""Saved views of the inbox, stored in the settings file."""

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until, write

from presscheck.tui.widgets.row_list import RowList

TABS = 1
"""The line of the tabs."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "config.toml"


def rows_of(pilot: Any) -> list[str]:
    """The rows of the inbox, with headings, without the preview."""
    lines = shown(pilot.app).splitlines()[4:]
    return [line for line in lines[: next(at for at, line in enumerate(lines) if "──" in line)] if line]


def numbers(pilot: Any) -> list[str]:
    """The number of each row, or the title of a heading."""
    found = [line.replace("▌", " ").replace("•", " ").replace("◆", " ") for line in rows_of(pilot)]
    return [line.split()[0][1:] if line.split()[0].startswith("#") else line.strip() for line in found]


def tabs(pilot: Any) -> str:
    return shown(pilot.app).splitlines()[TABS]


@pytest.mark.slow
async def test_a_saved_view_is_a_tab_with_its_count(service: RunningService, tmp_path: Path, file: Path) -> None:
    file.write_text('[[views]]\nname = "Busy"\nquery = "comments:>0"\nsort = "-number"\n[[views]]\nname = "Empty"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Waiting for author  Busy 4  Empty 10")
        await pilot.press("9")
        await until(pilot, holds=lambda: len(rows_of(pilot)) == 4)
        found = [int(one) for one in numbers(pilot)]
        assert found == sorted(found, reverse=True)
        await pilot.press("l")
        await until(pilot, holds=lambda: len(rows_of(pilot)) == 10)
        await pilot.press("l", "l")
        await until(pilot, holds=lambda: len(rows_of(pilot)) == 7)


@pytest.mark.slow
async def test_a_filter_is_saved_as_a_view(service: RunningService, tmp_path: Path, file: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, "F", "space:api sort:-number", "enter")
        await until(pilot, holds=lambda: numbers(pilot) == ["5", "4", "2"])
        await pilot.press("M", "s")
        await until(pilot, shows="Save this view")
        assert "name is empty" in shown(pilot.app)
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


@pytest.mark.slow
async def test_a_saved_view_shows_the_same_rows_as_its_original(
    service: RunningService, tmp_path: Path, file: Path
) -> None:
    queries = {
        "2": "author:me",
        "3": "involved:me",
        "4": "",
        "5": "status:draft",
        "6": "status:merged",
        "7": "status:archived",
    }
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Merged 4")
        for key in queries:
            await pilot.press("1")
            await until(pilot, holds=lambda: len(rows_of(pilot)) == 7)
            await pilot.press(key)
            await until(pilot, holds=lambda: "Nobody" not in shown(pilot.app) and len(rows_of(pilot)) != 7)
            await until(pilot, holds=lambda: all(number.isdigit() for number in numbers(pilot)))
            before = numbers(pilot)
            await write(pilot, "M s", f"Same as {key}", "enter")
            await until(pilot, shows=f"Same as {key} {len(before)}")
            assert numbers(pilot) == before, key
    assert tomllib.loads(file.read_text())["views"] == [
        {"name": f"Same as {key}"} | ({"query": query} if query else {}) for key, query in queries.items()
    ]


@pytest.mark.slow
async def test_an_invalid_name_is_refused_with_a_reason(service: RunningService, tmp_path: Path, file: Path) -> None:
    file.write_text('[[views]]\nname = "Busy"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Busy 10")
        for typed, says in (
            ("", "name is empty: enter a name"),
            ("busy", "name is already used by another view"),
            ("ALL OPEN", "name is the name of a built-in view"),
            ("drafts", "name is the name of a built-in view"),
            ("x" * 41, "name is too long: at most 40 characters"),
        ):
            await write(pilot, "M s", typed)
            await until(pilot, shows=says)
            await pilot.press("enter")
            await until(pilot, shows=says)
            await pilot.press("escape")
            await until(pilot, holds=lambda says=says: says not in shown(pilot.app))
    assert file.read_text() == '[[views]]\nname = "Busy"\n'


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


@pytest.mark.slow
async def test_a_view_is_removed_after_a_confirmation(service: RunningService, tmp_path: Path, file: Path) -> None:
    text = '# a\n[[views]]\nname = "One"\n\n# b\n[[views]]\nname = "Two"\n'
    file.write_text(text)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="One 10")
        await pilot.press("M", "d")
        await until(pilot, shows="this view is built in")
        await pilot.press("9", "M", "d")
        await until(pilot, shows="Remove the view One?")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Remove the view" not in shown(pilot.app))
        assert file.read_text() == text, "the default answer is no"
        await pilot.press("M", "d")
        await until(pilot, shows="Remove the view One?")
        await pilot.press("y")
        await until(pilot, shows="view One removed")
        assert "One" not in tabs(pilot)
        assert "Two" in tabs(pilot)
    assert file.read_text() == '# a\n\n# b\n[[views]]\nname = "Two"\n'


@pytest.mark.slow
async def test_an_invalid_view_is_reported_and_others_work(service: RunningService, tmp_path: Path, file: Path) -> None:
    file.write_text('[[views]]\nname = "Bad"\nquery = "colour:red"\n[[views]]\nname = "Good"\nquery = "space:api"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="config.toml:3: views.1.query is invalid: colour: unknown filter")
        await until(pilot, shows="Good 4")
        assert "Bad" not in tabs(pilot)
        await pilot.press("!")
        await until(pilot, shows="views.1.query")


@pytest.mark.slow
async def test_a_file_that_cannot_be_read_does_not_stop_the_start(
    service: RunningService, tmp_path: Path, file: Path
) -> None:
    file.write_text("[[views]\n")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="is not valid TOML")
        await inbox_loaded(pilot)
        await write(pilot, "M s", "Mine too", "enter")
        await until(pilot, shows="is not valid TOML: run `presscheck config check` for details")
    assert file.read_text() == "[[views]\n"


@pytest.mark.slow
async def test_the_cursor_skips_headings_and_only_rows_are_marked(
    service: RunningService, tmp_path: Path, file: Path
) -> None:
    file.write_text('[[views]]\nname = "By space"\nquery = "reviewer:me"\ngroup = "space"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="By space 7")
        await pilot.press("9")
        await until(pilot, holds=lambda: len(rows_of(pilot)) > 7)
        rows = pilot.app.screen.query_one(RowList)
        headings = [at for at in range(rows.count) if rows.key and rows.key(at) is None]
        assert len(headings) == rows.count - 7 >= 2
        assert rows.cursor == 1
        seen = [rows.cursor]
        for _ in range(6):
            await pilot.press("j")
            seen.append(rows.cursor)
        assert seen == [at for at in range(rows.count) if at not in headings]
        await pilot.press("g", "g")
        assert rows.cursor == 1
        await pilot.press("V", "G", "V")
        await until(pilot, shows="7 marked")
        await pilot.press("escape", "*")
        await until(pilot, shows="7 marked")
        await pilot.press("escape", "g", "g", "space", "space")
        await until(pilot, shows="2 marked")
        await pilot.press("D")
        await until(pilot, shows="By space 5")
        await pilot.press("z")
        await until(pilot, shows="By space 7")
        await pilot.press("k", "k", "k", "k", "k", "k", "k", "k", "enter")
        await until(pilot, shows="Can merge?")


@pytest.mark.slow
async def test_a_saved_view_can_be_filtered(service: RunningService, tmp_path: Path, file: Path) -> None:
    file.write_text('[[views]]\nname = "API"\nquery = "space:api"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="API 4")
        await write(pilot, "9 F", "comments:>0", "enter")
        await until(pilot, holds=lambda: "API 4" not in tabs(pilot) and "API " in tabs(pilot))
        count = len(rows_of(pilot))
        assert 0 < count < 4
        await write(pilot, "M s", "Both", "enter")
        await until(pilot, shows=f"Both {count}")
    assert tomllib.loads(file.read_text())["views"][1] == {"name": "Both", "query": "space:api comments:>0"}


@pytest.mark.slow
async def test_the_current_tab_is_visible_in_a_narrow_terminal(
    service: RunningService, tmp_path: Path, file: Path
) -> None:
    file.write_text("\n".join(f'[[views]]\nname = "A view of mine {number}"' for number in range(5)))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        assert "Needs me" in tabs(pilot)
        before = tabs(pilot).rstrip()
        assert before.endswith("›"), "tabs that do not fit are not cut"
        await pilot.press("space")
        await until(pilot, shows="marked")
        assert before.startswith(tabs(pilot).partition("›")[0].rstrip()), "nor are they beside the number of marks"
        await pilot.press("space")
        await pilot.press("h")
        await until(pilot, holds=lambda: "A view of mine 4 10" in tabs(pilot))
        assert tabs(pilot).startswith("‹")
        await pilot.press("9")
        await until(pilot, holds=lambda: "A view of mine 0 10" in tabs(pilot))
        await pilot.resize_terminal(260, 24)
        await until(pilot, holds=lambda: "›" not in tabs(pilot))


@pytest.mark.slow
async def test_ten_thousand_rows_below_headings_are_read_by_window(
    service: RunningService, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('[[views]]\nname = "All"\nsort = "-number"\ngroup = "space"\n')
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="All 10")
    [cache] = (tmp_path / "cache").glob("*.sqlite")
    _grow(cache, 10_000)
    service.stop()
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="offline")
        asked: list[int] = []
        rows_of_store = pilot.app.engine.rows
        monkeypatch.setattr(
            pilot.app.engine,
            "rows",
            lambda listing, places: asked.append(len(places)) or rows_of_store(listing, places),
        )
        await pilot.press("9")
        await until(pilot, shows="All 10,010" if "10,010" in shown(pilot.app) else "All 10010")
        await pilot.press("G")
        await until(pilot, holds=lambda: pilot.app.screen.query_one(RowList).cursor > 10_000)
        assert len(asked) <= 8
        assert max(asked) <= 100
    service.start()


def _grow(cache: Path, count: int) -> None:
    """Add this number of open change requests to the store, in two spaces."""
    with closing(sqlite3.connect(cache)) as store, store:
        key = next(
            key
            for (key,) in store.execute("SELECT key FROM answers WHERE key LIKE 'listChangeRequestsForOrganization %'")
            if json.loads(key.partition(" ")[2]).keys() == {"organization_id", "status"} and '"open"' in key
        )
        number, generation, total = store.execute(
            "SELECT number, generation, total FROM answers WHERE key = ?", (key,)
        ).fetchone()
        for at in range(count):
            space = ("api", "guides")[at % 2]
            thing = {"object": "change-request", "id": f"x{at}", "number": 100 + at, "space": space, "subject": "One"}
            store.execute("INSERT INTO resources VALUES ('change-request', ?, ?)", (f"x{at}", json.dumps(thing)))
            row = (number, generation, total + at, "change-request", f"x{at}", None)
            store.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", row)
        store.execute("UPDATE answers SET total = ? WHERE key = ?", (total + count, key))
