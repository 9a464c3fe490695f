"""Threads of a review: their positions, the list by state, and comments on table cells."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, review, running, shown, until, write
from tests.tui.change_request_factory import Begun, begun, rewritten

from presscheck.api.comments import Document, ListComments, PostComment, TableCellTarget, UpdateComment
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.documents.nodes.comment_targets import find_block_key, find_cell
from presscheck.tui.places import Place

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
    """The line below the one with this text."""
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
        await until(pilot, shows="on “90 days”")
        assert "Is that so?" in below(pilot, "never renewed")
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
async def test_the_delimiter_row_of_a_table_is_no_target(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, SUBJECT, TEXT.replace("| Keys |", "| |"))
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="never renewed")
        await pilot.press("d", "d")
        await until(pilot, shows="| --- |")
        await write(pilot, "tab /", "---", "enter", "c")
        await until(pilot, shows="Comment on which cell?")
        await until(pilot, shows="Notes")
        await pilot.press("down", "down", "enter")
        await until(pilot, shows="> Kind › Lasts")
        await pilot.press(*"In days?", "ctrl+s")
        await until(pilot, holds=lambda: "In days?" in below(pilot, "| Kind | Lasts |"))
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await write(pilot, "/", ["backspace"] * 3, *"never renewed", "enter", "c")
        await until(pilot, shows="(empty cell)")
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, shows="> › never renewed")
        await pilot.press(*"Why?", "ctrl+s")
        await until(pilot, holds=lambda: "Why?" in below(pilot, "never renewed"))
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        newest = (await say(service, mia, ListComments(**at)))[0].items[0]
        assert newest.target.table_cell is not None
        assert newest.target.page.id == page


CELLS = """| Kind | Lasts | Pattern | 備考 | Renewed | Shared |
| --- | --- | --- | --- | --- | --- |
| Tokens | 90 days | `a \\| b` | 更新は自動 | yes | yes |
| Twins | 1 day | x | x | yes | no |
| Twins | 2 days | x | x | yes | yes |
"""
SUGGESTED = (
    (1, "90 days", "30 days or | less", r"30 days or \| less"),
    (2, r"`a \| b`", "`a | c`", r"`a \| c`"),
    (3, "更新は自動", "手動\n毎年", "手動<br>毎年"),
    (5, "yes", "", ""),
)
"""A column, the text of its cell, what the reviewer writes in its place, and what is in the page then."""


async def comment_on_cell(pilot: Any, row: str, number: int) -> Any:
    """Comment on a cell of a row, or on the whole row (0); the text area, after the key that suggests."""
    await write(pilot, "/", row, "enter")
    await until(pilot, holds=lambda: not pilot.app.screen.query("FindBar"))
    await pilot.press("c")
    await until(pilot, shows="Comment on which cell?")
    await pilot.press(*["down"] * number, "enter")
    await until(pilot, shows="ctrl+g suggest")
    await pilot.press("ctrl+g")
    return pilot.app.screen.query_one("TextArea")


@pytest.mark.slow
async def test_a_suggestion_for_a_cell_changes_that_cell_alone(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, SUBJECT, CELLS)

    async def text() -> str:
        call = GetChangeRequestPage(**one.at, page_id=one.page, format="markdown")
        return (await say(service, one.token, call))[0].markdown

    before = await text()
    async with review(service, tmp_path / "mia", SUBJECT, token=one.token) as pilot:
        await until(pilot, shows="更新は自動")
        await pilot.press("tab")
        for column, old, new, _ in SUGGESTED:
            area = await comment_on_cell(pilot, "Tokens", column + 1)
            assert area.selected_text == old
            area.replace("- a list\n- of two", *area.selection)
            await until(pilot, shows="a table cell holds text only")
            area.undo()
            await pilot.press("ctrl+g")
            area.replace(new, *area.selection)
            await pilot.press("ctrl+s")
            await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await comment_on_cell(pilot, "2 days", 5)
        await until(pilot, shows="another cell reads the same: comment on the whole row")
        await pilot.press("x", "escape", "c")
        await until(pilot, shows="Comment on which cell?")
        await pilot.press("enter", "ctrl+g")
        await until(pilot, shows="```suggestion")
        assert "another cell" not in shown(pilot.app), "the row has a draft of its own"
    async with review(service, tmp_path / "robin", SUBJECT) as pilot:  # only an admin may resolve threads of others
        await until(pilot, shows="30 days or")
        await pilot.press("tab", "t")
        await until(pilot, holds=lambda: pilot.app.screen.disabled_reason("use_suggestion") is None)
        await pilot.press("U")
        await until(pilot, shows="Only this cell of the table changes.")
        await pilot.press("y")
        await until(pilot, shows="suggestion applied")
        assert await text() == before.replace("| 90 days |", r"| 30 days or \| less |")
        await pilot.press("A")
        await until(pilot, shows="Apply 3 suggestions to 1 page?")
        await pilot.press("y")
        await until(pilot, shows="3 threads resolved")
    row = next(line for line in before.split("\n") if line.startswith("| Tokens"))
    cells = [cell for _, _, _, cell in SUGGESTED]
    assert await text() == before.replace(row, f"| Tokens | {cells[0]} | {cells[1]} | {cells[2]} | yes | {cells[3]} |")


@pytest.mark.slow
async def test_threads_are_below_their_block_or_cell(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, SUBJECT, TEXT)
    nodes = await nodes_of_page(service, mia, at, page)
    key, ids = find_block_key(nodes, "A token lasts"), find_cell(nodes, ["Tokens", "90 days", "renewed by use"], 2)
    assert ids
    cell = TableCellTarget(record=ids.record, definition=ids.definition)
    await say(
        service,
        mia,
        PostComment(**at, page=page, node=key, body=Document(markdown="Said in the browser")),
        PostComment(**at, page=page, table_cell=cell, body=Document(markdown="And this")),
    )
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="on “renewed by use”")
        assert "Said in the browser" in below(pilot, "A token lasts as long as its kind says.")
        assert "And this" in below(pilot, "Tokens")


@pytest.mark.slow
async def test_every_thread_is_in_one_list_by_state(service: RunningService, tmp_path: Path) -> None:
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


@pytest.mark.slow
async def test_the_next_thread_is_on_the_next_page_that_has_one(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, SUBJECT, TEXT)
    more = tuple(InsertPage(title=f"More {number}", document=Document(markdown="More.\n")) for number in range(3))
    await say(service, mia, EditChangeRequestContent(**at, changes=more, compat=False))
    [tree] = await say(service, mia, ListChangeRequestPages(**at))
    last = next(one.id for one in tree.pages if one.title == "More 2")
    await say(
        service,
        mia,
        PostComment(**at, page=page, body=Document(markdown="> A token lasts\n\nHow long?")),
        PostComment(**at, page=last, body=Document(markdown="More of what?")),
    )
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="How long?")
        await until(pilot, shows="Ask before you make more than ten.")  # the thread is in its place in the text
        await pilot.press("t")
        assert pilot.app.screen.session.view.thread.first.text.endswith("How long?")
        await pilot.press("t")
        await until(pilot, shows="More of what?")
        assert pilot.app.screen.session.view.item.title == "More 2"
        assert pilot.app.screen.session.view.thread.first.text == "More of what?"
        await pilot.press("t")
        await until(pilot, shows="continued at the first thread")
        assert pilot.app.screen.session.view.thread.first.text.endswith("How long?")
        await pilot.press("T")
        await until(pilot, shows="continued at the last thread")
        assert pilot.app.screen.session.view.thread.first.text == "More of what?"
        await pilot.press("T")
        assert pilot.app.screen.session.view.thread.first.text.endswith("How long?")


async def test_threads_of_the_conversation_belong_to_the_round(service: RunningService, tmp_path: Path) -> None:
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
    """The id of the thread under the cursor; empty beside a thread."""
    return screen.session.view.rendered.thread_of.get(screen.session.view.line, "")


@pytest.mark.slow
async def test_the_cursor_stays_on_a_thread_that_moves_to_its_place(service: RunningService, tmp_path: Path) -> None:
    mia, at, _ = await begun(service, SUBJECT, "Before the others.")
    insert = InsertPage(title="Longer", document=Document(markdown=TEXT))
    await say(service, mia, EditChangeRequestContent(**at, changes=(insert,), compat=False))
    [tree] = await say(service, mia, ListChangeRequestPages(**at))
    page = next(one.id for one in tree.pages if one.title == "Longer")
    nodes = await nodes_of_page(service, mia, at, page)
    places = [find_block_key(nodes, words) for words in ("A token lasts", "Ask before you make")]
    posts = [PostComment(**at, page=page, node=key, body=Document(markdown="Why?")) for key in places]
    made = [answer.id for answer in await say(service, mia, *posts)]
    answered = threading.Event()
    with holding_back(service, tmp_path, f"/content/page/{page}", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="Needs me")
            await pilot.app.go(Place.review(*at.values()))
            review = pilot.app.screen
            await until(
                pilot, shows="Before the others.", holds=lambda: len(review.session.threads.rows_with_threads()) == 1
            )
            await pilot.press("t")
            await until(pilot, shows="Loading the text", holds=lambda: bool(thread_here(review)))
            first, line = thread_here(review), review.session.view.line
            answered.set()
            await until(pilot, holds=lambda: review.session.view.rendered.first_line_of_thread(first) > line)
            assert thread_here(review) == first
        answered.clear()
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:  # now the text is in the store
            await until(pilot, shows="Needs me")
            await pilot.app.go(Place.review(*at.values()))
            review = pilot.app.screen
            await until(
                pilot, shows="Before the others.", holds=lambda: len(review.session.threads.rows_with_threads()) == 1
            )
            await pilot.press("t")
            await until(pilot, holds=lambda: bool(review.session.view.rendered.threads))
            first = thread_here(review)
            await pilot.press("t")
            assert {first, thread_here(review)} == {*made}
