"""Profile settings for the first screen, the first view and the size of panes, and the last place of the app."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.table import each_case
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from tests.tui.mouse import drag
from tests.tui.widget_harness import alone
from textual.containers import Horizontal

from presscheck.store.outbox import Outbox
from presscheck.text.styled_text import Span
from presscheck.tui import navigation
from presscheck.tui.places import Place
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.ui.stored_choice import StoredChoice
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.pane_border import MIN_COLUMNS, PaneBorder
from presscheck.tui.widgets.row_list import RowList


@pytest.fixture
def sample(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True)


@pytest.mark.slow
async def test_the_app_can_start_at_its_last_place(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, first_screen="last")) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("enter")
        await until(pilot, shows="Can merge? ")
        left = pilot.app.screen.place().key
        await pilot.press("ctrl+q")
    async with running(app_on(sample, tmp_path, first_screen="last")) as pilot:
        await until(pilot, shows="Can merge? ", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        assert pilot.app.screen.place().key == left


@each_case("first", ["inbox", "last"])
async def test_the_app_reads_and_exits_without_errors_on_a_full_disk(
    sample: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    app, errors = app_on(sample, tmp_path, first_screen=first), list[str]()
    monkeypatch.setattr(app, "show_error", lambda error: errors.append(error.message))
    async with running(app) as pilot:
        app.engine.outbox._db.execute("PRAGMA query_only = 1")
        await inbox_loaded(pilot)
        if first == "last":
            await pilot.press("enter")
            await until(pilot, shows="Can merge? ")
        await pilot.press("ctrl+q")
        assert app.return_value == 0
    assert (app._exception, errors) == (None, [])


async def test_an_unknown_first_view_is_reported_and_another_view_is_shown(
    sample: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(sample, tmp_path, first_view="Mein\x1b[31m"), (200, 40)) as pilot:
        await until(pilot, shows="first_view: no view is named Mein")
        await until(pilot, shows="there are Needs me, Mine")
        await inbox_loaded(pilot)
        assert pilot.app.screen.session.model.view.id == "needs-me"


@each_case(
    ("stored", "place"),
    [
        ('["review", "api", "5"]', Place.review("api", "5")),
        ('["outbox"]', Place("outbox")),
        ('["batch", "1"]', Place("inbox")),
        ('["review"]', Place("inbox")),
        ("{", Place("inbox")),
        ('"x"', Place("inbox")),
        ("7", Place("inbox")),
        (None, Place("inbox")),
    ],
)
def test_an_unreadable_last_place_is_the_inbox(stored: str | None, place: Place) -> None:
    assert navigation._read_place(stored) == place


def test_a_choice_in_the_app_overrides_the_setting_until_the_setting_changes(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox")
    choice = StoredChoice(outbox, "width", 60)
    assert (choice.value, choice.is_setting) == ("60", True)
    choice.store("43")
    assert (choice.value, choice.is_setting) == ("43", False)
    assert StoredChoice(outbox, "width", 60).value == "43"
    assert StoredChoice(outbox, "width", 70).value == "70"
    assert StoredChoice(outbox, "width").value == "", "there is no setting any more"
    outbox.close()


async def test_a_pane_has_the_width_of_the_settings_if_it_fits() -> None:
    pane = RowList(lambda at, _columns: (Span(f"row {at}"),))
    border = PaneBorder(pane)
    async with alone(Horizontal(pane, border, TextView()), size=(160, 10)) as pilot:
        border.use_setting(104)
        await until(pilot, holds=lambda: pane.size.width == 104)
        await pilot.resize_terminal(120, 10)
        border.screen_resized()
        await until(pilot, holds=lambda: pane.styles.width is None or pane.size.width < 104)
        await pilot.resize_terminal(160, 10)
        border.screen_resized()
        await until(pilot, holds=lambda: pane.size.width == 104)
        border.set_columns(150)
        await until(pilot, holds=lambda: pane.size.width == 160 - MIN_COLUMNS - 1)


@pytest.mark.slow
async def test_the_preview_has_the_side_and_size_of_the_settings(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, preview_side="right", preview_size=60)) as pilot:
        await inbox_loaded(pilot)
        preview = pilot.app.screen.query_one("#preview")
        assert preview.size.width == 120 * 60 // 100 - 1
        _, beside = pilot.app.screen.query(PaneBorder)
        await drag(pilot, beside, (0, 3), (10, 3), (20, 3))
        await until(pilot, holds=lambda: preview.size.width == 51)
        await pilot.press("|")
        await until(pilot, holds=lambda: preview.size.width == 120)
        assert preview.size.height == round((40 - 4 - 1) * 0.6) - 1
    # a choice in the app overrides the setting until the setting changes
    for settings, width in ((("right", 60), 120), (("right", 30), 120), (("below", 60), 120), ((None, None), 120)):
        async with running(app_on(sample, tmp_path, preview_side=settings[0], preview_size=settings[1])) as pilot:
            await inbox_loaded(pilot)
            assert pilot.app.screen.query_one("#preview").size.width == width, settings
