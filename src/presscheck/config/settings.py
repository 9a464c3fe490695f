"""What may be set for a profile: one row for each setting, from which the checks, the schema and the first file come.

`config.schema.json` beside this module is `schema()` as a file, for editors that complete and check TOML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A key of ``[profiles.NAME]``; `example` is as it is written in the file."""

    name: str
    kind: type[str] | type[bool]
    says: str
    example: str
    one_of: tuple[str, ...] = ()
    """All that it may be."""


SETTINGS: dict[str, Setting] = {
    one.name: one
    for one in (
        Setting("base_url", str, "The service: https://host, or unix:/path for a socket.", '"https://api.gitbook.com"'),
        Setting(
            "token_file",
            str,
            "A file with the token and nothing else, mode 0600.",
            '"~/.config/presscheck/token"',
        ),
        Setting("token_command", str, "A command that prints the token, run without a shell.", '"pass show docs"'),
        Setting("organization", str, "Where to begin, by title or id.", '"Acme"'),
        Setting("read_only", bool, "Refuse every write, whoever asks.", "true"),
        Setting("allow_http", bool, "Send the token over http to another machine too.", "true"),
        Setting(
            "notify",
            str,
            "What tells of an event: the terminal's bell, or its notification by OSC 9 or OSC 777; nothing without it.",
            '"bell"',
            one_of=("bell", "osc9", "osc777"),
        ),
        Setting("theme", str, "ink, paper, contrast, ansi, or one of your own.", '"paper"'),
    )
}
"""Every setting by its key."""


def schema() -> dict[str, Any]:
    """The JSON schema of the file."""
    types: dict[type[str] | type[bool], str] = {str: "string", bool: "boolean"}
    keys = {
        one.name: {"type": types[one.kind], "description": one.says}
        | ({"enum": list(one.one_of)} if one.one_of else {})
        for one in SETTINGS.values()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.toml of presscheck",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "profiles": {
                "type": "object",
                "description": "Profiles by name; without --profile and PRESSCHECK_PROFILE it is `default`.",
                "propertyNames": {"pattern": r"^[A-Za-z0-9_.-]{1,40}$"},
                "additionalProperties": {"type": "object", "additionalProperties": False, "properties": keys},
            }
        },
    }


def first_file() -> str:
    """The file to begin with: every setting, explained and commented out."""
    lines = [
        "# Settings of presscheck. `presscheck config check` names what is wrong with them.",
        "# The token does not stand here: `presscheck login` puts it into the system keyring.",
        "",
        "[profiles.default]",
    ]
    for one in SETTINGS.values():
        lines += [f"# {one.says}", f"# {one.name} = {one.example}"]
    return "\n".join(lines) + "\n"
