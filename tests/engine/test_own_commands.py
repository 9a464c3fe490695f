"""Arguments of own commands: values written by others stay single arguments, and cannot be options or other files."""

from pathlib import Path

import pytest
from tests.table import each_case

from presscheck.config.own_commands import FIELDS, OwnCommand
from presscheck.engine.own_commands import (
    LONGEST_VALUE,
    SHELL,
    address_of,
    argument_list,
    clean_values,
    directory_of,
    printed_address,
)
from presscheck.errors import PresscheckError


def arguments(words: tuple[str, ...], *, is_script: bool = False, **values: str) -> list[str]:
    command = OwnCommand("Own", words, is_script=is_script)
    return argument_list(command, clean_values(command, values))


@each_case(
    ("words", "values", "expected"),
    [
        (("show", "{title}"), {"title": "two words; rm -rf ~ $(x) `y` 'z'"}, ["two words; rm -rf ~ $(x) `y` 'z'"]),
        (("show", "{title}"), {"title": "one\ntwo\r\nthree\0"}, ["one two three"]),
        (("show", "{title}"), {"title": "\x1b]0;x\x07 a\u202eb\u200b"}, ["]0;x ab"]),
        (("show", "{title}"), {"title": "ක්\u200dෂ 👩\u200d💻"}, ["ක්\u200dෂ 👩\u200d💻"]),
        (("show", "{title}"), {"title": "~/.ssh/id_rsa"}, ["~/.ssh/id_rsa"]),
        (("show", "{title}"), {"title": "{number} {{x}}"}, ["{number} {{x}}"]),
        (("show", "--as={title}"), {"title": "--force"}, ["--as=--force"]),
        (("show", "#{number}"), {"number": "7"}, ["#7"]),
        (("show", "--", "{title}"), {"title": "--force"}, ["--", "--force"]),
        (("show", "-{number}"), {"number": "7"}, ["-7"]),
        (("show", "{{number}}", "{}"), {}, ["{number}", "{}"]),
    ],
)
def test_a_value_stays_one_argument(words: tuple[str, ...], values: dict[str, str], expected: list[str]) -> None:
    assert arguments(words, **values) == ["show", *expected]


@each_case(
    ("words", "values", "message"),
    [
        (("show", "{title}"), {"title": "--force"}, "Own: {title} begins with -, so it could be an option: not run"),
        (("vim", "{path}"), {"path": "+!touch x"}, "Own: {path} begins with +, so it could be an option"),
        (("show", "{title}"), {"title": "\u200b-x"}, "Own: {title} begins with -"),
        (("show", "{title}"), {"title": " \n-x"}, "Own: {title} begins with -"),
        (("show", "{page}"), {"page": "-rf"}, "Own: {page} begins with -"),
        (("show", "{space}"), {"space": "../x"}, "Own: {space} is not the id: not run"),
        (("show", "{page}"), {"page": "a\nb"}, "Own: {page} is not the id: not run"),
        (("show", "{number}"), {"number": "7;x"}, "Own: {number} is not the number: not run"),
        (("show", "{number}"), {"number": "٧"}, "Own: {number} is not the number: not run"),
        (("show", "{path}"), {"path": "a/../../b"}, "Own: {path} points outside its folder: not run"),
        (("show", "{path}"), {"path": "/etc/passwd"}, "Own: {path} points outside its folder: not run"),
        (("show", "{path}"), {"path": "a\nb"}, "Own: {path} has characters that are not visible: not run"),
        (("show", "{url}"), {"url": "https://x/\u202e"}, "Own: {url} has characters that are not visible: not run"),
        (("show", "{title}"), {"title": "\u200b"}, "Own: {title} is empty here: not run"),
        (("show", "{title}"), {"title": "x" * (LONGEST_VALUE + 1)}, "Own: {title} is longer than 30,000 characters"),
    ],
)
def test_a_dangerous_value_is_refused(words: tuple[str, ...], values: dict[str, str], message: str) -> None:
    with pytest.raises(PresscheckError) as caught:
        arguments(words, **values)
    assert caught.value.message.startswith(message)


def test_script_receives_values_as_parameters() -> None:
    words = ('echo "$1" {title}', "--", "{title}", "~/{number}")
    assert arguments(words[:3] + words[3:], is_script=True, title="$(x)", number="7") == [
        *(SHELL, "-c", 'echo "$1" {title}', "Own"),
        *("--", "$(x)", str(Path.home() / "7")),
    ]
    with pytest.raises(PresscheckError, match="begins with -"):  # the script may pass it on without --
        arguments(words, is_script=True, title="-x", number="7")


def test_values_in_an_address_are_encoded() -> None:
    command = OwnCommand("Own", ("https://t.example/{path}?q={title}&u={url}",), mode="open")
    values = {"path": "a b/c", "title": "x&y=../#é", "url": "https://a/?b"}
    expected = "https://t.example/a%20b/c?q=x%26y%3D..%2F%23%C3%A9&u=https%3A%2F%2Fa%2F%3Fb"
    assert address_of(command, clean_values(command, values)) == expected


@each_case(
    ("output", "address"),
    [
        ("Created https://t.example/7.\nhttps://t.example/8", "https://t.example/7"),
        ('{"url": "https://t.example/7?a=b"}', "https://t.example/7?a=b"),
    ],
)
def test_the_first_printed_address_is_opened(output: str, address: str) -> None:
    assert printed_address(OwnCommand("Own", ("x",)), output) == address


def test_output_without_an_address_is_an_error() -> None:
    with pytest.raises(PresscheckError, match="Own: printed no web address"):
        printed_address(OwnCommand("Own", ("x",)), "file:///etc/passwd javascript:x")


def test_the_directory_must_exist(tmp_path: Path) -> None:
    command = OwnCommand("Own", ("x",), directory="{folder}")
    assert directory_of(command, {"folder": str(tmp_path)}) == tmp_path
    with pytest.raises(PresscheckError, match=r"Own: /no/such is not a folder: not run"):
        directory_of(command, {"folder": "/no/such"})


def test_every_field_can_be_filled() -> None:
    values = dict.fromkeys(FIELDS, "7")
    words = tuple(f"{{{name}}}" for name in FIELDS)
    assert arguments(("show", *words), **values) == ["show", *["7"] * len(FIELDS)]
