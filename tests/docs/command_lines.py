"""Find the command lines of presscheck in shell scripts and check them against its commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from enum import Enum
from typing import Any

import click
from tests.manual import context_of

from presscheck.cli.main import BUILT_IN_ALIASES, command

PROGRAM = "presscheck"
_COMMENT = re.compile(r"(?:^|\s)#.*")
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)")
_VARIABLE = re.compile(r"[A-Z_]+=.*")
_CONTROL = re.compile(r"[|&;]+")
_REDIRECTION = re.compile(r"[<>]+")


def commands_in(script: str) -> Iterator[list[str]]:
    """Yield the words after `presscheck` of each command line in a shell script."""
    for line in script.replace("\\\n", " ").split("\n"):
        line = _COMMENT.sub("", line)
        for inner in (line, *_SUBSTITUTION.findall(line)):
            yield from _of_line(inner)


def _of_line(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    words, skips = list[str](), False
    for word in (*lexer, ";"):
        if _CONTROL.fullmatch(word):
            while words and _VARIABLE.fullmatch(words[0]):
                words = words[1:]
            if words and words[0] == PROGRAM:
                yield words[1:]
            words = []
        elif _REDIRECTION.fullmatch(word):
            skips = True
        elif skips:
            skips = False
        else:
            words.append(word)


def problem(words: list[str], *, is_whole: bool = True) -> str | None:
    """Check a command line. Returns the error, or None if the command line is valid.

    Args:
        words: the words after `presscheck`.
        is_whole: whether required arguments and options must be present; a sentence may name a command without them.
    """
    try:
        _check(words, is_whole=is_whole)
    except click.UsageError as error:
        return f"{PROGRAM} {shlex.join(words)}: {error.format_message()}"
    return None


def _check(words: list[str], *, is_whole: bool) -> None:
    if words and words[0] in BUILT_IN_ALIASES:
        words = [*shlex.split(BUILT_IN_ALIASES[words[0]]), *words[1:]]
    found: click.Command | None = command
    context: click.Context | None = None
    while found is not None:
        context = context_of(found, context, found.name or PROGRAM)
        values, words = _parsed(found, context, words)
        for option in found.params:
            _check_value(option, context, values.get(option.name or ""), is_whole=is_whole)
        if not isinstance(found, click.Group):
            if words and is_whole:
                raise click.UsageError(f"unexpected: {shlex.join(words)}")
            return
        if not words:
            if is_whole and not found.invoke_without_command:
                raise click.UsageError("it needs a command")
            return
        name, words = words[0], words[1:]
        inner = found.get_command(context, name)
        if inner is None:
            raise click.UsageError(f"no command {name}")
        found = inner


def _parsed(found: click.Command, context: click.Context, words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Parse the options of a command. Returns the given values by parameter name and the words for a subcommand."""
    values, left, _ = found.make_parser(context).parse_args(list(words))
    return {name: value for name, value in values.items() if not _is_missing(value)}, left


def _is_missing(value: Any) -> bool:
    return value is None or value == () or isinstance(value, Enum)  # click marks missing values with an enum member


def _check_value(option: click.Parameter, context: click.Context, value: Any, *, is_whole: bool) -> None:
    """Check choices and numbers. Other types read files and settings, which may not exist here."""
    if value is None:
        if is_whole and option.required:
            raise click.MissingParameter(ctx=context, param=option)
        return
    if isinstance(option.type, click.Choice | click.IntRange | click.FloatRange | type(click.INT)):
        is_flag = isinstance(option, click.Option) and (option.is_flag or option.count)
        for one in value if isinstance(value, list | tuple) else [value]:
            if not is_flag:
                option.type.convert(one, option, context)
