"""Threads of a review: their positions, the list by state, and comments on table cells."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import review, shown, until, write
from tests.tui.change_request_factory import Begun, begun, rewritten

from presscheck.api.comments import Document, ListComments, PostComment, UpdateComment
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.nodes.comment_targets import find_block_key, find_cell

SUBJECT = "How long things last"
TEXT = """A token lasts as long as its kind says.

| Kind | Lasts | Notes |
| --- | --- | --- |
| Tokens | 90 days | renewed by use |
| Keys | 90 days | never renewed |

Ask before you make more than ten.
"""


pytestmark = pytest.mark.usefixtures("at_once")


async def nodes_of_page(service: RunningService, token: str, at: dict[str, Any], page: str) -> dict[str, Any]:
    [found] = await say(service, token, GetChangeRequestPage(**at, page_id=page, format="document"))
    return found.document


def below(pilot: Any, words: str) -> str:
    """Return the line below the first line that contains a text."""
    lines = shown(pilot.app).splitlines()
    return lines[next(number for number, line in enumerate(lines) if words in line) + 1]


@pytest.mark.slow
async def test_a_comment_on_a_cell_names_the_cell(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, SUBJECT, TEXT)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="never renewed")
        await write(pilot, "tab /", "never renewed", "enter", "c")
        await until(pilot, shows="Comment on which cell?")
        assert re.search(r"90 days +Lasts", shown(pilot.app))
        await pilot.press("down", "down", "enter")
        await until(pilot, shows="Keys › 90 days")
        await pilot.press(*"Is that so?", "ctrl+s")
        await until(pilot, holds=lambda: "Is that so?" in below(pilot, "never renewed"), shows="on “90 days”")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        [said] = (await say(service, mia, ListComments(**at, format="markdown")))[0].items
        ids = find_cell(await nodes_of_page(service, mia, at, page), ["Keys", "90 days", "never renewed"], 1)
        assert ids
        assert (said.target.table_cell.record, said.target.table_cell.definition) == tuple(ids)
        assert said.body.markdown.strip() == "> Keys › 90 days\n\nIs that so?"
        await pilot.press("G", "c")
        await until(pilot, shows="> Ask before you make more than ten.")
        await pilot.press(*"Whom?", "ctrl+s")
        await until(pilot, shows="Whom?")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        newest = (await say(service, mia, ListComments(**at)))[0].items[0]
        assert newest.target.node.id == find_block_key(
            await nodes_of_page(service, mia, at, page), "Ask before you make"
        )


@pytest.mark.slow
async def test_all_threads_are_listed_and_hidden_by_state(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, SUBJECT, TEXT)
    said = [
        PostComment(**at, page=page, body=Document(markdown=f"> {about}\n\n{text}"))
        for about, text in (("A token lasts", "How long?"), ("Ask before you make", "Whom?"), ("Keys ›", "All?"))
    ]
    first, *_ = await say(service, mia, *said, PostComment(**at, body=Document(markdown="Well done")))
    await say(service, mia, UpdateComment(**at, comment_id=first.id, resolved=True))
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="Whom?")
        await pilot.press("g", "t")
        await until(pilot, shows="1 ● open 3")
        await until(pilot, shows="2 ○ resolved 1")
        await rewritten(service, Begun(mia, at, page), TEXT.replace("Ask before", "Think before"))
        await pilot.press("ctrl+r")
        await until(pilot, shows="3 ↻ outdated 1")
        await pilot.press("3", "2")
        await until(pilot, shows="↻ outdated 1   hidden")
        assert "Whom?" not in shown(pilot.app)
        assert "How long?" not in shown(pilot.app)
        await pilot.press("1")
        await until(pilot, shows="All threads are hidden.")
        await pilot.press("1")
        await until(pilot, shows="Well done")
        await pilot.press("j", "enter")
        await until(pilot, shows="2 threads hidden: g t")
        rows = pilot.app.screen.query_one("#change")
        await until(
            pilot, holds=lambda: rows.has_focus and rows.cursor in pilot.app.screen.session.view.rendered.thread_of
        )
        assert "All?" in shown(pilot.app)
        assert "Whom?" not in shown(pilot.app)
        await pilot.press("g", "t", "3")
        await until(pilot, shows="Whom?")
        await pilot.press("G", "x")
        await until(pilot, shows="○ resolved 2")
        await pilot.press("q", "v", "b")
        await write(pilot, "C", "Held until then", "ctrl+s")
        await pilot.press("g", "t")
        await until(pilot, shows="✎ 1 not sent")
        held = next(line for line in shown(pilot.app).splitlines() if "✎ you" in line)
        assert held.rstrip().endswith("✎ in your review")
        await pilot.press("z")
        await until(pilot, holds=lambda: "not sent" not in shown(pilot.app))
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        states = {one.body.markdown.split()[-1]: one.status for one in (await listed(service, mia, at))}
        assert (states["Whom?"], states["All?"]) in (("resolved", "open"), ("open", "resolved"))


async def listed(service: RunningService, token: str, at: dict[str, Any]) -> Any:
    [found] = await say(service, token, ListComments(**at, format="markdown"))
    return found.items


async def test_t_also_goes_to_threads_of_the_conversation(service: RunningService, tmp_path: Path) -> None:
    mia, at, _ = await begun(service, SUBJECT, TEXT)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="Ask before you make more than ten.")
        await pilot.press("t")
        await until(pilot, shows="there are no threads")
        await say(service, mia, PostComment(**at, body=Document(markdown="For whom is it?")))
        await pilot.press("ctrl+r")
        await until(pilot, shows="1 open comment")
        await pilot.press("}", "t")
        await until(pilot, shows="For whom is it?")
        assert thread_here(pilot.app.screen)
        await pilot.press("t")
        await until(pilot, shows="this is the only thread")
        assert thread_here(pilot.app.screen)
        await pilot.press("x")
        await until(pilot, holds=lambda: not pilot.app.screen.session.model.open_threads())
        await pilot.press("g", "t", "2", "q")
        await pilot.press("t")
        await until(pilot, shows="all threads are hidden")


def thread_here(screen: Any) -> str:
    """Return the id of the thread at the cursor; empty if there is none."""
    return screen.session.view.rendered.thread_of.get(screen.session.view.line, "")
