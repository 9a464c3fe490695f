"""The command table and key sequences."""

from tests.private_names import keys_of_bytes

from presscheck.tui.commands import COMMANDS
from presscheck.tui.keyboard import KeySequences

NEVER_ALONE = {"ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+z", "ctrl+\\", "f10", "f11"}


def test_every_key_has_one_command() -> None:
    keys = [key for command in COMMANDS for key in command.keys]
    assert len(keys) == len(set(keys))


def test_no_command_depends_on_a_key_that_terminals_intercept() -> None:
    assert not [command.name for command in COMMANDS if set(command.keys) <= NEVER_ALONE]


def test_alt_with_a_letter_is_not_translated_to_another_key() -> None:
    """Textual reads alt+b and alt+f of most terminals as ctrl+left and ctrl+right."""
    keys = {key for command in COMMANDS for keys in command.keys for key in keys.split() if key[:-1] == "alt+"}
    assert keys
    assert {key: keys_of_bytes(f"\x1b{key[-1]}") for key in keys} == {key: [key] for key in keys}


def test_no_sequence_is_hidden_by_a_shorter_one() -> None:
    keys = {tuple(key.split(" ")) for command in COMMANDS for key in command.keys}
    assert not [one for one in keys for length in range(1, len(one)) if one[:length] in keys]


def test_a_sequence_needs_all_its_keys() -> None:
    keys = KeySequences()
    assert keys.press("g") is None
    assert {"g", "i", "o", "p"} <= {found.key for found in keys.continuations()}
    found = keys.press("g")
    assert found is not None
    assert found.name == "top"
    assert keys.pending == ()


def test_a_key_that_continues_no_sequence_starts_a_new_one() -> None:
    keys = KeySequences()
    keys.press("g")
    found = keys.press("j")
    assert found is not None
    assert found.name == "down"


def test_a_sequence_of_another_screen_is_not_cut_into_commands_of_this_one() -> None:
    elsewhere = [command for command in COMMANDS if any(key.startswith("v ") for key in command.keys)]
    keys = KeySequences([command for command in COMMANDS if command not in elsewhere], elsewhere=elsewhere)
    assert keys.press("v") is None and keys.press("b") in elsewhere
    assert keys.press("v") is None and keys.press("j") not in elsewhere
    assert keys.press("v") is None and keys.press("escape") is None and keys.pending == ()
    assert keys.press("b") not in (None, *elsewhere)
