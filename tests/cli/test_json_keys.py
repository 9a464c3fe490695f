"""The keys of every `--json` output, which scripts rely on, are recorded in `json_keys.txt`.

Commands that print the response of one operation have the fields of the API, which `tests/contract` checks. The other
commands run here. `PRESSCHECK_UPDATE_GOLDEN=1` rewrites the file.
"""

from __future__ import annotations

import inspect
import json
import os
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from tests.cli.help import commands, is_api
from tests.cli.shell import Shell
from tests.root import ROOT

GOLDEN = ROOT / "tests" / "cli" / "json_keys.txt"
SITE = "Tallowick Docs"
MODULES = "presscheck.cli.operations"
DEPTH = 2
"""Levels of objects whose keys are compared; below them are objects of the API."""
VALUES = {"counts", "extras", "sources", "terminal", "versions"}
"""Keys of objects whose own keys are data."""
STEPS: tuple[tuple[str, ...], ...] = (
    ("admin", "report"),
    ("alias", "list"),
    ("keys",),
    ("cache", "path"),
    ("cache", "size"),
    ("config", "check"),
    ("config", "show"),
    ("checkout", "cli", "{directory}/cli"),
    ("status", "{directory}/cli"),
    ("diff", "{directory}/cli"),
    ("pull", "{directory}/cli"),
    ("push", "{directory}/cli"),
    ("cr", "create", "cli", "--subject", "From a shell"),
    ("cr", "edit", "cli#4", "--page", "install", "--body", "# Install\n\nAt once."),
    ("cr", "edit", "cli#4", "--status", "open"),
    ("cr", "list"),
    ("site", "feedback", SITE),
    ("cr", "comment", "api#4", "--body", "One"),
    ("cr", "reply", "api#4", "{id}", "--body", "Two"),
    ("cr", "comment", "api#4", "--body", "Three"),
    ("cr", "resolve", "api#4", "{id}"),
    ("cr", "comment", "api#4", "--body", "Four", "--pending"),
    ("outbox", "list"),
    ("outbox", "drop", "{outbox}"),
    ("cr", "review", "api#4", "--comment", "Five"),
    ("cr", "review", "api#4", "--export", "json"),
    ("cr", "review", "api#4", "--with", "true"),
    ("cr", "copy", "api#5", "reference/errors", "--to", "4"),
    ("cr", "move", "api#5", "authentication/scopes", "--to", "4"),
    ("cr", "drop", "api#5", "authentication/sessions", "--yes"),
    ("cr", "diff", "api#5"),
    ("cr", "follow", "api#4"),
    ("cr", "mute", "api#4"),
    ("cr", "unmute", "api#4"),
    ("cr", "unfollow", "api#4"),
    ("cr", "owners", "api#5"),
    ("cr", "review", "api#5", "--approve"),
    ("cr", "approve", "api#5"),
    ("cr", "reviewers", "api#5"),
    ("cr", "show", "api#5"),
    ("cr", "view", "api#5"),
    ("cr", "update", "guides#3"),
    ("cr", "merge", "cli#4", "--yes"),
    ("cr", "revert", "cli#4"),
    ("cr", "archive", "guides#3"),
    ("outbox", "history"),
    ("outbox", "undo", "{id}", "--yes"),
    ("doctor",),
    ("inbox",),
    ("inbox", "--all-profiles"),
    ("inbox", "--since", "2d"),
    ("open", "api#5"),
    ("page", "edit", "guides#3", "quickstart", "--body", "# Quickstart"),
    ("page", "links", "api"),
    ("page", "list", "api"),
    ("page", "view", "api", "overview"),
    ("profiles",),
    ("saml", "create", "--label", "Okta"),
    ("saml", "list"),
    ("saml", "show", "Okta"),
    ("search", "token"),
    ("site", "build", SITE, "{directory}/built"),
    ("site", "check", SITE),
    ("site", "config", "pull", SITE, "{directory}/site.toml"),
    ("site", "customization", "show", SITE),
    ("site", "customization", "set", SITE, "--settings", "{output}", "--overwrite", "--yes"),
    ("site", "config", "diff", SITE, "{directory}/site.toml"),
    ("site", "config", "push", SITE, "{directory}/site.toml", "--yes"),
    ("site", "history", SITE),
    ("site", "move", SITE, "News", "--after", "Developers"),
    ("site", "open", SITE),
    ("site", "preview", SITE),
    ("site", "publish", SITE, "--yes"),
    ("site", "redirects", "add", SITE, "/old", "https://example.org/"),
    ("site", "redirects", "export", SITE),
    ("site", "redirects", "list", SITE),
    ("site", "redirects", "test", SITE, "/old"),
    ("site", "redirects", "import", SITE, "{directory}/redirects.csv", "--yes"),
    (
        "site",
        "set-schema",
        SITE,
        "--json-schema",
        '{"type": "object", "properties": {}, "additionalProperties": false}',
    ),
    ("site", "schema", SITE),
    ("site", "restore", SITE, "latest", "--yes"),
    ("site", "show", SITE),
    ("site", "structure", SITE),
    ("space", "follow", "api"),
    ("space", "mute", "api"),
    ("space", "unmute", "api"),
    ("space", "unfollow", "api"),
    ("space", "links", "api"),
    ("space", "page", "api", "overview"),
    ("space", "pages", "api"),
    ("space", "replace", "api", "token", "key"),
    ("sync",),
    ("whoami",),
    ("cache", "clear", "--yes"),
)
"""Commands, in an order in which each has something to print. `{output}` is the previous output; `{id}` and `{outbox}`
are values of the first object of an earlier output."""
NOT_RUN = {
    "agent",
    "conversation ingest",
    "cr check",
    "integration dev",
    "openapi compare",
    "outbox accept",
    "outbox edit",
    "outbox retry",
    "outbox send",
}
"""Commands that do not run here: they print no JSON or need another program, and other tests check their keys."""


def key_paths(value: Any, depth: int = DEPTH) -> Iterator[str]:
    """Yield the paths of the keys in a value, such as `[].user.id`."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from (f"[]{path}" for path in key_paths(item, depth))
    elif isinstance(value, dict) and depth:
        for key, item in cast("dict[str, Any]", value).items():
            yield f".{key}"
            yield from (f".{key}{path}" for path in key_paths(item, 0 if key in VALUES else depth - 1))


def test_key_paths() -> None:
    value = {"a": [{"b": 1}, {"c": {"d": 2}}], "counts": {"x": 1}}
    assert [*key_paths(value)] == [".a", ".a[].b", ".a[].c", ".counts"]


@cache
def commands_with_json() -> set[str]:
    """Return the commands whose `--json` output is not simply the response to one operation."""
    return {
        context.command_path.removeprefix("presscheck ")
        for context in commands()
        if not is_api(context) and any(param.name == "as_json" for param in context.command.params)
        if context.command.callback
        if not inspect.unwrap(context.command.callback).__module__.startswith(MODULES)
    }


def words_of(step: tuple[str, ...]) -> str:
    """Return the words of a command without its arguments."""
    names = commands_with_json() | {"saml create"}
    return next(name for count in (3, 2, 1) if (name := " ".join(step[:count])) in names)


def test_every_command_with_json_is_run() -> None:
    assert {words_of(step) for step in STEPS} - {"saml create"} == commands_with_json() - NOT_RUN


@pytest.mark.slow
def test_the_keys_of_the_json_output_match_the_golden_file(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "redirects.csv").write_text("/from,https://example.org/to\n")
    keys: dict[str, set[str]] = {}
    before = {"directory": str(tmp_path)}
    for step in STEPS:
        words = list(step)
        for key, value in before.items():
            words = [word.replace(f"{{{key}}}", value) for word in words]
        ran = shell.run(*words, "--json")
        assert ran.exit_code in (0, 6), (words, ran.stderr, ran.exception)
        before["output"] = ran.stdout
        value = json.loads(ran.stdout) if ran.stdout else None
        first = value[0] if isinstance(value, list) and value else value
        before |= {key: str(first[key]) for key in ("id", "outbox") if isinstance(first, dict) and key in first}
        keys.setdefault(words_of(step), set()).update(key_paths(value))
    lines = (textwrap.fill(" ".join(sorted(keys[words])), 100, break_on_hyphens=False) for words in sorted(keys))
    text = "".join(
        f"{words}\n{textwrap.indent(line, '    ')}\n" for words, line in zip(sorted(keys), lines, strict=True)
    )
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "run this test with PRESSCHECK_UPDATE_GOLDEN=1 and look at the diff"
