"""Administration by keys: tables, forms and questions; each change is checked at the service."""

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService, running_service
from tests.saml_files import certificate, metadata
from tests.service_users import token_of
from tests.tui.admin import family, form, go_to
from tests.tui.app_driver import app_on, pick, plain, running, shown, until, write
from tests.tui.draft_places import drafted
from tests.tui.drafts import open_drafts
from tests.tui.keyboard import LONG, burst
from tests.tui.site_access import comes
from textual.events import Paste
from textual.widgets import Input

from presscheck.api.organizations import GetMember, GetOrganization, ListMembers, Organization, UpdateMember
from presscheck.api.saml import CreateSAMLProvider, DeleteSAMLProvider, ListSAMLProviders
from presscheck.api.spaces import Space
from presscheck.api.teams import CreateTeam, DeleteTeam, ListTeamMembers, ListTeams
from presscheck.api.translations import Translation
from presscheck.client.client import Client
from presscheck.tui import keyboard
from presscheck.tui.places import Place
from presscheck.tui.screens.admin import table as table_module
from presscheck.tui.screens.admin.column_widths import column_widths
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.admin.records.runs import TranslationRecord
from presscheck.tui.screens.admin.screen import AdminScreen
from presscheck.tui.screens.admin.titles import TITLES
from presscheck.tui.screens.form_dialog import FormDialog
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

pytestmark = pytest.mark.service(shared=True)

ORG = "tallowick"
HOSTILE = "\x1b[31mred\x1b]0;x\x07 [b]bold[/b] \u202eabc"


class Held:
    """Work that is held back: what it waits for, and how far it is."""

    def __init__(self) -> None:
        self.let_go, self.has_begun, self.has_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()


def held_back(screen: AdminScreen, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Hold back what finds and sorts the rows of the table: of a long listing it takes as long."""
    run, held = screen.run, Held()

    def run_later(work: Any, *, group: str = "work", exclusive: bool = False) -> Any:
        async def wait() -> None:
            held.has_begun.set()
            try:
                await held.let_go.wait()
                await work()
            finally:
                held.has_ended.set()

        return run(wait if group == "arrange" else work, group=group, exclusive=exclusive)

    monkeypatch.setattr(screen, "run", run_later)
    return held


def test_the_command_palette_knows_every_family() -> None:
    assert tuple(one.title for one in FAMILIES) == TITLES


@pytest.mark.parametrize(
    ("title", "texts", "room", "widths"),
    [
        # what stands at the right is left out before a name or an address is cut
        ("Members", (17, 26, 0, 0, 0, 0), 59, [28, 28]),
        ("Members", (17, 24, 0, 0, 0, 0), 59, [19, 26, 11]),
        ("Members", (17, 26, 0, 0, 0, 0), 200, [48, 48, 11, 9, 10, 13]),
        ("Members", (90, 90, 0, 0, 0, 0), 40, [37]),
        # a description is cut before something is left out, but the address of an import is not
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


@pytest.mark.slow
async def test_every_family_is_listed_and_its_forms_open(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await family(pilot, FAMILIES[0].title)
        await pilot.press("h")
        for one in FAMILIES:
            await until(pilot, holds=lambda one=one: pilot.app.screen.table.family is one)
            await until(pilot, holds=lambda: pilot.app.screen.table.loaded.value is not None)
            assert "Could not load" not in shown(pilot.app), one.title
            if one.adds:
                assert "{add} " in f"{one.hint} ", one.title
            elif one.add:
                await pilot.press("a")
                dialog = await form(pilot)
                text = shown(pilot.app)
                assert f"New {one.noun}" in text and dialog.fields[0].label in text
                await pilot.press("escape")
                await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen))
            else:
                await pilot.press("a")
                await until(pilot, shows="cannot be added here")
            await pilot.press("j")
        await pilot.press(":")
        await until(pilot, shows="Commands")
        await pilot.press(*"openapi", "enter")
        await until(pilot, shows="Administration › OpenAPI")


@pytest.mark.slow
async def test_a_member_gets_a_role_and_is_removed(service: RunningService, tmp_path: Path, client: Client) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await family(pilot, "Members")
        await go_to(pilot, "Luz Quispe")
        await pilot.press("E")
        await form(pilot)
        await pilot.press("enter")
        await pick(pilot, "review")
        await form(pilot)
        await pilot.press("ctrl+s")
        luz = next(one for one in (await client.send(ListMembers(organization_id=ORG))).items if "Luz" in str(one.user))

        async def role() -> str | None:
            return (await client.send(GetMember(organization_id=ORG, user_id=luz.id))).role

        await comes(pilot, lambda: _is(role, "review"))
        await until(
            pilot, holds=lambda: "review" in "".join(line for line in shown(pilot.app).split("\n") if "Luz" in line)
        )

        await pilot.press("E")
        await form(pilot)
        await pilot.press("enter")
        await pick(pilot, "guest")
        await form(pilot)
        await pilot.press("ctrl+s")
        await comes(pilot, lambda: _is(role, None))

        await pilot.press("delete")
        await until(pilot, shows="Remove Luz Quispe?")
        await until(pilot, holds=lambda: pilot.app.screen.is_ready)  # a role just changed is known to it
        assert "cannot read or edit anything" in shown(pilot.app)
        assert "Loses" not in shown(pilot.app), "a guest has access to no place"
        await pilot.press("y")
        await until(pilot, shows="remove: 1 member")
        await until(pilot, holds=lambda: "Luz" not in "\n".join(shown(pilot.app).split("\n")[3:30]))
        assert luz.id not in {one.id for one in (await client.send(ListMembers(organization_id=ORG))).items}

        await go_to(pilot, "Robin Achterberg")
        await pilot.press("delete")
        await until(pilot, shows="Robin Achterberg is the only admin")
        await pilot.press("E")
        dialog = await form(pilot)
        await pilot.press("enter")
        await pick(pilot, "read")
        await form(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "only admin" in dialog._error[1])
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen))

        async def robin() -> str | None:
            return (await client.send(GetMember(organization_id=ORG, user_id="robin"))).role

        # sent from the list of drafts, the form is checked as in its table
        await open_drafts(pilot)
        await until(pilot, shows="form: Change Robin Achterberg")
        await pilot.press("enter")
        dialog = await form(pilot)
        assert dialog.texts["role"] == "read"
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "only admin" in dialog._error[1])
        assert await robin() == "admin"
        before = await client.send(GetMember(organization_id=ORG, user_id="mia"))
        await client.send(UpdateMember(organization_id=ORG, user_id="mia", role="admin"))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Give up your admin role?")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "you stay admin" in dialog._error[1])
        assert await robin() == "admin"
        await pilot.press("ctrl+s")
        await until(pilot, shows="Give up your admin role?")
        await pilot.press(*"Robin Achterberg", "enter")
        await comes(pilot, lambda: _is(robin, "read"))
    async with Client(service.base_url, token_of(service, "mia")) as mia:
        await mia.send(UpdateMember(organization_id=ORG, user_id="robin", role="admin"))
    await client.send(UpdateMember(organization_id=ORG, user_id="mia", role=before.role))


async def _is(read: Any, value: Any) -> bool:
    return await read() == value


async def deleted(pilot: Any) -> None:
    """Delete what is under the cursor, once the question is there."""
    await pilot.press("-")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, ConfirmDialog) and pilot.app.screen.is_ready)
    await pilot.press("y")


@pytest.mark.slow
async def test_what_is_typed_ahead_in_a_form_is_for_the_list_that_opens_and_stops_no_sending(
    service: RunningService, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", LONG)
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await family(pilot, "Teams", "No teams yet.")
        await pilot.press("a")
        dialog = await form(pilot)
        burst(pilot, *"Readers", "tab", "enter", *"Noor", "tab", "enter")
        await until(pilot, holds=lambda: pilot.app.screen is dialog and dialog.texts["members"] != "")
        assert dialog.texts == {"title": "Readers", "members": "noor"}

        send, may_send = dialog._send, asyncio.Event()

        async def slow(made: Any) -> Any:
            await may_send.wait()
            return await send(made)

        monkeypatch.setattr(dialog, "_send", slow)
        monkeypatch.setattr(keyboard, "PATIENCE", 0.0)
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: dialog._is_sending)
        await pilot.press("enter", "tab", "ctrl+s")
        assert pilot.app.screen is dialog
        may_send.set()
        await until(pilot, shows="New team: done")
        [team] = (await client.send(ListTeams(organization_id=ORG))).items
        assert team.title == "Readers"
        await client.send(DeleteTeam(organization_id=ORG, team_id=team.id))


@pytest.mark.slow
async def test_a_team_is_made_with_members_changed_and_deleted(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await family(pilot, "Teams", "No teams yet.")  # the rows get the focus with the first team
        await pilot.press("a")
        dialog = await form(pilot)
        await pilot.press(*"x" * 65)
        await until(pilot, shows="at most 64 characters")
        await pilot.press("ctrl+s")
        assert pilot.app.screen is dialog
        # what was typed is there again
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen))
        await pilot.press("a")
        dialog = await form(pilot)
        assert dialog.texts["title"] == "x" * 65
        dialog.query_one("#field-title", Input).value = "Writers"
        await pilot.press("tab", "enter")
        await until(pilot, shows="Noor Haddad")
        await pilot.press(*"Noor", "tab")
        await pilot.press("enter")
        await form(pilot)
        await until(pilot, shows="Noor Haddad")
        await pilot.press("ctrl+y")
        await until(pilot, shows="copied as a command")
        copied = pilot.app.clipboard
        assert copied.startswith("presscheck api create-team --organization-id tallowick --title Writers --members ")
        await pilot.press("ctrl+s")
        await until(pilot, shows="New team: done")
        await go_to(pilot, "Writers")
        [team] = [one for one in (await client.send(ListTeams(organization_id=ORG))).items if one.title == "Writers"]

        await pilot.press("enter")
        await until(pilot, shows="Writers › Members of a team")
        await go_to(pilot, "Noor Haddad")
        await pilot.press("E")
        await form(pilot)
        await pilot.press("left")  # from member to owner
        await pilot.press("ctrl+s")
        await until(pilot, shows="owner", holds=lambda: not isinstance(pilot.app.screen, FormDialog))
        members = (await client.send(ListTeamMembers(organization_id=ORG, team_id=team.id))).items
        assert [(one.organization.user.display_name, one.team.role) for one in members] == [("Noor Haddad", "owner")]
        await deleted(pilot)
        await until(pilot, shows="No members yet.")
        await pilot.press("q")

        await until(pilot, shows="Administration › Teams")
        await pilot.press("E")
        dialog = await form(pilot)
        assert dialog.texts["title"] == "Writers"
        await pilot.press(*" of guides", "ctrl+s")
        await until(pilot, shows="Writers of guides", holds=lambda: not isinstance(pilot.app.screen, FormDialog))
        await deleted(pilot)
        await until(pilot, shows="delete: 1 team")
        assert not [one for one in (await client.send(ListTeams(organization_id=ORG))).items if "Writers" in one.title]


@pytest.mark.slow
async def test_the_service_refuses_and_the_form_stays_and_merge_rules_are_marked(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await family(pilot, "Organizations")
        await pilot.press("E")
        dialog = await form(pilot)
        await pilot.press("tab", "tab", "tab", "tab", "enter")
        await until(pilot, shows="Inside Tallowick")
        await pilot.press("escape")
        await form(pilot)
        dialog.query_one("#field-default_content", Input).value = "nowhere"
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: not dialog._is_sending and dialog._error[1] != "")
        assert pilot.app.screen is dialog
        rules = dialog.query_one("#field-merge_rules", Input)
        rules.focus()  # its error is shown below it
        rules.value = "{"
        await until(pilot, shows="is not valid JSON")
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen))
        await pilot.press(".", "s")
        await until(pilot, shows="at least one approved review")
        await pilot.press(*"one approved", "tab", "enter")
        await until(pilot, shows="Merge rules of Tallowick: change?")
        await pilot.press("y")
        await until(pilot, shows="Merge rules of Tallowick: changed")
        rules = (await client.send(GetOrganization(organization_id=ORG))).merge_rules
        assert rules and [rule.rule for rule in rules.rules] == ["require_at_least_one_approved_review"]
        await pilot.press("z")
        await until(pilot, shows="Undo", holds=lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await pilot.press("y")

        async def kind() -> str:
            rules = (await client.send(GetOrganization(organization_id=ORG))).merge_rules
            return rules.type if rules else ""

        await comes(pilot, lambda: _is(kind, "none"))


@pytest.mark.slow
async def test_rows_are_found_sorted_marked_and_exported(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    for number in range(3):
        await client.send(CreateTeam(organization_id=ORG, title=f"={number} bulk"))
    await client.send(CreateTeam(organization_id=ORG, title=HOSTILE))
    async with running(app_on(service, tmp_path / "home")) as pilot:
        screen = await family(pilot, "Teams")
        await until(pilot, shows="[b]bold[/b]")
        assert not ACTS.search(shown(pilot.app).replace("\n", ""))
        for at in range(screen.table.rows.count):
            assert screen.table._item(at) is not None
        await pilot.press(".", "o")
        await pick(pilot, "team")
        await until(pilot, shows="team ↑")
        await pilot.press(".", "o")
        await pick(pilot, "team")
        await until(pilot, shows="team ↓")
        await write(pilot, "/", "bulk =")
        await until(pilot, shows="3 of ")
        await pilot.press("enter")
        await until(pilot, shows="=2 bulk")

        await pilot.press(".", "x")
        await until(pilot, shows="Export 3 teams to")
        dialog = pilot.app.screen
        for name in ("teams.csv", "teams.json"):
            dialog.query_one(Input).value = str(tmp_path / name)
            await pilot.press("enter")
            await until(pilot, shows="wrote 3 teams")
            if name == "teams.csv":
                await pilot.press(".", "x")
                await until(pilot, shows="Export 3 teams to")
                dialog = pilot.app.screen
        rows = list(csv.reader((tmp_path / "teams.csv").read_text().splitlines()))
        assert rows[0] == ["team", "members", "created"]
        assert [row[0] for row in rows[1:]] == ["'=2 bulk", "'=1 bulk", "'=0 bulk"]
        assert [one["title"] for one in json.loads((tmp_path / "teams.json").read_text())] == [
            "=2 bulk",
            "=1 bulk",
            "=0 bulk",
        ]

        await pilot.press("*", "-")
        await until(pilot, shows="type: 3 teams")
        await pilot.press("enter")  # the words were not typed
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        assert len((await client.send(ListTeams(organization_id=ORG))).items) >= 4
        await pilot.press("-")
        await until(pilot, shows="type: 3 teams")
        await pilot.press(*"3 teams", "enter")
        await until(pilot, shows="delete: 3 teams")
        left = [one.title for one in (await client.send(ListTeams(organization_id=ORG))).items]
        assert not [title for title in left if "bulk" in title]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "keeps_rows"), [("Shift", True), ("Crew", False)])
async def test_while_a_newer_listing_is_sorted_keys_act_on_the_rows_that_are_shown(
    service: RunningService,
    tmp_path: Path,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    *,
    keeps_rows: bool,
) -> None:
    if not keeps_rows:  # they are read from the store again for each look at them
        monkeypatch.setattr(table_module, "BLOCK", 1)
        monkeypatch.setattr(table_module, "MOST_BLOCKS", 1)
    made = [await client.send(CreateTeam(organization_id=ORG, title=f"{word} {letter}")) for letter in "abcdef"]
    async with running(app_on(service, tmp_path / "home")) as pilot:
        screen = await family(pilot, "Teams", f"{word} f")
        table = screen.table
        await pilot.press(".", "o")
        await pick(pilot, "team")
        await until(pilot, shows="team ↑")
        await write(pilot, "/", word)
        await until(pilot, shows="6 of ")
        await pilot.press("enter")
        await go_to(pilot, f"{word} c")
        names, keys = [table._item(at).title for at in range(6)], [table._key(at) for at in range(6)]
        total, sorting = table._total, held_back(screen, monkeypatch)
        await client.send(DeleteTeam(organization_id=ORG, team_id=made[0].id))
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: table._total == total - 1)
        if keeps_rows:
            await pilot.press("E")
            await form(pilot)
            assert f"Change {word} c" in shown(pilot.app)
            await pilot.press("escape")
            await until(pilot, holds=lambda: pilot.app.screen is screen)
            await pilot.press("-")
            await until(pilot, shows=f"Delete {word} c?")
            await pilot.press("escape")
            await until(pilot, holds=lambda: pilot.app.screen is screen)
        else:
            found = [table._item(at) for at in range(6)]
            assert all(team is None or team.title == name for team, name in zip(found, names, strict=True))
            assert table.current is None, "it is not known where that row is now"
        assert [table._key(at) for at in range(6)] == keys
        sorting.let_go.set()
        await until(pilot, shows="5 of ", holds=lambda: table.rows.count == 5)
        assert table.current.title == f"{word} c"
    for team in made[1:]:
        await client.send(DeleteTeam(organization_id=ORG, team_id=team.id))


@pytest.mark.slow
async def test_a_range_of_marks_ends_with_its_list(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        screen = await family(pilot, "Members", "Mia Okonkwo")
        await pilot.press("V")
        await until(pilot, shows="a range starts here")
        for title, text in (("Teams", "Teams  "), ("Members", "Mia Okonkwo")):
            screen.go_to(Place.family(title))
            await until(pilot, shows=text, holds=lambda: screen.table.loaded.value is not None)
        screen.table.focus_rows()
        await pilot.press("V")
        await until(pilot, shows="a range starts here")
        assert not screen.table.rows.marks.keys


@pytest.mark.slow
async def test_an_order_that_is_not_wanted_any_more_does_not_come_back(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        screen = await family(pilot, "Members", "Mia Okonkwo")
        sorting = held_back(screen, monkeypatch)
        await pilot.press(".", "o")
        await pick(pilot, "name")
        await until(pilot, holds=sorting.has_begun.is_set)
        await pilot.press(".", "o")
        await pick(pilot, "As the service lists them")
        await until(pilot, holds=lambda: screen.table._sorted is None)
        sorting.let_go.set()
        await until(pilot, holds=sorting.has_ended.is_set)
        assert screen.table._order is None


@pytest.mark.slow
async def test_certificates_of_providers_are_read_and_warned_of(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    given = {"Soon": certificate("Soon", days=12), "Gone": certificate("Gone", days=-3), "Late": certificate("Late")}
    for label, text in {**given, "Broken": "hello there", "Empty": ""}.items():
        sent = {"certificate": text} if text else {}
        await client.send(CreateSAMLProvider(organization_id=ORG, label=label, **sent))
    async with running(app_on(service, tmp_path / "home")) as pilot:
        screen = await family(pilot, "SAML")
        await until(pilot, shows="expires in 12 days")
        assert {line[0].text: (line[2].text, line[2].style) for line in (spans(screen, at) for at in range(5))} == {
            "Soon": ("expires in 12 days", "waiting"),
            "Gone": ("expired 3 days ago", "error"),
            "Late": ("expires in 400 days", "quiet"),
            "Broken": ("invalid", "error"),
            "Empty": ("–", "quiet"),
        }
        await pilot.press(".", "o")
        await pick(pilot, "certificate")
        await until(pilot, shows="certificate ↑")
        assert [spans(screen, at)[0].text for at in range(3)] == ["Gone", "Soon", "Late"]
        await go_to(pilot, "Soon")
        await pilot.press("enter")
        await until(pilot, shows="CN=Soon CA")
        await until(pilot, shows="none yet: it needs a sign-in URL")
        text = shown(pilot.app)
        assert "(12 days left)" in text and "SHA-256" in text and "BEGIN" not in text
        await pilot.press("q")
        await go_to(pilot, "Broken")
        await pilot.press("enter")
        await until(pilot, shows="is not a certificate: neither PEM nor base64")
        await pilot.press("q")
    for provider in (await client.send(ListSAMLProviders(organization_id=ORG))).items:
        await client.send(DeleteSAMLProvider(organization_id=ORG, saml_provider_id=provider.id))


def spans(screen: AdminScreen, row: int) -> list[Any]:
    """The spans of a row that are no gaps."""
    return [span for span in screen.table._row(row, 98) if span.text.strip()]


@pytest.mark.slow
async def test_a_provider_is_made_from_its_metadata(service: RunningService, tmp_path: Path, client: Client) -> None:
    good, bad = tmp_path / "good.xml", tmp_path / "bad.xml"
    first, second = certificate("First", days=400), certificate("Second", days=20)
    good.write_text(metadata([first], url="https://keys.example"), "utf-8")
    bad.write_text(metadata([first], before='<!DOCTYPE x [<!ENTITY a "a">]>'), "utf-8")
    async with running(app_on(service, tmp_path / "home"), (80, 24)) as pilot:
        await family(pilot, "SAML", "No SAML providers yet.")
        await pilot.press("a")
        dialog = await form(pilot)
        await pilot.press(*"Keys", "ctrl+l")
        for path, reason in ((tmp_path / "gone", "No such file"), (bad, "has an entity declaration")):
            await until(pilot, shows="Fill in from a file (SAML metadata")
            pilot.app.screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await until(pilot, shows=reason)
        assert pilot.app.screen.query_one(Input).value == str(bad), "what was typed is there to be corrected"
        await pilot.press("escape", "escape")
        await drafted(pilot, "path of a file to fill in a form")
        dialog = await form(pilot)
        assert dialog.texts["label"] == "Keys", "the form has its own draft"
        await pilot.press("ctrl+l")
        await until(pilot, shows="Fill in from a file (SAML metadata")
        assert pilot.app.screen.query_one(Input).value == str(bad)
        await pilot.press("escape", "escape", "q")
        await until(pilot, shows="No SAML providers yet.", holds=lambda: isinstance(pilot.app.screen, AdminScreen))
        await pilot.press("a")
        dialog = await form(pilot)
        await pilot.press("ctrl+l")
        await until(pilot, shows="Fill in from a file (SAML metadata")
        pilot.app.screen.query_one(Input).value = str(good)
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is dialog and dialog.texts["entity_id"] == "urn:keys")
        assert dialog.texts["label"] == "Keys"
        assert dialog.texts["sso_url"] == "https://keys.example/HTTP-Redirect"
        await until(pilot, shows="CN=First: expires in 400 days")
        assert (await client.send(ListSAMLProviders(organization_id=ORG))).items == ()
        await pilot.press("ctrl+s")
        await until(pilot, shows="New SAML provider: done")
        [made] = (await client.send(ListSAMLProviders(organization_id=ORG))).items
        assert (made.label, made.status, made.certificate) == ("Keys", "active", first)

        await until(pilot, shows="▌ Keys                   active      expires in 400 days")
        await pilot.press("enter")
        await until(pilot, shows="sign-in link              http")
        await pilot.press("q", "E")
        dialog = await form(pilot)
        await pilot.press("tab", "tab", "ctrl+u")
        await until(pilot, holds=lambda: dialog.texts["certificate"] == "")
        dialog.focused.post_message(Paste(second[:200]))
        await until(pilot, shows="is cut off")
        await pilot.press("ctrl+s")
        assert pilot.app.screen is dialog
        await pilot.press("ctrl+u")
        dialog.focused.post_message(Paste(second))
        await until(pilot, shows="CN=Second: expires in 20 days")
        await pilot.press("ctrl+s")
        await until(pilot, shows="Change Keys: done")
        [made] = (await client.send(ListSAMLProviders(organization_id=ORG))).items
        assert (made.certificate, made.entity_id) == (second, "urn:keys")
        await deleted(pilot)
        await until(pilot, shows="delete: 1 SAML provider")


@pytest.mark.slow
async def test_without_permission_or_connection_the_reason_is_shown(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True) as service:
        ada = token_of(service, "ada")
        async with running(app_on(service, tmp_path / "ada", token=ada)) as pilot:
            await family(pilot, "Members")
            await go_to(pilot, "Luz Quispe")
            await pilot.press("E")
            await until(pilot, shows="you need the role admin in the organization")
        async with running(app_on(service, tmp_path / "reader", read_only=True)) as pilot:
            await family(pilot, "Teams")
            await pilot.press("a")
            await until(pilot, shows="this profile is read-only")
        async with running(app_on(service, tmp_path / "home")) as pilot:
            await family(pilot, "Members")
            await until(pilot, shows="Luz Quispe")
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            await go_to(pilot, "Luz Quispe")
            await pilot.press("E")
            await until(pilot, shows="you are offline, and this cannot be queued")
            await pilot.press("h")
            screen: Any = pilot.app.screen
            screen.go_to(Place.family("SAML"))
            await until(pilot, shows="The SAML providers are not in the cache")
            service.start()


def test_a_translation_is_out_of_date_once_its_source_changes_after_the_last_run() -> None:
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
