"""The keys for the next and the previous change visit all changes of a review, across its pages."""

from pathlib import Path
from typing import Any

from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import review, until
from tests.tui.change_request_factory import edited

from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage

SUBJECT = "Two pages"
LONG = "\n\n".join(["First.", *(f"Same {number}." for number in range(40)), "Last."])


def under_cursor(pilot: Any) -> str:
    change = pilot.app.screen.session.view.change
    return "".join(segment.text for segment in change.render_line(change.cursor - change.top)).strip(" ▌~+−\n")


async def test_next_and_previous_change_skip_no_change_at_the_ends_of_pages(
    service: RunningService, tmp_path: Path
) -> None:
    after = LONG.replace("First.", "First here.").replace("Last.", "Last here.")
    mia, at, _ = await edited(service, SUBJECT, LONG, after, title="Page 0")
    page = InsertPage(title="Page 1", document=Document(markdown="Another.\n"))
    await say(service, mia, EditChangeRequestContent(**at, changes=(page,), compat=False))
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="First here.")
        ahead = ["First here.", "Last here.", "Page 1"]
        for text in ahead:
            await pilot.press("]")
            await until(pilot, holds=lambda text=text: under_cursor(pilot).endswith(text))
        await pilot.press("]")
        await until(pilot, shows="this is the last page")
        for text in reversed(ahead[:-1]):
            await pilot.press("[")
            await until(pilot, holds=lambda text=text: under_cursor(pilot).endswith(text))
