"""The settings of profiles, views, prose checks and own commands: validation, JSON schema and the initial file.

`config.schema.json` next to this module is the output of `schema()`, for editors that check TOML files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

CACHE_SIZE = 500
"""The default size limit of a cache in MB."""
TEXT_WIDTH = 96
"""The default width of text in cells, for easy reading."""
NARROWEST_TEXT = 20
"""The minimum width of text in cells, regardless of the setting."""

FIRST_SCREENS = ("inbox", "browse", "publish", "admin", "last")
"""The values of the setting `first_screen`."""
NARROWEST_PANE, WIDEST_PANE = 16, 200
"""The limits of the width of a pane, in cells."""
SMALLEST_PREVIEW, LARGEST_PREVIEW = 10, 90
"""The limits of the size of the inbox preview, in percent."""

LOW_BANDWIDTH = ("auto", "on", "off")
"""The values of the setting `low_bandwidth`."""

_ADDRESS = re.compile(r"^(https?://\S+|unix:/.+)$")
_HOURS = re.compile(r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$")
Kind = type[str] | type[bool] | type[int]


@dataclass(frozen=True)
class Setting:
    """A key of ``[profiles.NAME]``, ``[[views]]``, ``[[checks]]`` or ``[[commands]]``."""

    name: str
    kind: Kind
    description: str
    example: str
    """An example of the value, as written in the file."""
    max_length: int | None = None
    """The maximum length in characters."""
    one_of: tuple[str, ...] = ()
    """The allowed values."""
    pattern: re.Pattern[str] | None = None
    """A regular expression that the value must match."""
    smallest: int = 1
    """The minimum of a number."""
    largest: int | None = None
    """The maximum of a number; None without a limit."""


def _pane_width(name: str, pane: str, default: str) -> Setting:
    limits = f"{NARROWEST_PANE} to {WIDEST_PANE}"
    return Setting(
        name,
        int,
        f"The columns of {pane}, {limits}; {default}. Ignored where it does not fit.",
        "40",
        smallest=NARROWEST_PANE,
        largest=WIDEST_PANE,
    )


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "base_url",
            str,
            "The service: https://host, or unix:/path for a socket.",
            '"https://api.gitbook.com"',
            pattern=_ADDRESS,
        ),
        Setting(
            "token_file",
            str,
            "A file with the token and nothing else, mode 0600.",
            '"~/.config/presscheck/token"',
        ),
        Setting("token_command", str, "A command that prints the token, run without a shell.", '"pass show docs"'),
        Setting("organization", str, "Start location, by title or id.", '"Acme"'),
        Setting(
            "user",
            str,
            "Who you are, for a service that does not tell: your id, e-mail address or name.",
            '"ana@example.org"',
            max_length=200,
        ),
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
        Setting(
            "notify_command",
            str,
            "A command for each notification, run without a shell; the text is its last argument.",
            '"notify-send"',
        ),
        Setting(
            "quiet_hours",
            str,
            "The local time in which no notification is sent.",
            '"22:00-07:00"',
            pattern=_HOURS,
        ),
        Setting("sync", bool, "Download changes in the background for offline reading.", "true"),
        Setting(
            "owners",
            str,
            "A file in the syntax of CODEOWNERS with the owners of pages; `owners` next to this file by default.",
            '"~/docs/OWNERS"',
        ),
        Setting(
            "checks",
            str,
            "A file with the severities of the checks of sites; `checks.toml` next to this file by default.",
            '"~/docs/presscheck.toml"',
        ),
        Setting(
            "editor",
            str,
            "Where pages are edited; by default external if VISUAL or EDITOR is set, else built-in.",
            '"built-in"',
            one_of=("built-in", "external"),
        ),
        Setting(
            "images",
            str,
            "How pictures of pages are drawn, with the extra images; by default auto, what the terminal can do.",
            '"blocks"',
            one_of=("auto", "blocks", "kitty", "sixel", "off"),
        ),
        Setting(
            "low_bandwidth",
            str,
            "Whether to send few bytes to the terminal; by default auto, if the terminal answers slowly.",
            '"on"',
            one_of=LOW_BANDWIDTH,
        ),
        Setting(
            "ascii",
            bool,
            "Whether screens and lines have ASCII characters only; by default if the locale is not UTF-8.",
            "true",
        ),
        Setting(
            "reduce_motion",
            bool,
            "Whether lists and pages jump instead of gliding when they scroll; false by default.",
            "true",
        ),
        Setting(
            "text_width",
            int,
            f"The columns that the text of a page may have, if the tree is next to it; {TEXT_WIDTH} by default.",
            "72",
        ),
        Setting(
            "agents",
            str,
            "What agents may do: read, write drafts, or send their drafts; read by default.",
            '"draft"',
            one_of=("read", "draft", "send"),
        ),
        Setting(
            "first_screen",
            str,
            "The screen at the start; inbox by default, and last is the place that you left last.",
            '"browse"',
            one_of=FIRST_SCREENS,
        ),
        Setting(
            "first_view",
            str,
            "The view of the inbox at the start, by the title of its tab; by default the one that was shown last.",
            '"Mine"',
            max_length=40,
        ),
        Setting(
            "preview_side",
            str,
            "Where the inbox has its preview; below the rows by default.",
            '"right"',
            one_of=("below", "right"),
        ),
        Setting(
            "preview_size",
            int,
            f"The size of that preview, {SMALLEST_PREVIEW} to {LARGEST_PREVIEW} percent of the lines or, on the right, "
            "of the columns.",
            "60",
            smallest=SMALLEST_PREVIEW,
            largest=LARGEST_PREVIEW,
        ),
        _pane_width("tree_width", "the tree in Browse", "33 by default, in a wide terminal 46"),
        _pane_width("pages_width", "the list of pages in a review", "34 by default, in a wide terminal 50"),
        _pane_width("outline_width", "the headings next to a page", "a quarter of the terminal by default"),
        Setting("theme", str, "ink, paper, contrast, ansi, or the name of your own theme.", '"paper"'),
    )
}
"""The settings of a profile by key."""

INBOX_PROFILES_HELP = "The profiles whose inboxes are shown together, in this order; by default all."
"""The description of the list `inbox_profiles` at the top of the file."""

MAX_VIEWS = 20
"""The maximum number of saved views."""
SORTS = ("updated", "created", "comments", "number", "author", "subject", "space")
"""The sort orders of a view; a leading ``-`` reverses an order."""
VIEW_SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("name", str, "Title of the tab; must be unique.", '"Stale API"', max_length=40),
        Setting("query", str, "Filter, as typed after F, without sort:.", '"space:api updated:>2w"', max_length=400),
        Setting(
            "sort_by",
            str,
            f"{', '.join(SORTS)}, smallest or oldest first; a leading - reverses the order.",
            '"-comments"',
            one_of=(*SORTS, *(f"-{order}" for order in SORTS)),
        ),
        Setting("group", str, "space: rows below a heading for each space.", '"space"', one_of=("space",)),
    )
}
"""The settings of a view by key."""
FORMER_SORT = Setting(
    "sort",
    str,
    f"{', '.join(SORTS)}; replaced by sort_by, because updated, created and comments were largest first.",
    '"comments"',
    one_of=VIEW_SETTINGS["sort_by"].one_of,
)
"""The sort order of a view in version 0.1.0."""
FORMERLY_DESCENDING = ("updated", "created", "comments")
"""The orders that version 0.1.0 sorted largest first without a leading ``-``."""

MAX_CHECKS = 20
"""The maximum number of prose checks."""
TIMEOUT = 60
"""The default time limit of a prose check, in seconds."""
REVIEW_TIMEOUT = 600
"""The default time limit of a program that reviews a change request, in seconds."""
CHECK_SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("name", str, "Name of the check; must be unique.", '"vale"', max_length=40),
        Setting(
            "command",
            str,
            "The command or its words, run without a shell; the pages replace {pages}, or follow at the end.",
            '"vale --output JSON"',
        ),
        Setting(
            "format",
            str,
            "The output of the command; json by default.",
            '"vale"',
            one_of=("json", "sarif", "typos", "markdownlint", "vale"),
        ),
        Setting(
            "severity",
            str,
            "The severity of all findings; by default that of the program.",
            '"warning"',
            one_of=("error", "warning", "info"),
        ),
        Setting("timeout", int, f"The time limit in seconds; {TIMEOUT} by default.", "120"),
        Setting("directory", str, "Where the command runs, so that it finds its own settings.", '"~/docs"'),
    )
}
"""The settings of a prose check by key."""

MAX_COMMANDS = 40
"""The maximum number of own commands."""
COMMAND_TIMEOUT = 600
"""The default time limit of an own command, in seconds."""
PLACES = ("inbox", "review", "browse", "publish", "admin", "outbox")
"""The places that may offer an own command."""
COMMAND_SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("name", str, "Title of the command; must be unique.", '"Open ticket"', max_length=40),
        Setting(
            "command",
            str,
            "The command or its words, with fields such as {number}; run without a shell.",
            '["ticket", "--title", "{title}"]',
        ),
        Setting("key", str, "A key or key sequence, or a list of them; without it, only the palette.", '"g T"'),
        Setting(
            "place",
            str,
            "Where it is offered, or a list of places; by default where all of its fields have a value.",
            '"review"',
            one_of=PLACES,
        ),
        Setting(
            "mode",
            str,
            "run in the background, by default; suspend the app, capture the output, or open the address it prints.",
            '"capture"',
            one_of=("run", "suspend", "capture", "open"),
        ),
        Setting("confirm", bool, "Ask before each run, and show the arguments.", "true"),
        Setting("shell", bool, 'Run the first word in a shell; the others are its "$1", "$2".', "true"),
        Setting("timeout", int, f"The time limit in seconds; {COMMAND_TIMEOUT} by default.", "120"),
        Setting(
            "directory",
            str,
            "Where the command runs, a path or {folder}; by default where presscheck was started.",
            '"~/docs"',
        ),
    )
}
"""The keys of a table `[[commands]]`, by name."""

PROJECT_SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("organization", str, "Start location, by title or id.", '"Acme"', max_length=200),
        Setting(
            "space",
            str,
            "The space of commands that name none, and under the cursor at first, by title or id.",
            '"Guides"',
            max_length=200,
        ),
        Setting(
            "site",
            str,
            "The site of commands that name none, and under the cursor at first, by title or id.",
            '"Docs"',
            max_length=200,
        ),
    )
}
"""The settings at the top of a project file by key."""


def schema() -> dict[str, Any]:
    """Return the JSON schema of the settings file."""
    profile = {"type": "object", "additionalProperties": False, "properties": _described(SETTINGS)}
    view = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            **_described(VIEW_SETTINGS),
            "sort": {**_described({"sort": FORMER_SORT})["sort"], "deprecated": True},
        },
    }
    check = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            **(settings := _described(CHECK_SETTINGS)),
            "command": {**settings["command"], "type": ["string", "array"], "items": {"type": "string"}},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.toml of presscheck",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "inbox_profiles": {
                "type": "array",
                "description": f"{INBOX_PROFILES_HELP} It comes before all tables.",
                "minItems": 1,
                "uniqueItems": True,
                "items": {"type": "string"},
            },
            "profiles": {
                "type": "object",
                "description": "Profiles by name; without --profile and PRESSCHECK_PROFILE it is `default`.",
                "propertyNames": {"pattern": r"^[A-Za-z0-9_.-]{1,40}$"},
                "additionalProperties": profile,
            },
            "views": {
                "type": "array",
                "description": "Saved views of the inbox, shown as tabs after the built-in ones.",
                "maxItems": MAX_VIEWS,
                "items": view,
            },
            "checks": {
                "type": "array",
                "description": "Programs that check the text of pages.",
                "maxItems": MAX_CHECKS,
                "items": check,
            },
            "commands": {
                "type": "array",
                "description": "Own commands: programs that a key or the palette runs in the app.",
                "maxItems": MAX_COMMANDS,
                "items": _command_schema(),
            },
            "aliases": {
                "type": "object",
                "description": 'Names for command lines, such as co = "cr view"; a command has precedence.',
                "propertyNames": {"pattern": r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"},
                "additionalProperties": {"type": "string"},
            },
            "folders": {
                "type": "object",
                "description": "Folders for checkouts by the id or title of their space, such as guides = "
                '"~/docs/guides".',
                "additionalProperties": {"type": "string", "pattern": "^(~?/)"},
            },
            "review_programs": {
                "type": "object",
                "description": "Programs that review a change request, by name: command lines, run without a shell.",
                "propertyNames": {"pattern": r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"},
                "additionalProperties": {"type": "string"},
            },
            "keys": {
                "type": "object",
                "description": 'Keys by name of the command, such as merge = "ctrl+g", and a preset to begin with; '
                "`presscheck keys` lists the commands.",
                "properties": {"preset": {"type": "string"}},
                "additionalProperties": {
                    "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]
                },
            },
        },
    }


def _command_schema() -> dict[str, Any]:
    settings = _described(COMMAND_SETTINGS)
    places = settings["place"]
    items = {"command": {"type": "string"}, "key": {"type": "string"}, "place": {"enum": places.pop("enum")}}
    for name, item in items.items():
        settings[name] = {
            "description": settings[name]["description"],
            "anyOf": [{"type": "string", **item}, {"type": "array", "minItems": 1, "items": item}],
        }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "command"],
        "properties": settings,
    }


def project_schema() -> dict[str, Any]:
    """Return the JSON schema of a project file."""
    whole = schema()
    tables = whole["properties"]
    below = {"type": "string", "pattern": "^[^/~]"}
    directory = {**below, "description": "Where the command runs: the folder of this file, or one below it."}
    for name in ("checks", "commands"):
        tables[name]["items"]["properties"]["directory"] = directory
    folders = {
        "description": 'Folders for checkouts by the id or title of their space, such as Guides = "guides", below the '
        "folder of this file.",
        "additionalProperties": below,
    }
    return {
        **whole,
        "title": ".presscheck.toml of presscheck",
        "properties": {
            **_described(PROJECT_SETTINGS),
            **{name: tables[name] for name in ("views", "checks", "review_programs", "commands")},
            "folders": tables["folders"] | folders,
        },
    }


def first_file() -> str:
    """Return the initial settings file: every setting with its description, commented out."""
    lines = [
        "# Settings of presscheck. Check them with `presscheck config check`.",
        "# Do not put the token here: `presscheck login` stores it in the system keyring.",
        "",
        f"# {INBOX_PROFILES_HELP}",
        '# inbox_profiles = ["default"]',
        "",
        "[profiles.default]",
        *_explained(SETTINGS),
        "",
        "# A saved view of the inbox.",
        "# [[views]]",
        *_explained(VIEW_SETTINGS),
        "",
        "# A program that checks the text of pages.",
        "# [[checks]]",
        *_explained(CHECK_SETTINGS),
        "",
        "# A command of your own, for a key or the palette of the app.",
        "# [[commands]]",
        *_explained(COMMAND_SETTINGS),
        "",
        "# Programs that review a change request, by name.",
        "# [review_programs]",
        '# simply = "python3 ~/docs/review.py"',
        "",
        "# Your own names for command lines.",
        "# [aliases]",
        '# drafts = "cr list --status draft"',
        "",
        "# Folders for checkouts, by the id or title of their space.",
        "# [folders]",
        '# Guides = "~/docs/guides"',
        "",
        "# Keys by name of the command, and a preset to begin with; `presscheck keys` lists the commands.",
        "# [keys]",
        '# merge = "ctrl+g"',
    ]
    return "\n".join(lines) + "\n"


def _described(settings: dict[str, Setting]) -> dict[str, Any]:
    types: dict[Kind, dict[str, Any]] = {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
    }
    properties: dict[str, Any] = {}
    for setting in settings.values():
        properties[setting.name] = {**types[setting.kind], "description": setting.description}
        if setting.kind is int:
            properties[setting.name] |= {"minimum": setting.smallest}
            properties[setting.name] |= {"maximum": setting.largest} if setting.largest else {}
        properties[setting.name] |= {"maxLength": setting.max_length} if setting.max_length else {}
        properties[setting.name] |= {"enum": list(setting.one_of)} if setting.one_of else {}
        properties[setting.name] |= {"pattern": setting.pattern.pattern} if setting.pattern else {}
    return properties


def _explained(settings: dict[str, Setting]) -> list[str]:
    return [
        line
        for setting in settings.values()
        for line in (f"# {setting.description}", f"# {setting.name} = {setting.example}")
    ]
