"""Declared lists: messages without rows, widths of columns, filters, and the tab that handles a command."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.tui.widget_harness import alone, drawn, shown

from presscheck.engine.results import Result
from presscheck.errors import Forbidden, NetworkError, NotSignedIn, NotSupported, PresscheckError
from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.commands import CommandTable
from presscheck.tui.ui.list import Column, List, layout
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.line_view import Match

SENT = "GET /sites"
DOWN, REFUSED = NetworkError("no answer", request=SENT), Forbidden("not for you", request=SENT, status=403)
UNKNOWN = NotSignedIn("who?", request=SENT, status=401)
MISSING = NotSupported("no such call", request=SENT, status=501)


@pytest.mark.parametrize("online", [True, False])
@pytest.mark.parametrize("error", [None, DOWN, REFUSED, MISSING])
def test_a_loaded_value_stays_after_an_error(error: PresscheckError | None, online: bool) -> None:
    loaded = Loaded(["a"]).after(Result(None, "failed", 0, error))
    assert loaded == Loaded(["a"], error)
    assert loaded.state(online=online) == "ready"


@pytest.mark.parametrize(
    ("error", "online", "message"),
    [
        (None, True, Message("Loading the links …", "", "loading")),
        (None, False, Message("The links of this site are not in the cache.", "", "offline")),
        (DOWN, True, Message("Could not load the links", "no answer", "failed")),
        (DOWN, False, Message("The links of this site are not in the cache.", "", "offline")),
        (REFUSED, True, Message("You are not permitted to see the links of this site.", "not for you", "forbidden")),
        (REFUSED, False, Message("You are not permitted to see the links of this site.", "not for you", "forbidden")),
        (UNKNOWN, True, Message("You are not permitted to see the links of this site.", "who?", "forbidden")),
        (MISSING, False, Message("no such call.", "", "unsupported")),
    ],
)
def test_an_empty_pane_shows_the_reason(error: PresscheckError | None, online: bool, message: Message) -> None:
    assert message_for(Loaded[list[str]](None, error), "links", " of this site", online=online) == message


def test_a_refusal_shows_only_the_reason_of_the_service() -> None:
    error = Forbidden("No permission: ask Robin", request=SENT, status=403, detail="ask Robin")
    assert message_for(Loaded[str](None, error), "page", online=True).hint == "ask Robin"


def test_a_message_on_one_line_joins_reason_and_title() -> None:
    assert Message("There is no site yet.", "a creates one.").line == "There is no site yet: a creates one."
    assert Message("No site has this text.").line == "No site has this text."


def test_map_keeps_the_error() -> None:
    assert Loaded(("a", "b"), DOWN).map(len) == Loaded(2, DOWN)
    assert Loaded[str](None, REFUSED).map(len) == Loaded(None, REFUSED)


def test_a_message_may_be_about_a_singular_noun() -> None:
    message = message_for(Loaded[str](), "structure", " of this site", online=False, verb="is")
    assert message.title == "The structure of this site is not in the cache."


def test_progress_and_hint_replace_the_default_texts() -> None:
    assert message_for(Loaded[str](), "links", online=True, progress="12 of 300 pages").title == "12 of 300 pages"
    assert message_for(Loaded[str](None, MISSING), "links", online=True, hint="Ask an admin.").hint == "Ask an admin."


@dataclass(frozen=True)
class Fruit:
    id: str
    price: int


class Fruits(List[Fruit]):
    name, nouns = "Fruits", "fruits"

    def __init__(self, loaded: Loaded[tuple[Fruit, ...]], second_line: Callable[[Fruit], Line] | None = None) -> None:
        self.fruits = loaded
        columns = (Column[Fruit]("fruit", lambda one: one.id), Column[Fruit]("price", lambda one: f"{one.price} p", 6))
        super().__init__(columns, second_line=second_line)

    @property
    def loaded(self) -> Loaded[tuple[Fruit, ...]]:
        return self.fruits

    def command_add(self) -> str:
        return "added a fruit"

    def reason_delete(self) -> str:
        return "there is no fruit"

    def command_delete(self) -> str:
        return "eaten"


APPLE, PEAR = Fruit("apple", 30), Fruit("pear", 45)


def test_a_row_has_a_cell_for_each_column() -> None:
    fruits = Fruits(Loaded((APPLE, PEAR)))
    assert plain(fruits.heading(20)) == "fruit         price"
    assert plain(fruits.row(1, 20)) == "pear          45 p"
    assert plain(fruits.row(0, 9)) == "apple     30 p"
    assert (fruits.key(0), fruits.key(2)) == ("apple", None)


def test_a_filter_searches_all_cells() -> None:
    fruits = Fruits(Loaded((APPLE, PEAR)))
    fruits.filter("45")
    assert (list(fruits.items), fruits.count, fruits.total) == ([PEAR], 1, 2)
    fruits.filter("plum")
    assert fruits.explanation(online=True) == Message("No row has this text.")
    fruits.fruits = Loaded(())
    assert fruits.explanation(online=False) == Message("No fruits yet.")
    fruits.fruits = Loaded()
    assert fruits.explanation(online=True) == Message("Loading the fruits …", "", "loading")
    assert fruits.total is None


async def test_a_filter_shows_rows_with_all_words_and_steps_through_them() -> None:
    fruits = Fruits(Loaded((APPLE, PEAR, Fruit("crab apple", 7), Fruit("pineapple", 90))))
    async with alone(fruits.rows):
        rows = fruits.row_filter(fruits.show)
        rows.highlight("P Apple")
        assert [fruit.id for fruit in fruits.items] == ["apple", "crab apple", "pineapple"]
        assert [await rows.search("P Apple", step=step) for step in (1, 1, 1, -1)] == [
            Match(2, 3),
            Match(3, 3),
            Match(1, 3),
            Match(3, 3),
        ]
        rows.highlight("plum")
        assert await rows.search("plum") is None
        rows.highlight("")
        assert await rows.search("crab") == Match(1, 1), "all rows are searched after the filter was removed"
        assert (fruits.count, fruits.current) == (4, Fruit("crab apple", 7))


async def test_rows_may_have_a_second_line() -> None:
    fruits = Fruits(Loaded((APPLE, PEAR)), second_line=lambda fruit: (Span(f"from the garden of the {fruit.id}"),))
    async with alone(fruits.rows, size=(20, 4)) as pilot:
        fruits.show()
        await drawn(pilot, "pear")
        lines = ["▌apple        30 p", "▌from the garden of…", " pear         45 p", " from the garden of…"]
        assert shown(pilot.app) == lines


def test_columns_share_the_remaining_width() -> None:
    columns = (
        Column("a", str, share=2),
        Column("b", str, share=3),
        Column("c", str, 18),
        Column("d", str, 5, from_width=90),
    )
    assert [width for _, width in layout(columns, 68)] == [20, 30, 18]
    assert [width for _, width in layout(columns, 100)] == [30, 47, 18, 5]
    assert [width for _, width in layout(columns, 10)] == [4, 6, 18]


class Screen:
    def command_add(self) -> str:
        return "added to the screen"

    def command_refresh(self) -> str:
        return "refreshed"


def test_the_shown_tab_handles_its_commands_before_the_screen() -> None:
    fruits, other = Fruits(Loaded()), object()
    shown: list[object] = [fruits]
    table = CommandTable((Screen(),), {"Fruits": fruits, "Other": other}, lambda: shown)
    handlers = {name: handler() for name in ("add", "refresh", "delete") if (handler := table.handler(name))}
    assert handlers == {"add": "added a fruit", "refresh": "refreshed", "delete": "eaten"}
    assert table.disabled_reason("delete") == "there is no fruit"
    shown[0] = other
    assert table.handler("delete") is None
    assert table.disabled_reason("delete") == "delete: works in Fruits (1), not here"
    handler = table.handler("add")
    assert handler
    assert handler() == "added to the screen"
    assert {command.name for command in table.commands} == {"add", "refresh", "delete"}
