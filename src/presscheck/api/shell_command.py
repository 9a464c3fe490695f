"""How a call is typed at a shell: `presscheck api get-space --space-id s1` says it again; what is secret is left out.

`cli` reads what is written here, so the names of commands and options are spelled in one place.
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
"""Stands where something secret stood."""

_words = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_secret = re.compile(r"secret|token|password|credential|share_?key|private_?key|api_?key|invite_?id", re.IGNORECASE)
_login = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_asked_secret = re.compile(rf"([?&][^=&\s]*(?:{_secret.pattern})[^=&\s]*=)[^&#\s]+", re.IGNORECASE)


def typed_name(name: str) -> str:
    """``GetSpace`` as it is typed: ``get-space``."""
    return _words.sub("-", name).lower()


def flag(name: str) -> str:
    """The option that a field is."""
    return f"--{name.replace('_', '-')}"


def typed(call: Operation[Any]) -> str:
    """The line that says a call again; where something secret stood, a mark stands that must be filled in."""
    words = ["presscheck", "api", typed_name(type(call).__name__)]
    for name, value in call.given().items():
        for one in _options(type(call), name, hidden(name, value)):
            words += one
    return " ".join(word if word == HIDDEN else shlex.quote(word) for word in words)


def shown_path(call: Operation[Any], path: str) -> str:
    """A path of a request without what is secret in it."""
    for name in call.path_fields():
        if _secret.search(name):
            value = str(getattr(call, name))
            path = path.replace(value, HIDDEN).replace(quote(value, safe=""), HIDDEN)
    return path


def hidden(name: str, value: Any) -> Any:
    """A value of a field as it may be shown: what is secret, or holds a password, is replaced."""
    if value is not None and _secret.search(name):
        return HIDDEN
    if isinstance(value, dict):
        return {key: hidden(key, one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [hidden(name, one) for one in cast("list[Any]", value)]
    return _asked_secret.sub(rf"\1{HIDDEN}", _login.sub(HIDDEN, value)) if isinstance(value, str) else value


def members_of(annotation: Any) -> list[Any]:
    """What a type may be, without None; the type itself where it is no union."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for one in get_args(annotation) if one is not types.NoneType]
    return [annotation]


def is_text(annotation: Any) -> bool:
    """Whether a text may stand for itself."""
    return any(member is str for member in members_of(annotation)) or hasattr(annotation, "__metadata__")


def _options(operation: type[Operation[Any]], name: str, value: Any) -> Iterator[list[str]]:
    annotation: Any = operation.model_fields[name].annotation
    if value is None:
        if name not in operation.query_fields():
            yield ["--null", flag(name).removeprefix("--")]
    elif isinstance(value, list) and _is_repeated(annotation):
        for one in cast("list[Any]", value):
            yield _option(name, str(one))
    else:
        yield _option(name, _text(annotation, value))


def _option(name: str, text: str) -> list[str]:
    return [f"{flag(name)}={text}"] if text.startswith("-") else [flag(name), text]


def _text(annotation: Any, value: Any) -> str:
    if isinstance(value, str):
        is_word = any(get_origin(one) is Literal for one in members_of(annotation))
        return value if value == HIDDEN or is_word or is_text(annotation) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _is_repeated(annotation: Any) -> bool:
    first = members_of(annotation)[0]
    if get_origin(first) is not tuple:
        return False
    inner = get_args(first)[0]
    return inner is str or all(get_origin(one) is Literal for one in members_of(inner))
