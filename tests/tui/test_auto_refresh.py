"""The background refresh: it starts while the user is idle, and pauses on key presses."""

from pathlib import Path

import pytest
from tests.engine.mirror_samples import planted
from tests.running_service import running_service
from tests.tui.app_driver import app_on, running, until

from presscheck.engine.shared_calls import live_page
from presscheck.tui import auto_refresh


@pytest.mark.slow
async def test_unread_pages_are_synced_while_the_user_is_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_refresh, "IDLE", 3600.0)
    monkeypatch.setattr(auto_refresh, "POLL", 0.05)
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service") as service:
        world = await planted(service)
        app = app_on(service, tmp_path / "home", sync=True)
        async with running(app) as pilot:
            await until(pilot, shows="live")
            await until(pilot, holds=lambda: app._background_refresh is not None)
            page = live_page(world.guide, world.pages[-1])
            assert app.engine.known(page) is None, "not while a key was pressed a moment ago"
            await app._background_refresh.close()
            monkeypatch.setattr(auto_refresh, "IDLE", 0.0)
            app._background_refresh.start()
            await until(pilot, holds=lambda: app.engine.known(page) is not None)
