"""Code samples of a request in curl, JavaScript and Python. The same request always has the same samples."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import quote

FORM, FILES = "application/x-www-form-urlencoded", "multipart/form-data"
_INDENT = "  "


class SampleRequest(NamedTuple):
    """A request to show in code samples.

    Attributes:
        method: the method in upper case.
        url: the URL without query. Braces mark parameters of the path without a value.
        query: the names and values of the query.
        headers: the names and values of headers, without the media type of the body.
        media_type: the media type of the body; empty without a body.
        body: the body; for forms an object, for JSON any value.
        login: whether a user name and a password are sent.
    """

    method: str
    url: str
    query: Sequence[tuple[str, str]] = ()
    headers: Sequence[tuple[str, str]] = ()
    media_type: str = ""
    body: Any = None
    login: bool = False

    @property
    def address(self) -> str:
        """The URL with its query."""
        query = "&".join(f"{quote(name, safe='[]')}={quote(value, safe=',')}" for name, value in self.query)
        return f"{self.url}?{query}" if query else self.url

    @property
    def is_json(self) -> bool:
        """Whether the media type of the body is JSON, such as `application/problem+json`."""
        kind = self.media_type.partition(";")[0].strip().lower()
        return kind == "application/json" or kind.endswith("+json")

    @property
    def form(self) -> list[tuple[str, str]]:
        """The names and values of the form; empty if the body is not an object."""
        fields = cast("dict[str, Any]", self.body) if isinstance(self.body, dict) else {}
        return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in fields.items()]

    @property
    def all_headers(self) -> list[tuple[str, str]]:
        """The headers, including the media type of the body.

        It is left out for a form with files, because clients set it together with a boundary.
        """
        kind = [("Content-Type", self.media_type)] if self.media_type and self.media_type != FILES else []
        return [*self.headers, *kind]


def samples_of(request: SampleRequest) -> list[tuple[str, str, str]]:
    """Return the samples of a request: the title, the language for highlighting, and the code."""
    return [
        ("curl", "sh", curl(request)),
        ("JavaScript", "javascript", javascript(request)),
        ("Python", "python", python(request)),
    ]


def curl(request: SampleRequest) -> str:
    """Return a request as a command line of curl."""
    method = "" if request.method == "GET" else f" --request {shlex.quote(request.method)}"
    lines = [f"curl{method} {_quoted(request.address)}"]
    lines += ["--user 'USERNAME:PASSWORD'"] if request.login else []
    headers = request.headers if request.media_type == FORM else request.all_headers
    lines += [f"--header {_quoted(f'{name}: {value}')}" for name, value in headers]
    if request.media_type == FORM:
        lines += [f"--data-urlencode {_quoted(f'{name}={value}')}" for name, value in request.form]
    elif request.media_type == FILES:
        lines += [f"--form {_quoted(f'{name}={value}')}" for name, value in request.form]
    elif request.media_type:
        lines.append(f"--data {_quoted(_body_text(request))}")
    return " \\\n  ".join(lines)


def javascript(request: SampleRequest) -> str:
    """Return a request as a call of `fetch`."""
    options = [] if request.method == "GET" else [f"method: {_json(request.method)}"]
    headers = [f"{_json(name)}: {_json(value)}" for name, value in request.all_headers]
    if request.login:
        headers.insert(0, '"Authorization": "Basic " + btoa("USERNAME:PASSWORD")')
    if headers:
        options.append(f"headers: {{\n{_lines(headers, 2)}\n  }}")
    before = ""
    if request.media_type == FILES:
        fields = [f"form.append({_json(name)}, {_json(value)});\n" for name, value in request.form]
        before = "const form = new FormData();\n" + "".join(fields) + "\n"
        options.append("body: form")
    elif request.media_type == FORM:
        options.append(f"body: new URLSearchParams({_nested(dict(request.form))})")
    elif request.is_json:
        options.append(f"body: JSON.stringify({_nested(request.body)})")
    elif request.media_type:
        options.append(f"body: {_json(_body_text(request))}")
    written = f", {{\n{_lines(options, 1)}\n}}" if options else ""
    end = "const data = await response.json();"
    return f"{before}const response = await fetch({_json(request.address)}{written});\n{end}"


def python(request: SampleRequest) -> str:
    """Return a request as a call of the library Requests."""
    arguments = [_json(request.url)]
    if request.query:
        arguments.append(f"params={_python(dict(request.query), 1)}")
    is_usual = request.is_json and request.media_type == "application/json"
    headers = dict(request.headers if is_usual or request.media_type == FORM else request.all_headers)
    if headers:
        arguments.append(f"headers={_python(headers, 1)}")
    arguments += ['auth=("USERNAME", "PASSWORD")'] if request.login else []
    if request.media_type == FILES:
        arguments.append(f"files={_python({name: (None, value) for name, value in request.form}, 1)}")
    elif request.media_type == FORM:
        arguments.append(f"data={_python(dict(request.form), 1)}")
    elif request.is_json:
        arguments.append(f"json={_python(request.body, 1)}")
    elif request.media_type:
        arguments.append(f"data={_json(_body_text(request))}")
    call = request.method.lower()
    head = f"requests.{call}(" if call in _CALLS else "requests.request("
    if call not in _CALLS:
        arguments.insert(0, _json(request.method))
    written = ",\n    ".join(arguments)
    inside = f"\n    {written},\n" if len(arguments) > 1 else written
    return f"import requests\n\nresponse = {head}{inside})\nprint(response.json())"


_CALLS = frozenset(("get", "post", "put", "patch", "delete", "head", "options"))


def _body_text(request: SampleRequest) -> str:
    return request.body if isinstance(request.body, str) else json.dumps(request.body, indent=2, ensure_ascii=False)


def _quoted(text: str) -> str:
    """Put a word in quotes for a shell. The quotes are never left out, because readers replace parts of the word."""
    return "'" + text.replace("'", "'\\''") + "'"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _nested(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def _lines(parts: Sequence[str], depth: int) -> str:
    return ",\n".join(f"{_INDENT * depth}{part}" for part in parts) + ","


def _python(value: Any, depth: int) -> str:
    """Return a JSON value as a Python literal, with an item per line; `depth` is the indentation of the literal."""
    before, end = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict) and value:
        items = cast("dict[str, Any]", value).items()
        return (
            "{\n" + "".join(f"{before}{_json(name)}: {_python(item, depth + 1)},\n" for name, item in items) + end + "}"
        )
    if isinstance(value, list) and value:
        items_of_list = cast("list[Any]", value)
        return "[\n" + "".join(f"{before}{_python(item, depth + 1)},\n" for item in items_of_list) + end + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(_python(item, depth) for item in cast("tuple[Any, ...]", value)) + ")"
    if value is None or isinstance(value, bool):
        return str(value)
    return _json(value)
