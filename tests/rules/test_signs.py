"""Signs on the screens are in the table of signs, which the list of keys and the manual show."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.root import ROOT
from tests.rules.sources import nodes_of, tree_of
from tests.table import each_case

from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.outbox.screen import OutboxScreen
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.screens.sites.adaptive.audience_view import AudienceView
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen
from presscheck.tui.screens.sites.customization.screen import CustomizationScreen
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import SIGNS, legend

SOURCE = ROOT / "src" / "presscheck" / "tui"
NOT_SIGNS = {*"▌▐▸▾◂←→↑↗❤"}
"""Symbols that need no explanation: the cursor bar, fold markers, arrows, and an emoji for reactions."""
_symbol = re.compile("[\u2022\u2190-\u21ff\u2295-\u22bf\u25a0-\u27bf\u2b00-\u2bff\u25e6]")
ELSEWHERE = {"emoji.py", "comment_actions.py"}
"""Modules with emoji or with symbols that are not signs."""


def texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module, without docstrings."""
    tree = tree_of(path)
    statements = {id(node.value) for node in nodes_of(tree, ast.Expr)}
    for node in nodes_of(tree, ast.Constant):
        if isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def test_signs_on_screens_are_in_the_table() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if path.name not in ELSEWHERE]
    used = {(sign, path.name) for path in paths for text in texts(path) for sign in _symbol.findall(text)}
    assert not {(sign, name) for sign, name in used if sign not in SIGNS and sign not in NOT_SIGNS}


def test_signs_of_the_table_are_used() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if path.name != "signs.py"]
    text = "".join(text for path in paths for text in texts(path) if len(text) < 40)
    assert not [sign for sign in SIGNS if sign not in text]


def test_signs_have_distinct_meanings() -> None:
    assert len(set(SIGNS.values())) == len(SIGNS)


@each_case("screen", [InboxScreen, ReviewScreen, BrowseScreen, PublishScreen, OutboxScreen])
def test_legends_use_the_meanings_of_the_table(screen: type[BaseScreen]) -> None:
    signs = [(sign, words) for sign, words in screen.LEGEND if not sign.isdecimal()]
    assert signs == list(legend("".join(sign for sign, _ in signs)))


@each_case("screen", [AdaptiveContentScreen, AudienceView, CustomizationScreen])
def test_legends_with_their_own_meanings_use_signs_of_the_table(screen: type[BaseScreen]) -> None:
    assert {sign for sign, _ in screen.LEGEND} <= set(SIGNS)
