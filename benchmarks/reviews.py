"""Times the comparison and drawing of a page, and the time until a change request of many pages can be read.

Usage: python -m benchmarks.reviews [--pages 10 100 500]. It uses the real service, socket, store and app.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from tests.documents.page_samples import Writer
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, running, shown

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.client.client import Client
from presscheck.documents.diff.page_diff import Mode, compare, difference_lines
from presscheck.tui.screens.review.screen import ReviewScreen

AT_ONCE = 50
"""Maximum number of changes in an operation."""
RUNS = 3


def compared(words: int = 5_000) -> None:
    """Print the processor time for a page with sixty edits, in each view."""
    writer = Writer(1)
    before = ""
    while len(before.split()) < words:
        before += writer.page(10) + "\n"
    after = writer.edited(before, 60)
    print(f"a page of {len(before.split()):,} words with 60 edits")
    views: tuple[Mode, ...] = ("prose", "split", "source")
    for view in views:
        durations: list[float] = []
        for _ in range(RUNS):
            start = process_time()
            difference_lines(compare(before, after), 120, mode=view)
            durations.append(process_time() - start)
        print(f"  {view:8}{median(durations) * 1000:7.0f} ms")


async def planted(service: RunningService, pages: int) -> ChangeRequest:
    """Create a change request that adds `pages` pages of a hundred words."""
    writer = Writer(pages)
    async with Client(service.base_url, service.token) as client:
        draft = await client.send(CreateChangeRequest(space_id="guides", subject=f"{pages} pages"))
        ids: dict[str, Any] = {"space_id": "guides", "change_request_id": draft.id}
        for first in range(0, pages, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, pages))
            changes = tuple(
                InsertPage(
                    title=f"Page {number}", document=Document(markdown=f"Text {number}. {writer.words(99, 99)}.")
                )
                for number in numbers
            )
            await client.send(EditChangeRequestContent(**ids, changes=changes, compat=False))
        return await client.send(UpdateChangeRequest(**ids, status="open"))


async def seconds_until(pilot: Any, holds: Callable[[], bool]) -> float:
    """Wait until a condition holds. Returns the seconds that this took."""
    start = perf_counter()
    while not holds():
        await pilot.pause(0.001)
    return perf_counter() - start


async def opened(service: RunningService, request: ChangeRequest, home: Path) -> tuple[float, float, float]:
    """Open a change request with an empty cache, and again.

    Returns:
        Seconds until the first page is shown, until the list is filled, and until the page is shown the second time.
    """
    async with running(app_on(service, home)) as pilot:
        await seconds_until(pilot, lambda: "Needs me" in shown(pilot.app))
        screen = ReviewScreen(request.space, request.id)
        start = perf_counter()
        await pilot.app.push_screen(screen)
        await seconds_until(pilot, lambda: "Text 0." in shown(pilot.app))
        read = perf_counter() - start
        rows = screen.query_one("#pages")
        await seconds_until(
            pilot,
            lambda: all(
                screen.session.texts.words(item) for item in screen.session.model.items[: rows.size.height - 1]
            ),
        )
        filled = perf_counter() - start
        pilot.app.pop_screen()
        start = perf_counter()
        await pilot.app.push_screen(ReviewScreen(request.space, request.id))
        await seconds_until(pilot, lambda: "Text 0." in shown(pilot.app))
        return read, filled, perf_counter() - start


async def of_sizes(sizes: list[int]) -> None:
    """Print the times for change requests of all sizes, measured in turn."""
    with tempfile.TemporaryDirectory() as place, running_service(Path(place), sample=True) as service:
        requests = {size: await planted(service, size) for size in sizes}
        print(f"{'pages':>6}  first page read  list filled  opened again")
        times: dict[int, list[tuple[float, float, float]]] = {size: [] for size in sizes}
        for number in range(RUNS):
            for size in sizes:
                home = Path(place) / f"home-{size}-{number}"
                times[size].append(await opened(service, requests[size], home))
        for size in sizes:
            read, filled, reopened = (median(column) * 1000 for column in zip(*times[size], strict=True))
            print(f"{size:6}{read:12.0f} ms{filled:12.0f} ms{reopened:11.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[10, 100, 500])
    options = parser.parse_args()
    compared()
    asyncio.run(of_sizes(options.pages))


if __name__ == "__main__":
    main()
