"""An approval: one line, the pages that were not viewed by name, and the composer one key away."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say, somebody, token_of
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write
from tests.tui.change_request_factory import begun
from textual.widgets import TextArea

from presscheck.api.change_requests import ListReviews, SubmitReview
from presscheck.api.comments import Document, PostComment
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.text.styled_text import join_fitting

AUTH = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


@pytest.mark.slow
async def test_an_approval_is_one_line_and_names_what_was_not_viewed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("v", "a")
        await until(pilot, shows="⚠ 4 pages not viewed: ")
        line = next(line for line in shown(pilot.app).splitlines() if "4 pages not viewed" in line)
        assert all(title in line for title in ("Tokens", "Scopes", "Sessions", "Errors")), line
        await pilot.press("escape")
        await until(pilot, holds=lambda: "not viewed" not in shown(pilot.app))
        await pilot.press("g", "g", "j", "space", "space", "space")
        await until(pilot, shows="· 3 viewed")
        await write(pilot, "v a", "Well")
        await until(pilot, shows="⚠ 1 page not viewed: ")
        await pilot.press("ctrl+e")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await until(pilot, shows="Well")
        await pilot.press("enter", *"done", "escape")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        await write(pilot, "v a", "")  # a draft of several lines is continued in the composer
        await until(pilot, shows="the draft is kept")
        assert "done" in shown(pilot.app)
        await pilot.press("backspace", *["backspace"] * 4, "escape")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        await write(pilot, "v a", ".", "enter")
        await all_sent(pilot)
        await until(pilot, shows="✓2 ✗1")
        [newest] = [one for one in (await mia.send(ListReviews(**AUTH))).items if one.reviewer.id == "robin"]
        assert newest.status == "approved"
        assert newest.comment is not None
        assert (newest.comment.body.markdown or "").strip() == "Well."


@pytest.mark.slow
async def test_many_pages_are_counted_in_the_width(service: RunningService, tmp_path: Path) -> None:
    token, at, _ = await begun(service, "A long manual", "First.\n", title="Page 0")
    pages = tuple(InsertPage(title=f"Page {number}", document=Document(markdown="x\n")) for number in range(1, 20))
    await say(service, token, EditChangeRequestContent(**at, changes=pages, compat=False))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await open_review(pilot, at)
        await pilot.press("v", "a")
        await until(pilot, shows="⚠ 20 pages not viewed: Page 0, ")
        line = next(line for line in shown(pilot.app).splitlines() if "not viewed" in line)
        named, _, more = line.partition(" and ")
        assert f"{20 - named.count('Page ')} more" in more, line


@pytest.mark.slow
async def test_an_approval_of_the_author_is_no_approval(service: RunningService, tmp_path: Path) -> None:
    _, at, _ = await begun(service, "Approved by its author", "First.\n", by="robin")
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, at)
        await write(pilot, "v a", "Fine")
        await until(pilot, shows="Approve your own change request (does not count)")
        await pilot.press("ctrl+e")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await until(pilot, shows="Approve your own change request (does not count)")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="open ✓ by the author")
        await mia.send(SubmitReview(**at, status="approved"))
        await pilot.press("ctrl+r", "g", "g")
        await until(pilot, shows="open ✓1 ✓ by the author")
        await until(pilot, shows="you  approved as the author: does not count")


def test_names_are_cut_with_a_count() -> None:
    assert join_fitting(["Tokens", "Errors", "Scopes"], 30) == "Tokens, Errors, Scopes"
    assert join_fitting(["Tokens", "Errors", "Scopes"], 22) == "Tokens, Errors, Scopes"
    assert join_fitting(["Tokens", "Errors", "Scopes"], 21) == "Tokens and 2 more"
    assert join_fitting(["A very long title", "b"], 16) == "A ve… and 1 more"
    assert join_fitting([], 9) == ""


@pytest.mark.slow
async def test_the_text_of_a_review_is_no_open_comment(service: RunningService, tmp_path: Path) -> None:
    _, at, _ = await begun(service, "Parcels by night", "By night.\n")
    ada = token_of(service, "ada")
    verdict = SubmitReview(**at, status="approved", comment=Document(markdown="Short and good."))
    await say(service, ada, PostComment(**at, body=Document(markdown="By day?")), verdict)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await write(pilot, "4 F", "parcels by night", "enter")
        await until(pilot, shows="1 open comment")
        assert "2 open" not in shown(pilot.app)
        await pilot.press("enter")
        await until(pilot, shows="Can merge? ⚠ with warnings: 1 open comment")
        await pilot.press("g", "g")
        await until(pilot, shows="Short and good.", holds=lambda: "✓ approved" in shown(pilot.app))
        await pilot.press("W")
        await until(pilot, shows="1 open comment")
        await until(pilot, shows="By day?")
        assert "Short and good." not in shown(pilot.app), "nobody has to resolve it"
        await pilot.press("q", "g", "t")
        await until(pilot, shows="1 ● open 1     2 ○ resolved 0     3 ↻ outdated 0     4 ¶ review 1")
        await pilot.press("4")
        await until(pilot, holds=lambda: "Short and good." not in shown(pilot.app))
        await pilot.press("4", "j", "x")
        await all_sent(pilot)
        await until(pilot, shows="2 ○ resolved 1     3 ↻ outdated 0     4 ¶ review 0")
