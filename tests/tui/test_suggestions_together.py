"""All open suggestions of a change request, applied as one edit of each page, while others edit too."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import all_sent, review, shown, until
from tests.tui.change_request_factory import Begun, begun, rewritten

from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage

SUBJECT = "How long things last"
TEXT = "A token lasts.\n\nA key stays.\n\nAsk before you make more.\n"


pytestmark = pytest.mark.usefixtures("at_once")


def suggestion(about: str, words: str) -> Document:
    return Document(markdown=f"> {about}\n\n```suggestion\n{words}\n```")


async def suggested(service: RunningService) -> tuple[Begun, str]:
    """Create a change request with suggestions of two users on two pages, two of them for the same block.

    Returns:
        The change request with its first page, and the id of the second page.
    """
    one = await begun(service, SUBJECT, TEXT)
    more = InsertPage(title="More", document=Document(markdown="More is more.\n"))
    _, tree = await say(
        service,
        one.token,
        EditChangeRequestContent(**one.at, changes=(more,), compat=False),
        ListChangeRequestPages(**one.at),
    )
    other = next(page.id for page in tree.pages if page.title == "More")
    ada = token_of(service, "ada")
    await say(
        service,
        one.token,
        PostComment(**one.at, page=one.page, body=suggestion("A token lasts", "A token lasts a day.")),
        PostComment(**one.at, page=one.page, body=suggestion("Ask before you make", "Ask.")),
        PostComment(**one.at, page=one.page, body=suggestion("A key stays", "A key stays forever.")),
    )
    await say(
        service,
        ada,
        PostComment(**one.at, page=one.page, body=suggestion("Ask before you make", "Do not ask.")),
        PostComment(**one.at, page=other, body=suggestion("More is more", "Less is more.")),
    )
    return one, other


async def text_of(service: RunningService, one: Begun, page: str) -> str:
    call = GetChangeRequestPage(**one.at, page_id=page, format="markdown")
    [found] = await say(service, one.token, call)
    return (found.markdown or "").partition("\n\n")[2].strip()  # without its title


async def states(service: RunningService, one: Begun) -> dict[str, str]:
    """Return the status of each comment, by the text that it suggests."""
    [found] = await say(service, one.token, ListComments(**one.at, format="markdown"))
    return {(comment.body.markdown or "").split("\n")[3]: comment.status for comment in found.items}


@pytest.mark.slow
async def test_all_suggestions_are_applied_and_conflicts_are_named(service: RunningService, tmp_path: Path) -> None:
    one, other = await suggested(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="suggestion:")
        await pilot.press("A")
        await until(pilot, shows="Apply 3 of 5 suggestions to 2 pages?")
        await until(pilot, shows="conflict: Ada suggested", holds=lambda: "text for the same block" in shown(pilot.app))
        await rewritten(service, one, TEXT + "\nOne more.\n")
        await pilot.press("y")
        await until(pilot, shows="somebody just changed this page: s applies them to its new text")
        await until(pilot, shows="1 thread resolved")
        assert await text_of(service, one, other) == "Less is more."
        await pilot.press("s")
        await until(pilot, shows="2 threads resolved; not “suggestion: Ask.”: conflict")
        await all_sent(pilot)
    expected = "A token lasts a day.\n\nA key stays forever.\n\nAsk before you make more.\n\nOne more."
    assert await text_of(service, one, one.page) == expected
    found = await states(service, one)
    assert {words for words, status in found.items() if status == "open"} == {"Ask.", "Do not ask."}


async def test_threads_that_the_role_may_not_resolve_stay_open(service: RunningService, tmp_path: Path) -> None:
    one, _ = await suggested(service)
    async with review(service, tmp_path, SUBJECT, token=token_of(service, "noor")) as pilot:
        await until(pilot, shows="suggestion:")
        await pilot.press("l", "t")
        await until(pilot, holds=lambda: pilot.app.screen.session.view.is_on_thread)
        await pilot.press("x")
        await until(pilot, shows="only Mia or an admin of the space can resolve it")
        await pilot.press("U")
        await until(pilot, shows="The thread stays open: only Mia or an admin of the space can resolve it.")
        await pilot.press("y")
        await until(pilot, shows="suggestion applied; the thread stays open: only Mia")
        await pilot.press("U")
        await until(pilot, shows="nothing to apply: the page already has this text")
        await pilot.press("g", "t")
        await until(pilot, shows="1 ● open 5")
        await pilot.press("x")
        await until(pilot, shows="only Mia or an admin of the space can resolve it")
        await pilot.press("A")
        await until(pilot, shows="Apply 2 of 5 suggestions to 2 pages?")
        await pilot.press("y")
        await until(pilot, shows="1 suggestion applied; the thread stays open: only Ada or an admin")
        assert pilot.app.engine.waiting() == (), "nothing was sent that the service refuses"
    assert set((await states(service, one)).values()) == {"open"}
