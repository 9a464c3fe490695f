"""What may be set for a profile and for a view: one row for each setting; checks, schema and first file come from it.

`config.schema.json` beside this module is `schema()` as a file, for editors that complete and check TOML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CACHE_SIZE = 500
"""MB that the cache of a profile may hold, when nothing is set."""

Kind = type[str] | type[bool] | type[int]


@dataclass(frozen=True)
class Setting:
    """A key of ``[profiles.NAME]`` or of ``[[views]]``; `example` is as in the file. A number is one at least."""

    name: str
    kind: Kind
    says: str
    example: str
    most: int | None = None
    """How many characters it may have."""
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
        Setting("organization", str, "Start location, by title or id.", '"Acme"'),
        Setting("read_only", bool, "Reject every write.", "true"),
        Setting("allow_http", bool, "Allow sending the token over http to another machine.", "true"),
        Setting(
            "cache_size",
            int,
            f"Maximum size of the cache in MB; {CACHE_SIZE} by default.",
            f"{CACHE_SIZE}",
        ),
        Setting(
            "notify",
            str,
            "How to notify of events: the terminal bell, or a notification by OSC 9 or OSC 777; off by default.",
            '"bell"',
            one_of=("bell", "osc9", "osc777"),
        ),
        Setting("sync", bool, "Download changes in the background for offline reading.", "true"),
        Setting("theme", str, "ink, paper, contrast, ansi, or one of your own.", '"paper"'),
    )
}
"""Every setting of a profile by its key."""

MOST_VIEWS = 20
"""How many views of their own a person may have."""
SORTS = ("updated", "created", "comments", "number", "author", "subject", "space")
"""What a view may be sorted by; with ``-`` before it, the other way round."""
VIEW_SETTINGS: dict[str, Setting] = {
    one.name: one
    for one in (
        Setting("name", str, "Title of the tab; must be unique.", '"Stale API"', most=40),
        Setting("query", str, "Filter, as typed after F.", '"space:api updated:>2w"', most=400),
        Setting(
            "sort",
            str,
            f"{', '.join(SORTS)}; with - before it, the other way round.",
            '"-comments"',
            one_of=(*SORTS, *(f"-{one}" for one in SORTS)),
        ),
        Setting("group", str, "space: rows below a heading for each space.", '"space"', one_of=("space",)),
    )
}
"""Every setting of a view by its key."""


def schema() -> dict[str, Any]:
    """The JSON schema of the file."""
    profile = {"type": "object", "additionalProperties": False, "properties": _described(SETTINGS)}
    view = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": _described(VIEW_SETTINGS),
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
                "additionalProperties": profile,
            },
            "views": {
                "type": "array",
                "description": "Saved views of the inbox, shown as tabs after the built-in ones.",
                "maxItems": MOST_VIEWS,
                "items": view,
            },
        },
    }


def first_file() -> str:
    """The file to begin with: every setting, explained and commented out."""
    lines = [
        "# Settings of presscheck. Check them with `presscheck config check`.",
        "# Do not put the token here: `presscheck login` stores it in the system keyring.",
        "",
        "[profiles.default]",
        *_explained(SETTINGS),
        "",
        "# A saved view of the inbox.",
        "# [[views]]",
        *_explained(VIEW_SETTINGS),
    ]
    return "\n".join(lines) + "\n"


def _described(settings: dict[str, Setting]) -> dict[str, Any]:
    types: dict[Kind, dict[str, Any]] = {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 1},
    }
    found: dict[str, Any] = {}
    for one in settings.values():
        found[one.name] = {**types[one.kind], "description": one.says}
        found[one.name] |= {"maxLength": one.most} if one.most else {}
        found[one.name] |= {"enum": list(one.one_of)} if one.one_of else {}
    return found


def _explained(settings: dict[str, Setting]) -> list[str]:
    return [line for one in settings.values() for line in (f"# {one.says}", f"# {one.name} = {one.example}")]
