"""`[[commands]]` of a settings file: fields, words, limits, and errors with line and key."""

from pathlib import Path

import pytest

from presscheck.config.own_commands import OwnCommand, filled
from presscheck.config.settings_schema import MAX_COMMANDS
from presscheck.config.validation import errors_in, read, read_commands

HEAD = '[[commands]]\nname = "Own"\n'


def settings(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("command", ["\"show --as 'a b' {title}\"", '["show", "--as", "a b", "{title}"]'])
def test_command_is_a_string_or_a_list_of_words(tmp_path: Path, command: str) -> None:
    (own,), errors = read_commands(settings(tmp_path, f"{HEAD}command = {command}\n"))
    assert (own.words, own.fields, errors) == (("show", "--as", "a b", "{title}"), ("title",), ())


def test_every_setting_is_read(tmp_path: Path) -> None:
    text = (
        'command = ["echo \\"$1\\" | wc", "{page}"]\nshell = true\nconfirm = true\nmode = "capture"\ntimeout = 5\n'
        'key = ["g T", "f9"]\nplace = ["inbox", "browse"]\ndirectory = "{folder}"\n'
    )
    own = OwnCommand(
        *("Own", ('echo "$1" | wc', "{page}"), ("g T", "f9"), ("inbox", "browse"), "capture"),
        *(True, True, 5, "{folder}", 1),
    )
    assert read_commands(settings(tmp_path, HEAD + text)) == ((own,), ())
    assert own.fields == ("page", "folder")


def test_a_script_on_one_line_is_not_split(tmp_path: Path) -> None:
    file = settings(tmp_path, HEAD + "command = \"date | awk '{print $1}' > ${path}\"\nshell = true\n")
    (own,), errors = read_commands(file)
    assert (own.words, own.fields, errors) == (("date | awk '{print $1}' > ${path}",), (), ())


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{number}", "7"),
        ("--as={number}/{title}", "--as=7/{number}"),
        ("{{number}}", "{number}"),
        ("{{.Name}} {{end}} ${number}", "{{.Name}} {{end}} ${number}"),
        ("{", "{"),
    ],
)
def test_fields_in_values_are_not_replaced(template: str, text: str) -> None:
    assert filled(template, {"number": "7", "title": "{number}"}) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, ":1: commands.1 has no command: add it"),
        ('[[commands]]\ncommand = "x"\n', ":1: commands.1.name must be a quoted text of at most 40 characters"),
        ('[[commands]]\nname = " "\ncommand = "x"\n', ":2: commands.1.name must be"),
        (f'[[commands]]\nname = "{"n" * 41}"\ncommand = "x"\n', ":2: commands.1.name must be"),
        ('[[commands]]\nname = "a\\u001bb"\ncommand = "x"\n', ":2: commands.1.name must be"),
        (f'{HEAD}command = "x"\n\n[[commands]]\nname = "own"\ncommand = "y"\n', ":6: commands.2.name is the name of"),
        (HEAD + 'command = "it\'s"\n', ":3: commands.1.command must be a command or a list of words"),
        (HEAD + "command = []\n", ":3: commands.1.command must be a command"),
        (HEAD + 'command = ["x", 3]\n', ":3: commands.1.command must be a command"),
        (HEAD + 'command = "   "\n', ":3: commands.1.command must be a command"),
        (HEAD + 'command = "   "\nshell = true\n', ":3: commands.1.command must be a command"),
        (HEAD + 'command = "x {nunber}"\n', ":3: commands.1.command has a field that is not known; known: {space}"),
        (HEAD + 'command = "{path} x"\n', ":3: commands.1.command must not begin with a field"),
        (HEAD + 'command = "./{path} x"\n', ":3: commands.1.command must not begin with a field"),
        (HEAD + 'command = "echo {title}"\nshell = true\n', ":3: commands.1.command has a field in a script"),
        (HEAD + 'command = ["echo", "{titel}"]\nshell = true\n', ":3: commands.1.command has a field that is not"),
        (HEAD + 'command = "https://x.example/{number}"\n', ":3: commands.1.command is a web address, which needs"),
        (HEAD + 'command = "https://{title}/x"\nmode = "open"\n', ":3: commands.1.command must be a single web"),
        (HEAD + 'command = "https://x{title}/x"\nmode = "open"\n', ":3: commands.1.command must be a single web"),
        (HEAD + 'command = "https://x.example y"\nmode = "open"\n', ":3: commands.1.command must be a single web"),
        (HEAD + 'command = "x"\nmode = "print"\n', ":4: commands.1.mode must be one of run, suspend, capture, open"),
        (HEAD + 'command = "x"\nmode = ["run"]\n', ":4: commands.1.mode must be one of"),
        (HEAD + 'command = "x"\nplace = "inbxo"\n', ":4: commands.1.place must be one of inbox, review, browse"),
        (HEAD + 'command = "x"\nplace = []\n', ":4: commands.1.place must be one of"),
        (HEAD + 'command = "x"\nkey = ""\n', ":4: commands.1.key must be a key such as"),
        (HEAD + 'command = "x"\nkey = ["x", 3]\n', ":4: commands.1.key must be a key"),
        (HEAD + 'command = "x"\nshell = "no"\n', ":4: commands.1.shell must be true or false"),
        (HEAD + 'command = "x"\nconfirm = 1\n', ":4: commands.1.confirm must be true or false"),
        (HEAD + 'command = "x"\ntimeout = 0\n', ":4: commands.1.timeout must be a whole number from 1 to 3600"),
        (HEAD + 'command = "x"\ntimeout = true\n', ":4: commands.1.timeout must be"),
        (HEAD + 'command = "x"\ndirectory = "docs"\n', ":4: commands.1.directory must be a quoted path"),
        (HEAD + 'command = "x"\ndirectory = "/{folder}"\n', ":4: commands.1.directory must be a quoted path"),
        (HEAD + 'command = "x"\ncolor = "red"\n', ":4: commands.1.color is not a known setting; known: name"),
        ('commands = "x"\n', ":1: commands must be written as [[commands]]"),
    ],
)
def test_error_names_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    file = settings(tmp_path, text)
    (error,) = errors_in(file)
    assert message in str(error)
    assert read_commands(file)[1] == (error,)


def test_invalid_command_is_skipped_and_the_profile_is_read(tmp_path: Path) -> None:
    text = f'{HEAD}\n[[commands]]\nname = "Good"\ncommand = "x"\n\n[profiles.default]\ntheme = "paper"\n'
    file = settings(tmp_path, text)
    assert [(command.name, command.number) for command in read_commands(file)[0]] == [("Good", 2)]
    assert read(file, "default") == {"theme": "paper"}


def test_number_of_commands_is_limited(tmp_path: Path) -> None:
    text = "".join(f'[[commands]]\nname = "c{number}"\ncommand = "x"\n' for number in range(MAX_COMMANDS + 1))
    commands, (error,) = read_commands(settings(tmp_path, text))
    assert len(commands) == MAX_COMMANDS
    assert f"exceeds the limit of {MAX_COMMANDS} commands" in str(error)
