"""Custom keys: presets, conflicts, and the table `[keys]` of the settings file."""

from pathlib import Path

import pytest
from tests.private_names import keys_of_bytes
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from tests.tui.base_screen import Room, room
from tests.tui.widget_harness import app_with, shown
from textual.events import Key
from textual.pilot import Pilot

from presscheck.store.drafts import DraftSlot
from presscheck.tui.commands import BY_NAME, COMMANDS, NEVER_ALONE, Keymap, key_for, with_keys
from presscheck.tui.key_settings import PRESETS, conflicts, keymap_of, load_keymap, normalized
from presscheck.tui.keyboard import KeySequences
from presscheck.tui.screens.key_list import KeyList
from presscheck.tui.widgets.composer import Composer


@pytest.mark.parametrize("preset", PRESETS)
def test_every_key_of_a_preset_has_one_command(preset: str) -> None:
    keymap = Keymap(PRESETS[preset])
    keys = [key for command in COMMANDS for key in keymap.keys(command.name)]
    assert len(keys) == len(set(keys))
    assert KeySequences(keymap=keymap).ambiguous() == []
    assert keymap_of({"preset": preset})[1] == []
    assert PRESETS[preset].keys() <= BY_NAME.keys()
    assert not [name for name, own in PRESETS[preset].items() if set(own) <= NEVER_ALONE]
    alt = {key for own in PRESETS[preset].values() for keys in own for key in keys.split() if key.startswith("alt+")}
    assert {key: keys_of_bytes(f"\x1b{key[-1]}") for key in alt} == {key: [key] for key in alt}


@pytest.mark.parametrize(
    ("name", "keys", "error"),
    [
        ("merge", "r", "r is also a key of reply: change one of the two"),
        ("merge", "g", "g begins g g, a key of top"),
        ("merge", "x y", "x y begins with x, a key of resolve"),
        ("mrge", "x", "did you mean merge?"),
        ("merge", "", "must be a key such as"),
        ("merge", [], "must be a key such as"),
        ("merge", 5, "must be a key such as"),
        ("merge", ["f9", 5], "must be a key such as"),
        ("merge", "hyper+x", "hyper+x is not a key"),
        ("merge", "f9 f9 f9 f9", "at most 3 keys"),
        ("merge", "enter", "enter has a fixed meaning"),
        ("merge", "ctrl+b", "may never arrive"),
        ("merge", "alt+f", "may never arrive"),
        ("merge", "ctrl+b x", "ctrl+b may never arrive, because terminals use it: add a second key"),
        ("merge", "shift+enter", "shift+enter may never arrive, because few terminals send it: add a second key"),
        ("merge", ["ctrl+tab", "g ctrl+space"], "ctrl+tab may never arrive"),
        ("merge", "ctrl+@", "may never arrive"),
        ("merge", "f13", "f13 may never arrive"),
        ("merge", "f25", "f25 is not a key"),
        ("merge", "f0", "f0 is not a key"),
        ("send", "s", "works while you type"),
        ("send", "ctrl+x ctrl+s", "works while you type"),
        ("tab", "f9", "must be a list of 9 keys, one for each view"),
        ("preset", "vi", "must be one of default, gh-dash"),
        ("preset", 3, "must be one of default, gh-dash"),
    ],
)
def test_an_invalid_setting_is_ignored_and_reported(name: str, keys: object, error: str) -> None:
    keymap, problems = keymap_of({name: keys, "go_outbox": "f9"})
    assert keymap.own == {"go_outbox": ("f9",)}
    assert [(wrong, error in message) for wrong, message in problems] == [(name, True)]


def test_two_commands_can_swap_their_keys() -> None:
    keymap, problems = keymap_of({"refresh": "r", "reply": "ctrl+r"})
    assert problems == []
    assert (keymap.first("refresh"), keymap.first("reply")) == ("r", "ctrl+r")


def test_one_of_two_settings_with_the_same_key_is_ignored() -> None:
    keymap, problems = keymap_of({"merge": "f9", "pull": "f9"})
    assert [name for name, _ in problems] == ["merge"]
    assert (keymap.keys("merge"), keymap.keys("pull")) == (("m",), ("f9",))


def test_a_setting_replaces_the_keys_of_the_preset() -> None:
    keymap, problems = keymap_of({"preset": "gh-dash", "refresh": ["f5", "f9"]})
    assert (keymap.keys("refresh"), keymap.keys("reply"), problems) == (("f5", "f9"), ("ctrl+r",), [])


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("esc", "escape"),
        ("PgDn", "pagedown"),
        ("ctrl+X", "ctrl+x"),
        ("alt+X", "alt+shift+x"),
        ("ctrl+/", "ctrl+slash"),
        ("g  x", "g x"),
        ("shift+Tab", "shift+tab"),
        ("↓", "down"),
        ("G", "G"),
    ],
)
def test_key_names_are_normalized(written: str, key: str) -> None:
    assert normalized(written) == key


def test_an_error_has_the_line_number_of_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\npreset = "lazygit"\n\n# mine\nmerge = "r"\npull = "f9"\n')
    keymap, errors = load_keymap(file)
    assert [(error.line, error.key) for error in errors] == [(5, ("keys", "merge"))]
    assert keymap.keys("pull") == ("f9",)
    file.write_text('keys = "lazygit"\n')
    keymap, errors = load_keymap(file)
    assert ["must be a table, [keys]" in str(error) for error in errors] == [True]
    assert keymap.own == {}


def test_conflicts_are_found_in_both_directions() -> None:
    assert [name for name, _ in conflicts(Keymap({"merge": ("g i k",)}), ("merge",))] == ["merge"]
    assert [name for name, _ in conflicts(Keymap({"merge": ("v",)}), ("merge",))][:1] == ["merge"]


def test_custom_keys_are_mapped_to_default_keys_and_back() -> None:
    keymap = Keymap({"send": ("ctrl+x",), "down": ("n", "down")})
    assert keymap.default_of("ctrl+x") == "ctrl+s"
    assert keymap.default_of("ctrl+s") == ""
    assert keymap.default_of("n") == "down"
    assert keymap.default_of("down") == "down"
    assert keymap.default_of("f3") == "f3"
    assert keymap.current_of("ctrl+s") == "ctrl+x"
    assert keymap.current_of("escape") == "escape"


async def press_until(pilot: Pilot[int], *keys: str, shows: str) -> None:
    await pilot.press(*keys)
    await until(pilot, shows=shows)


@pytest.mark.slow
async def test_a_key_is_changed_in_the_list_of_keys(tmp_path: Path) -> None:
    async with app_with(Room, tmp_path).run_test(size=(100, 30)) as pilot:
        await until(pilot, shows="row 0")
        await press_until(pilot, "?", shows="change key")
        assert isinstance(pilot.app.screen, KeyList)
        await press_until(pilot, *"publish or", "ctrl+e", shows="New key for publish")
        await press_until(pilot, "m", shows="m is also a key of merge")
        await press_until(pilot, "enter", "backspace", "ctrl+l", shows="ctrl+l is also a key of insert_block")
        await press_until(pilot, "backspace", "f9", shows="remove last")
        await press_until(pilot, "enter", shows="publish: f9, saved in config.toml")
        await press_until(pilot, "P", "f9", shows="f9 publish")
        assert room(pilot).did == ["publish"]
        assert pilot.app.settings_file.read_text() == '[keys]\npublish = "f9"\n'
        await press_until(pilot, "?", *"publish or", "ctrl+e", "delete", shows="publish: P, saved")
        await press_until(pilot, "P", shows="P publish")
        assert room(pilot).did == ["publish", "publish"]


async def test_an_invalid_key_setting_is_shown_at_the_start(tmp_path: Path) -> None:
    app = app_with(Room, tmp_path)
    app.settings_file.parent.mkdir(parents=True, exist_ok=True)
    app.settings_file.write_text('[keys]\npublish = "m"\n')
    app.reload_keys()
    async with app.run_test(size=(140, 20)) as pilot:
        await until(pilot, holds=lambda: "config.toml:2: keys.publish m is also a key of merge" in shown(app)[-1])
        await press_until(pilot, "P", shows="P publish")


@pytest.mark.slow
async def test_views_have_the_custom_keys(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    app.settings_file.parent.mkdir(parents=True, exist_ok=True)
    keys = ["$", "^", "~", "`", "'", "f7 a", "f7 b", "f7 c", "f7 d"]
    app.settings_file.write_text(f"[keys]\ntab = {keys}\nspelling = 'f9'\n", "utf-8")
    app.reload_keys()
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await press_until(pilot, "^", shows="Say where the keyring is")  # in the view Mine
        await press_until(pilot, "f7", "c", shows="that you reviewed waits for its author")
        await press_until(pilot, "$", "enter", shows="Conversation")
        await press_until(pilot, "g", "t", shows="$ ● open 3")
        await press_until(pilot, "$", shows="$ to ` show the threads of a state")


async def test_a_composer_uses_the_custom_keys(tmp_path: Path) -> None:
    keymap = Keymap({"send": ("ctrl+x",), "back": ("ctrl+t", "escape"), "theme": ("f9",)})
    async with app_with(Room, tmp_path, keymap=keymap).run_test(size=(100, 20)) as pilot:
        await until(pilot, shows="row 0")
        sent: list[str | None] = []
        pilot.app.push_screen(Composer("Comment", DraftSlot(pilot.app.engine.outbox, "comment")), sent.append)
        await press_until(pilot, *"hi", "ctrl+s", shows="ctrl+x send")
        assert isinstance(pilot.app.screen, Composer)
        await pilot.press("ctrl+x")
        await until(pilot, holds=lambda: sent == ["hi"])


async def test_the_keys_of_dialogs_can_be_recorded(tmp_path: Path) -> None:
    keymap = Keymap({"back": ("ctrl+o", "escape")})
    async with app_with(Room, tmp_path, keymap=keymap).run_test(size=(100, 20)) as pilot:
        await until(pilot, shows="row 0")
        await press_until(pilot, "?", *"publish or", "ctrl+e", shows="esc cancel")
        await press_until(pilot, "ctrl+o", shows=" ctrl+o is also a key of back")
        await press_until(pilot, "backspace", "ctrl+b", shows="row 9        ctrl+b may never arrive")
        await press_until(pilot, "escape", shows="row 0")


async def test_keys_with_alt_type_no_text_in_dialogs(tmp_path: Path) -> None:
    keymap = Keymap({"back": ("alt+g", "escape")})
    async with app_with(Room, tmp_path, keymap=keymap).run_test(size=(100, 20)) as pilot:
        await until(pilot, shows="row 0")
        await press_until(pilot, "?", "x", shows="alt+g close")
        pilot.app.post_message(Key("alt+j", "j"))
        pilot.app.post_message(Key("alt+g", "g"))
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Room))
        draft = DraftSlot(pilot.app.engine.outbox, "comment")
        pilot.app.push_screen(Composer("Comment", draft))
        await press_until(pilot, *"hi", shows="alt+g back")
        pilot.app.post_message(Key("alt+j", "j"))
        pilot.app.post_message(Key("alt+g", "g"))
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Room))
        assert draft.text == "hi"


def test_messages_name_the_custom_keys(tmp_path: Path) -> None:
    app_with(Room, tmp_path, keymap=Keymap({"unsend": ("f9",), "edit_view": ("alt+q",)}))
    assert with_keys("{unsend} undoes it, {edit_view} filters; {} and {Title} stay") == (
        "f9 undoes it, alt+q filters; {} and {Title} stay"
    )
    app_with(Room, tmp_path / "another")
    assert key_for("unsend") == "z"
