"""Updates, merges and reverts, while another user merges and reviews between key presses."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import At, main_moves, page_of, somebody
from tests.tui.app_driver import app_on, open_review, running, shown, until

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest, SubmitReview
from presscheck.api.content import ListChangeRequestPages, ListPages, RevisionPage
from presscheck.api.roles import MergeRuleChange, MergeRulesChange
from presscheck.api.spaces import UpdateSpace
from presscheck.client.client import Client

LIMITS = {"space_id": "api", "change_request_id": "4"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}


pytestmark = pytest.mark.usefixtures("at_once")


async def status(client: Client, at: At) -> str:
    return (await client.send(GetChangeRequest(**at))).status


@pytest.mark.slow
async def test_change_request_is_updated_and_merged_while_another_user_merges(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia", "noor") as (mia, noor):
        await open_review(pilot, LIMITS)
        await main_moves(mia, "api", "Scopes", "read only", "read alone")
        await pilot.press("ctrl+r")
        await until(pilot, shows="main has new changes")
        await pilot.press("u")
        await until(pilot, shows="No conflicts with main.")
        await main_moves(mia, "api", "Errors", "a sentence that may", "a sentence that does")
        await pilot.press("y")
        await until(pilot, shows="updated from main")
        for title, words in (("Scopes", "read alone"), ("Errors", "a sentence that does")):
            assert words in (await page_of(noor, LIMITS, title)).markdown, "what was merged last is there too"
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        assert "type: 4" not in shown(pilot.app)
        await main_moves(mia, "api", "Limits", "</details>", "</details>\n\nDo not ask us.")
        await pilot.press("y")
        await until(pilot, shows="not merged: the change request has changed")
        await until(pilot, shows="conflicts with main in Limits")
        assert await status(mia, LIMITS) == "open"
        await pilot.press("m")
        await until(pilot, shows="type: 4")
        await pilot.press("y", "enter")
        assert await status(mia, LIMITS) == "open", "yes alone is not enough"
        await pilot.press("m")
        await until(pilot, shows="type: 4")
        await pilot.press("4", "enter")
        await until(pilot, shows="merged with conflicts")
        assert await status(mia, LIMITS) == "merged"


@pytest.mark.slow
async def test_a_merge_is_reverted_in_a_new_change_request(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        before = (await noor.send(ListPages(space_id="guides"))).pages
        await open_review(pilot, TYPOS)
        await pilot.press("Z")
        await until(pilot, shows="only a merged change request can be reverted")
        await noor.send(MergeChangeRequest(**TYPOS))
        assert (await noor.send(ListPages(space_id="guides"))).pages != before
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: pilot.app.screen.session.model.request.status == "merged")
        await pilot.press("Z")
        await until(pilot, shows="Revert #3?")
        assert "comparing with main" not in shown(pilot.app)
        await pilot.press("escape", "Z")
        await until(pilot, shows="Revert #3?")
        await pilot.press("y")
        await until(pilot, shows='› #5 Revert "')
        request = pilot.app.screen.session.model.request
        call = ListChangeRequestPages(space_id="guides", change_request_id=request.id)
        assert texts((await noor.send(call)).pages) == texts(before)


def texts(pages: tuple[RevisionPage, ...]) -> list[tuple[str, str | None]]:
    """Return title and document id of each page, in tree order."""
    return [row for page in pages for row in ((page.title, page.document_id), *texts(page.pages))]


@pytest.mark.slow
async def test_requested_changes_prevent_a_merge(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "robin", "jon") as (robin, jon):
        rules = MergeRulesChange(type="rules", rules=(MergeRuleChange(rule="require_all_reviews_approved"),))
        await robin.send(UpdateSpace(space_id="api", merge_rules=rules))
        await open_review(pilot, LIMITS)
        await until(pilot, shows="Can merge? ✓ yes")
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        await jon.send(SubmitReview(**LIMITS, status="changes-requested"))
        await pilot.press("y")
        await until(pilot, shows="All reviews must be approvals.")
        await until(pilot, shows="Can merge? ✗ no: Jón requested changes")
        await pilot.press("m", "W")  # no sheet opens
        await until(pilot, shows="can be fixed by the reviewers who requested changes")
        await jon.send(SubmitReview(**LIMITS, status="approved"))
        await pilot.press("ctrl+r")
        await until(pilot, shows="nobody requested changes")
        await pilot.press("q")
        await until(pilot, shows="Can merge? ✓ yes")
        assert await status(jon, LIMITS) == "open"
