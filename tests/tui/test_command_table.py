"""The command table of a screen: handlers and disabled reasons."""

from presscheck.tui.commands import COMMANDS, CommandTable, Keymap
from presscheck.tui.widgets.status_bar import key_hints, pending_keys


class Screen:
    def command_open(self) -> str:
        return "screen"

    def reason_refresh(self) -> str | None:
        return "offline"


class Part:
    def __init__(self) -> None:
        self.reason: str | None = None

    def command_open(self) -> str:
        return "part"

    def command_refresh(self) -> str:
        return "refreshed"

    def reason_open(self) -> str | None:
        return self.reason

    def command_that_is_in_no_row(self) -> None: ...


def run(table: CommandTable, name: str) -> object:
    handler = table.handler(name)
    return handler() if handler else None


def test_the_first_owner_handles_a_command() -> None:
    assert run(CommandTable((Screen(), Part())), "open") == "screen"
    assert run(CommandTable((Part(), Screen())), "open") == "part"
    assert run(CommandTable((Screen(), Part())), "refresh") == "refreshed"


def test_a_reason_is_computed_each_time() -> None:
    part = Part()
    table = CommandTable((Screen(), part))
    assert table.disabled_reason("open") is None
    part.reason = "nothing to open"
    assert table.disabled_reason("open") == "nothing to open"
    assert table.disabled_reason("refresh") == "offline"
    assert table.disabled_reason("merge") is None


def test_methods_without_a_command_are_ignored() -> None:
    table = CommandTable((Screen(), Part()))
    assert [command.name for command in table.commands] == ["open", "refresh"]
    assert set(table.commands) <= set(COMMANDS)
    assert table.handler("that_is_in_no_row") is None
    assert table.command("merge") is None


def test_a_hint_has_the_whole_sequence_unless_its_prefix_has_a_title() -> None:
    keymap = Keymap({"open": ("ctrl+x o",), "refresh": ("ctrl+x r",)})
    names = ("open", "refresh")
    keys = CommandTable((Screen(), Part())).first_keys(names, keymap)
    assert [(key.key, key.label, key.title) for key in keys] == [
        ("ctrl+x o", "ctrl+x o", "open"),
        ("ctrl+x r", "ctrl+x r", "refresh"),
    ]
    keys = CommandTable((Screen(), Part())).first_keys(names, Keymap({"open": ("v o",), "refresh": ("v r",)}))
    assert [(key.key, key.title) for key in keys] == [("v", "review")]


def text(line: object) -> str:
    return "".join(span.text for span in line)  # type: ignore[attr-defined]


def test_the_footer_shows_as_many_keys_as_fit() -> None:
    part = Part()
    table = CommandTable((part, Screen()))
    hints = key_hints(("open", "merge", "refresh"), table, Keymap({"refresh": ("R",)}), 80)
    assert text(hints) == " enter open   R refresh  "
    assert [span.style for span in hints] == ["accent", "quiet", "quiet", "quiet", "quiet", "quiet"]
    part.reason = "nothing to open"
    assert key_hints(("open",), table, Keymap(), 80)[0].style == "quiet"
    assert text(key_hints(("open", "refresh"), table, Keymap(), 20)) == " ctrl+r refresh  "


def test_the_footer_shows_the_keys_of_a_sequence() -> None:
    assert text(pending_keys(("g", "escape"))) == " g esc …"
    assert pending_keys(()) == ()
