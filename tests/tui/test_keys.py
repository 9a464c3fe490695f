"""The table of commands and the sequences of keys."""

from pathlib import Path

from presscheck.tui.commands import COMMANDS, key_table
from presscheck.tui.keys import Keys
from presscheck.tui.navigation import Navigation
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.browse import Browse
from presscheck.tui.screens.inbox import Inbox
from presscheck.tui.screens.outbox import Outbox
from presscheck.tui.screens.pane_commands import PaneCommands
from presscheck.tui.screens.publish import Publish
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.history import HistoryActions, ReviewComparison
from presscheck.tui.screens.review.merge_actions import MergeActions
from presscheck.tui.screens.review.navigation import ReviewNavigation
from presscheck.tui.screens.review.request_actions import RequestActions
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.screens.review.thread_list_screen import ThreadListActions
from presscheck.tui.screens.review.verdict_actions import VerdictActions

NEVER_ALONE = {"ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+z", "ctrl+\\", "f10", "f11"}


REVIEW_PARTS = (
    CommentActions,
    HistoryActions,
    MergeActions,
    RequestActions,
    ReviewComparison,
    ReviewNavigation,
    SuggestionActions,
    ThreadListActions,
    VerdictActions,
)


def test_one_meaning_per_key() -> None:
    keys = [key for command in COMMANDS for key in command.keys]
    assert len(keys) == len(set(keys))


def test_no_command_hangs_on_a_key_that_terminals_take() -> None:
    assert not [command.name for command in COMMANDS if set(command.keys) <= NEVER_ALONE]


def test_no_sequence_is_hidden_by_a_shorter_one() -> None:
    keys = {tuple(key.split(" ")) for command in COMMANDS for key in command.keys}
    assert not [one for one in keys for length in range(1, len(one)) if one[:length] in keys]


def test_a_sequence_needs_all_its_keys() -> None:
    keys = Keys()
    assert keys.press("g") is None
    assert {"g", "i", "o", "p"} <= {found.key for found in keys.continuations()}
    found = keys.press("g")
    assert found is not None
    assert found.name == "top"
    assert keys.pending == ()


def test_a_key_that_continues_nothing_starts_afresh() -> None:
    keys = Keys()
    keys.press("g")
    found = keys.press("j")
    assert found is not None
    assert found.name == "down"


def test_the_key_table_of_the_readme_is_current() -> None:
    places = (Navigation, BaseScreen, PaneCommands, Inbox, Browse, Publish, *REVIEW_PARTS, Outbox)
    done = {one.name for one in COMMANDS if any(hasattr(place, f"command_{one.name}") for place in places)}
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert len(done) > 40
    assert key_table(done | {one.name for one in COMMANDS if one.scope == "composer"}) in readme
