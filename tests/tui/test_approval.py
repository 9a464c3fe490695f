"""An approval names the pages that were not viewed, as many as fit."""

from types import SimpleNamespace
from typing import Any

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.users import User
from presscheck.engine.review.changes import ChangedItem
from presscheck.text.styled_text import join_fitting, plain
from presscheck.tui.screens.review.verdict_actions import VerdictActions


def test_names_that_do_not_fit_are_counted() -> None:
    assert join_fitting(["Tokens", "Errors", "Scopes"], 30) == "Tokens, Errors, Scopes"
    assert join_fitting(["Tokens", "Errors", "Scopes"], 22) == "Tokens, Errors, Scopes"
    assert join_fitting(["Tokens", "Errors", "Scopes"], 21) == "Tokens and 2 more"
    assert join_fitting(["A very long title", "b"], 16) == "A ve… and 1 more"
    assert join_fitting([], 9) == ""


def test_an_approval_names_the_pages_that_were_not_viewed() -> None:
    unviewed = [ChangedItem(str(number), "page", f"Page {number}", ("edited",)) for number in range(20)]
    progress = SimpleNamespace(missing="")
    model = SimpleNamespace(request=None, me="robin", whole_progress=lambda: progress, unviewed=lambda: unviewed)
    session: Any = SimpleNamespace(model=model, screen=None, drafts=SimpleNamespace(disabled_reason=lambda: None))
    actions = VerdictActions(session)
    assert [plain(line) for line in actions._notes(60)] == ["⚠ 20 pages not viewed: Page 0, Page 1, Page 2 and 17 more"]
    assert actions.warnings() == ["20 pages not viewed"]
    unviewed.append(ChangedItem("logo", "file", "logo.svg", ("added",)))
    progress.missing = "1 page is missing"
    assert actions.warnings() == ["1 page is missing", "21 changes not viewed"]
    assert [plain(line)[:20] for line in actions._notes(80)] == ["⚠ 1 page is missing", "⚠ 21 changes not vie"]
    unviewed.clear()
    model.request = ChangeRequest(id="5", created_by=User(id="robin", display_name="Robin"))
    model.space = None
    assert actions.warnings() == ["yours: does not count", "1 page is missing"]
