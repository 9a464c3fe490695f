"""Tables of administration without the app: columns, sorting, exports, and the last admin of an organization."""

import csv
from types import SimpleNamespace
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.tui.app_driver import plain

from presscheck.api.operation import Page
from presscheck.api.organizations import (
    ListMembers,
    Organization,
    OrganizationMember,
    UpdateMember,
)
from presscheck.api.spaces import Space
from presscheck.api.teams import ListTeams, Team
from presscheck.api.translations import Translation
from presscheck.api.users import User
from presscheck.engine.results import Result
from presscheck.errors import InvalidArgument
from presscheck.tui.screens.admin import table as table_module
from presscheck.tui.screens.admin.column_widths import column_widths
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.admin.form_checks import check
from presscheck.tui.screens.admin.records.runs import TranslationRecord
from presscheck.tui.screens.admin.table import FamilyTable
from presscheck.tui.screens.admin.titles import TITLES

ORG = "tallowick"
HOSTILE = "\x1b[31mred\x1b]0;x\x07 [b]bold[/b] \u202eabc"


def test_the_command_palette_has_every_family() -> None:
    assert tuple(one.title for one in FAMILIES) == TITLES


@pytest.mark.parametrize(
    ("title", "texts", "room", "widths"),
    [
        # columns at the right are left out before a name or an address is cut
        ("Members", (17, 26, 0, 0, 0, 0), 59, [28, 28]),
        ("Members", (17, 24, 0, 0, 0, 0), 59, [19, 26, 11]),
        ("Members", (17, 26, 0, 0, 0, 0), 200, [48, 48, 11, 9, 10, 13]),
        ("Members", (90, 90, 0, 0, 0, 0), 40, [37]),
        # a description is cut before columns are left out, but the address of an import is not
        ("Integrations", (12, 300, 0, 0, 0), 59, [18, 18, 20]),
        ("Imports", (40, 0, 0, 0), 59, [30, 14, 12]),
        ("Imports", (40, 0, 0, 0), 24, [21]),
    ],
)
def test_columns_at_the_right_are_left_out_for_names_and_addresses(
    title: str, texts: tuple[int, ...], room: int, widths: list[int]
) -> None:
    columns = next(family.columns for family in FAMILIES if family.title == title)
    found = column_widths(columns, texts, room)
    assert found == widths and sum(found) <= room


def test_a_translation_is_out_of_date_if_its_source_changed_after_the_last_run() -> None:
    organization = Organization(id=ORG, title="Tallowick")
    given = {"id": "t", "status": "completed", "source": {"space": "guides", "language": "en"}, "language": "de"}
    ran = {**given, "result": {"space": "g-de", "revision": "r"}, "updatedAt": "2026-03-01T10:00:00.000Z"}

    def told(translation: dict[str, Any], changed: str) -> str:
        record = TranslationRecord(organization, Translation.model_validate(translation))
        record.take("source", Space.model_validate({"id": "guides", "title": "Guides", "updatedAt": changed}))
        return "\n".join(plain(line) for line in record.lines(100))

    assert "out of date" not in told(ran, "2026-03-01T09:59:59.000Z")
    assert "s translates what changed" in told(ran, "2026-03-01T10:00:01.000Z")
    assert "out of date" not in told({**ran, "status": "running"}, "2026-03-01T10:00:01.000Z")
    assert "out of date" not in told(given, "2026-03-01T10:00:01.000Z"), "it never ran"


TEAMS = next(one for one in FAMILIES if one.title == "Teams")


class Background:
    """A screen with these items that collects its background work instead of running it."""

    def __init__(self, items: list[Team]) -> None:
        self.work, self.stopped = list[Any](), list[str]()
        window = lambda _listing, start, size: SimpleNamespace(items=tuple(items[start : start + size]))  # noqa: E731
        self.engine = SimpleNamespace(window=window)

    def run(self, work: Any, *, group: str, exclusive: bool) -> None:
        assert exclusive
        self.work.append(work)

    def unsubscribe(self, group: str) -> None:
        self.stopped.append(group)


async def test_keys_act_on_the_shown_rows_while_a_newer_listing_is_sorted() -> None:
    teams = [Team(id=letter, title=f"Shift {letter}") for letter in "fedcba"]
    screen: Any = Background(teams)
    table = FamilyTable(screen, TEAMS)
    table.listing = ListTeams(organization_id=ORG)
    table._take(Result(6, "fresh", 0.0))
    table._text, table._sorted = "shift", (TEAMS.columns[0], False)
    table._arrange()
    await screen.work.pop()()
    assert [table._item(at).id for at in range(6)] == list("abcdef")
    del teams[-1]
    table._take(Result(5, "fresh", 0.0))
    assert [(table._key(at), table._item(at).id) for at in range(6)] == [(letter, letter) for letter in "abcdef"]
    teams.insert(0, Team(id="g"))
    table._blocks.clear()  # as when other blocks are read meanwhile; every row has moved by one
    assert [table._key(at) for at in range(6)] == list("abcdef")
    assert [table._item(at) for at in range(6)] == [None] * 6
    table._take(Result(6, "fresh", 0.0))
    await screen.work.pop()()
    assert [table._item(at).id for at in range(table._count)] == list("bcdef")
    assert "arrange" not in screen.stopped
    table._text, table._sorted = "", None
    table._arrange()
    assert [table._item(at).id for at in range(6)] == list("gfedcb")
    assert screen.stopped == ["arrange"], "an order that is not wanted any more does not come back"


def test_exported_cells_are_not_spreadsheet_formulas() -> None:
    titles = ("=1+1", "+1", "-1", "@x", "a=b", HOSTILE)
    text = table_module._as_csv([Team(id="t", title=title, members=2) for title in titles], TEAMS.columns[:2])
    rows = list(csv.reader(text.splitlines()))
    assert rows[:6] == [["team", "members"], ["'=1+1", "2"], ["'+1", "2"], ["'-1", "2"], ["'@x", "2"], ["a=b", "2"]]
    assert not ACTS.search(text.replace("\n", ""))


async def test_the_only_enabled_admin_cannot_be_demoted() -> None:
    def member(name: str, **more: Any) -> OrganizationMember:
        return OrganizationMember(id=name, role="admin", user=User(id=name, display_name=name.title()), **more)

    async def read(call: Any) -> Any:
        if isinstance(call, ListMembers):
            assert call.role == "admin"
            return Page[OrganizationMember](items=tuple(admins))
        return next(admin for admin in admins if admin.id == call.user_id)

    screen: Any = SimpleNamespace(engine=SimpleNamespace(read=read, me=SimpleNamespace(id="ada")))
    call = UpdateMember(organization_id=ORG, user_id="robin", role="read")
    admins = [member("robin"), member("mia", disabled=True)]
    with pytest.raises(InvalidArgument, match="Robin is the only admin"):
        await check(screen, call)
    admins[1] = member("mia")
    await check(screen, call)
