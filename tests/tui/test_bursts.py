"""Keys that are typed in one burst, from the key that opens a dialog on, have the same result as slow keys."""

import asyncio
import pkgutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import until
from tests.tui.base_screen import Room, room
from tests.tui.change_request_factory import begun
from tests.tui.keyboard import burst
from tests.tui.markdown_editor import TEXT, editing, editor
from tests.tui.widget_harness import app_with
from textual.widgets import Input, TextArea

import presscheck.tui
from presscheck.api.spaces import UpdateSpace
from presscheck.api.users import User
from presscheck.config.saved_views import SavedView
from presscheck.engine.forms.form import OperationForm
from presscheck.errors import InvalidArgument
from presscheck.store.drafts import DraftSlot
from presscheck.tui.commands import BY_NAME
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.inbox.saved_view_editor import SavedViewEditor
from presscheck.tui.screens.key_editor import KeyEditor
from presscheck.tui.screens.key_list import Entry, Group, KeyList
from presscheck.tui.screens.replace.form import Query, ReplaceForm
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.entry_dialog import EntryDialog, EntryField
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog
from presscheck.tui.widgets.row_list import RowList

WORK = 0.02
"""Seconds that the work of the dialogs in these tests takes."""
working: list[None] = []
"""An item for each call of `work` that is running."""
NAMES = [Choice(name, name) for name in ("ann", "bob", "cid", "dan")]
FOLDERS = ("guides/", "guests/")


class Case(NamedTuple):
    """Keys for a dialog, or for a screen without one; `answers` are the results of its dialogs."""

    name: str
    make: Callable[[Room], Dialog[Any]] | None
    keys: Sequence[str]
    answers: Sequence[object] = ()
    texts: Sequence[str] = ()
    did: Sequence[str] = ()
    cursor: int = 0


async def work() -> None:
    working.append(None)
    try:
        await asyncio.sleep(WORK)
    finally:
        working.pop()


def slot(screen: Room) -> DraftSlot:
    return DraftSlot(screen.engine.outbox, "text")


async def people() -> list[User]:
    return [User(id="mia", display_name="Mia Okonkwo"), User(id="mio", display_name="Mio")]


async def folders(text: str) -> list[str]:
    await work()
    return [folder for folder in FOLDERS if folder.startswith(text)]


async def sent(texts: Mapping[str, str]) -> dict[str, str]:
    await work()
    if texts["name"] == "wrong":
        raise InvalidArgument("name", "is not right")
    return dict(texts)


async def valid(_query: Query) -> None:
    await work()


async def called(call: Any) -> Any:
    await work()
    return call.given()


def composer(screen: Room) -> Composer:
    return Composer("Comment", slot(screen), people=people)


def code(screen: Room) -> Composer:
    return Composer("Schema", slot(screen), is_code=True)


def prompt(screen: Room) -> PromptDialog:
    return PromptDialog("Title", slot(screen), min_length=3)


def expandable(screen: Room) -> PromptDialog:
    return PromptDialog("Message", slot(screen), expand=lambda: screen.app_context.push_screen(composer(screen)))


def entry(_screen: Room) -> EntryDialog[dict[str, str]]:
    fields = [EntryField("name", "Name"), EntryField("token", "Token", is_secret=True)]
    return EntryDialog("Sign in", fields, confirm_label="sign in", progress="Checking", submit=sent)


def completed(_screen: Room) -> EntryDialog[dict[str, str]]:
    fields = [EntryField("name", "Folder", complete=folders), EntryField("title", "Title")]
    return EntryDialog("Open", fields, confirm_label="open", progress="Reading", submit=sent)


def picker(**more: Any) -> Callable[[Room], Picker]:
    return lambda _: Picker("Who?", NAMES, **more)


def searching(_screen: Room) -> Picker:
    async def search(text: str) -> AsyncIterator[Sequence[Choice]]:
        await work()
        yield [Choice(f"hit {text}", f"hit {text}")]

    return Picker("Find", NAMES, search=search)


def menu(_screen: Room) -> Picker:
    return Picker("Do", [choice._replace(letter=letter) for choice, letter in zip(NAMES, "rstu", strict=True)])


def form(screen: Room) -> FormDialog:
    content = FormContent("Space", OperationForm(UpdateSpace, {"space_id": "guides"}), {"edit_mode": "live"})
    return FormDialog(content, called, slot(screen))


def replacement(screen: Room) -> ReplaceForm:
    return ReplaceForm("Find and replace", slot(screen), None, check=valid)


def view(_screen: Room) -> SavedViewEditor:
    return SavedViewEditor(
        "View", SavedView("", "", "", ""), lambda view: None if view.name else ("name", "is empty"), lambda _: []
    )


def sheet(_screen: Room) -> ConfirmDialog:
    return ConfirmDialog("Delete it?", [], "Delete", type_to_confirm="Jay j")


def new_key(_screen: Room) -> KeyEditor:
    return KeyEditor(BY_NAME["publish"])


def keys(_screen: Room) -> KeyList:
    return KeyList([Group("Here", [Entry("publish", "P", "Publish it"), Entry("approve", "a", "Approve it")])])


CASES = (
    Case("prompt", prompt, (*"My title", "enter", "j"), ["My title"], cursor=1),
    Case("invalid prompt", prompt, (*"My", "enter", *" title", "ctrl+s", "j"), ["My title"], cursor=1),
    Case("closed prompt", prompt, (*"My", "escape", "j"), [None], cursor=1),
    Case("prompt to composer", expandable, (*"Why", "ctrl+e", "enter", *"so?", "x"), [None], ["Why\nso?x"]),
    Case("entry", entry, (*"ann", "tab", *"q j", "enter", "j"), [{"name": "ann", "token": "q j"}], cursor=1),
    Case("entry by enter", entry, (*"ann", "enter", *"q", "enter", "j"), [{"name": "ann", "token": "q"}], cursor=1),
    Case("wrong entry", entry, (*"wrong", "tab", *"q", "enter", *"x"), texts=["wrongx", "q"]),
    Case("completed entry", completed, (*"gui", "tab", *"x", "tab", *"T"), texts=["guides/x", "T"]),
    Case("ambiguous entry", completed, (*"g", "tab", *"i", "tab", *"x"), texts=["guides/x", ""]),
    Case("picker", picker(), (*"ci", "enter", "j"), [("cid",)], cursor=1),
    Case("picker without match", picker(), (*"zzz", "enter", "x"), texts=["zzzx"]),
    Case(
        "marks",
        picker(multiple=True),
        (*"bo", "tab", "backspace", "backspace", *"ci", "tab", "enter", "j"),
        [("bob", "cid")],
        cursor=1,
    ),
    Case("search", searching, (*"an", "down", "enter", "j"), [("dan",)], cursor=1),
    Case("menu", menu, ("j", "j", "k", "enter", "j"), [("bob",)], cursor=1),
    Case("menu by letter", menu, ("t", "j"), [("cid",)], cursor=1),
    Case(
        "composer",
        composer,
        (*"Hello @mi and more", "enter", *"@mia!", "ctrl+s", "j"),
        ["Hello @mi and more\n@mia!"],
        cursor=1,
    ),
    Case("empty composer", composer, ("ctrl+s", *"x", "ctrl+s", "j"), ["x"], cursor=1),
    Case("previewed composer", composer, (*"**x**", "ctrl+o", "ctrl+o", *"y", "ctrl+s", "j"), ["**x**y"], cursor=1),
    Case("closed composer", composer, (*"@m zz", "escape", "j"), [None], cursor=1),
    Case("code", code, (*'{"a": @x}', "enter", "ctrl+s", "j"), ['{"a": @x}\n'], cursor=1),
    Case(
        "form",
        form,
        ("tab", *"Guides", "enter", "enter", *"cre", "enter", "ctrl+s", "j"),
        [{"space_id": "guides", "title": "Guides", "default_level": "create"}],
        cursor=1,
    ),
    Case(
        "choices of a form",
        form,
        ("enter", *"lock", "enter", "tab", *"G", "right", "ctrl+s", "j"),
        [{"space_id": "guides", "edit_mode": "locked", "title": "G"}],
        cursor=1,
    ),
    Case(
        "replacement",
        replacement,
        (*"old", "tab", *"new j", "tab", "space", "enter", "j"),
        [Query("old", "new j", match_case=False)],
        cursor=1,
    ),
    Case(
        "view",
        view,
        ("enter", *"Mine", "tab", *"author:me", "tab", "tab", "space", "enter", "j"),
        [SavedView("Mine", "author:me", "", "space")],
        cursor=1,
    ),
    Case("confirmation", sheet, (*"Jay j", "enter", "j"), [True], cursor=1),
    Case("keys", keys, (*"publ", "enter", "j"), ["publish"], cursor=1),
    Case("new key", new_key, ("m", "backspace", "f9", "enter", "j"), [None], cursor=1),
    Case("closed new key", new_key, ("g", "x", "escape", "j"), [None], cursor=1),
    Case("find", None, ("/", *"row 42", "enter", "j"), cursor=43),
    Case("find again", None, ("/", *"row 42", "enter", "g", "g", "/", "enter", "j"), cursor=43),
    Case("closed find", None, ("/", *"jjk", "escape", "j"), cursor=1),
    Case("find without match", None, ("/", *"nothing", "enter", "j"), cursor=1),
    Case("palette", None, (":", *"unpublish", "enter", "j"), did=["publish"], cursor=1),
    Case("closed palette", None, (":", *"publish", "escape", "j"), cursor=1),
    Case("filter", None, ("@", "/", *"jj q"), texts=["jj q"]),
    Case("key list", None, ("?", *"publish", "enter", "j"), did=["publish"], cursor=1),
)


async def test_a_burst_has_the_same_result_as_slow_keys(tmp_path: Path) -> None:
    failures: list[str] = []
    async with app_with(Room, tmp_path).run_test(size=(120, 40)) as pilot:
        await until(pilot, shows="row 0")
        for case in CASES:
            screen = Room()
            await pilot.app.push_screen(screen)
            await until(pilot, shows="row 0", holds=lambda screen=screen: screen.query_one(RowList).has_focus)
            expected = ([*case.answers], [*case.texts], [*case.did], case.cursor)
            if (result := await typed(pilot, screen, case, expected)) != expected:
                failures.append(f"{case.name}: {result}, not {expected}")
            while pilot.app.screen is not screen:
                await pilot.app.pop_screen()
            slot(screen).discard()
            await pilot.app.pop_screen()
    assert not failures, "\n".join(failures)


Outcome = tuple[list[Any], list[Any], list[Any], int]
"""Answers of dialogs, texts in inputs, commands that ran, and the row of the cursor."""


async def typed(pilot: Any, screen: Room, case: Case, expected: Outcome) -> Outcome:
    """Type the keys of a case. Returns the outcome as soon as it is as expected, or after some seconds if it is not."""
    answers: list[Any] = []

    async def ask() -> None:
        if case.make:
            answers.append(await screen.ask(case.make(screen)))

    def outcome() -> Outcome:
        inputs = [widget for widget in pilot.app.screen.query("*") if isinstance(widget, Input | TextArea)]
        texts = [widget.value if isinstance(widget, Input) else widget.text for widget in inputs]
        return answers, texts, screen.did, screen.query_one(RowList).cursor

    screen.invoke(ask)
    if case.make is sheet:  # a confirmation drops keys typed before it is open
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Dialog))
        await pilot.pause()
    burst(pilot, *case.keys)
    for _ in range(600):
        if outcome() == expected:
            break
        await asyncio.sleep(0.01)
    await pilot.pause()
    return outcome()


@pytest.mark.slow
async def test_a_burst_in_the_page_editor_has_the_same_result_as_slow_keys(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Typed in a burst", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        burst(
            pilot, *"Start @x ", "enter", "tab", *"[[in", "ctrl+f", *"Start", "enter", *"End", "ctrl+o", "ctrl+o", *"s"
        )
        burst(pilot, "end", "ctrl+l", *"divider", "enter", *"x", "ctrl+z", "y", "ctrl+s")
        await until(pilot, shows="Save to the change request?")
        assert editor(pilot).area.text.startswith("Ends @x")


async def test_every_dialog_class_has_a_case(tmp_path: Path) -> None:
    for module in pkgutil.walk_packages(presscheck.tui.__path__, "presscheck.tui."):
        import_module(module.name)
    async with app_with(Room, tmp_path).run_test() as pilot:
        await until(pilot, shows="row 0")
        typed = {type(case.make(room(pilot))) for case in CASES if case.make}
    assert {dialog for dialog in Dialog.__subclasses__() if dialog.__module__.startswith("presscheck.")} == typed
