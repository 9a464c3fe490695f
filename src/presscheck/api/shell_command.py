"""Formats calls as shell commands, such as `presscheck api get-space --space-id s1`, without secrets.

The command line uses the same functions for the names of its commands and options.
"""

import json
import re
import shlex
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, cast, get_args, get_origin
from urllib.parse import quote

from presscheck.api.operation import Operation

HIDDEN = "…"
"""Replaces a secret."""

_words = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_secret = re.compile(r"secret|token|password|credential|share_?key|private_?key|api_?key|invite_?id", re.IGNORECASE)
_login = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_asked_secret = re.compile(rf"([?&][^=&\s]*(?:{_secret.pattern})[^=&\s]*=)[^&#\s]+", re.IGNORECASE)


def typed_name(name: str) -> str:
    """Return the name of a command: ``get-space`` for ``GetSpace``."""
    return _words.sub("-", name).lower()


def flag(name: str) -> str:
    """Return the command line option of a field."""
    return f"--{name.replace('_', '-')}"


def typed(call: Operation[Any]) -> str:
    """Return the command line of a call. Secrets are replaced by `HIDDEN`, for the user to fill in."""
    words = ["presscheck", "api", typed_name(type(call).__name__)]
    for name, value in call.given().items():
        for option in _options(type(call), name, hidden(name, value)):
            words += option
    return " ".join(word if word == HIDDEN else shlex.quote(word) for word in words)


def shown_path(call: Operation[Any], path: str) -> str:
    """Return the path of a request with secrets replaced."""
    for name in call.path_fields():
        if _secret.search(name):
            value = str(getattr(call, name))
            path = path.replace(value, HIDDEN).replace(quote(value, safe=""), HIDDEN)
    return path


def hidden(name: str, value: Any) -> Any:
    """Return the value of a field with secrets replaced, including passwords in URLs."""
    if value is not None and _secret.search(name):
        return HIDDEN
    if isinstance(value, dict):
        return {key: hidden(key, item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [hidden(name, item) for item in cast("list[Any]", value)]
    return _asked_secret.sub(rf"\1{HIDDEN}", _login.sub(HIDDEN, value)) if isinstance(value, str) else value


def members_of(annotation: Any) -> list[Any]:
    """Return the members of a union type, except None; for any other type, only the type itself."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for member in get_args(annotation) if member is not types.NoneType]
    return [annotation]


def is_text(annotation: Any) -> bool:
    """Return whether a field of this type takes plain text, without JSON quotes."""
    return any(member is str for member in members_of(annotation)) or hasattr(annotation, "__metadata__")


def _options(operation: type[Operation[Any]], name: str, value: Any) -> Iterator[list[str]]:
    annotation: Any = operation.model_fields[name].annotation
    if value is None:
        if name not in operation.query_fields():
            yield ["--null", flag(name).removeprefix("--")]
    elif isinstance(value, list) and _is_repeated(annotation):
        for item in cast("list[Any]", value):
            yield _option(name, str(item))
    else:
        yield _option(name, _text(annotation, value))


def _option(name: str, text: str) -> list[str]:
    return [f"{flag(name)}={text}"] if text.startswith("-") else [flag(name), text]


def _text(annotation: Any, value: Any) -> str:
    if isinstance(value, str):
        is_word = any(get_origin(member) is Literal for member in members_of(annotation))
        return value if value == HIDDEN or is_word or is_text(annotation) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _is_repeated(annotation: Any) -> bool:
    first = members_of(annotation)[0]
    if get_origin(first) is not tuple:
        return False
    inner = get_args(first)[0]
    return inner is str or all(get_origin(member) is Literal for member in members_of(inner))
