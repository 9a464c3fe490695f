"""Write screenshots/ from the running app on the sample workspace; run it with `make screenshots`."""

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # tests.root can be imported only after the next line
sys.path.insert(0, str(ROOT))

from tests.running_service import running_service  # noqa: E402
from tests.tui.app_driver import app_on, running, until  # noqa: E402

PLACES = {
    "inbox": ((), "Needs me"),
    "review": (("enter",), "Can merge?"),
    "browse": (("g", "o", "j", "j", "l", "j", "j"), "Authentication"),
    "publish": (("g", "p"), "Sites"),
}


async def draw(name: str, theme: str) -> None:
    keys, shows = PLACES[name]
    with tempfile.TemporaryDirectory() as home, running_service(Path(home), sample=True) as service:
        async with running(app_on(service, Path(home), theme=theme), (120, 32)) as pilot:
            await until(pilot, shows="✗")
            await pilot.press(*keys)
            await until(pilot, shows=shows)
            await pilot.pause(1)
            picture = pilot.app.export_screenshot(title="presscheck")
            (ROOT / "screenshots" / f"{name}-{theme}.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    for theme in ("ink", "paper"):
        for name in PLACES:
            asyncio.run(draw(name, theme))
