"""`presscheck api GET /orgs`: sends a request to any path of the API, even without a declared operation."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast
from urllib.parse import parse_qsl, quote

import click
from pydantic import BaseModel
from pydantic_core import from_json

from presscheck.api.operation import Operation
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.operations.command_factory import print_request
from presscheck.cli.output import print_json
from presscheck.cli.session import confirm, load_profile, profile_option, yes_option
from presscheck.config.profile import Profile
from presscheck.errors import InvalidArgument, MalformedAnswer, NotNow, ReadOnly
from presscheck.wiring import connect

MAX_PAGES = 10_000
"""Maximum number of requests of `--paginate`."""


class AnyPath(BaseModel):
    """Mixin of requests to a path that no operation declares.

    These requests have no route, so they are not listed as operations of the API.
    """

    verb: ClassVar[str]
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None

    @classmethod
    def method(cls) -> str:
        """Return the HTTP method."""
        return cls.verb

    def wire_path(self) -> str:
        """Return the path. Characters that are not percent-encoded yet are encoded."""
        return quote(self.path, safe="/%~:@!$&'()*+,;=")

    def wire_query(self) -> list[tuple[str, str]]:
        """Return the query as pairs."""
        return list(self.query)

    def wire_body(self) -> Any:
        """Return the JSON body, or None if there is none."""
        return self.body


class Get(AnyPath, Operation[None]):
    """A GET request."""

    verb = "GET"


class Post(AnyPath, Operation[None]):
    """A POST request."""

    verb = "POST"


class Put(AnyPath, Operation[None]):
    """A PUT request."""

    verb = "PUT"


class Patch(AnyPath, Operation[None]):
    """A PATCH request."""

    verb = "PATCH"


class Delete(AnyPath, Operation[None]):
    """A DELETE request."""

    verb = "DELETE"


AnyRequest = Get | Post | Put | Patch | Delete
METHODS: Mapping[str, type[AnyRequest]] = {kind.verb: kind for kind in (Get, Post, Put, Patch, Delete)}


def request_command(method: str) -> click.Command:
    """Create the command that sends requests with a method."""
    kind = METHODS[method]

    @click.command(method, short_help=f"Send a {method} request to any path.")
    @click.argument("path")
    @click.option(
        "-f", "--raw-field", "texts", metavar="KEY=TEXT", multiple=True, help="Add a field, a text (repeatable)."
    )
    @click.option(
        "-F",
        "--field",
        "values",
        metavar="KEY=VALUE",
        multiple=True,
        help="Add a field: a number, true, false or null, JSON, @FILE for the text of a file, or a text (repeatable).",
    )
    @click.option("--input", "file", type=click.File("rb"), metavar="FILE", help="The body, JSON; - is standard input.")
    @click.option("--paginate", is_flag=True, help="Fetch all pages of results as one list.")
    @click.option("--dry-run", is_flag=True, help="Print the request without sending it.")
    @yes_option
    @profile_option
    @click.pass_context
    @report_errors
    def send(
        context: click.Context,
        path: str,
        texts: tuple[str, ...],
        values: tuple[str, ...],
        file: Any,
        *,
        paginate: bool,
        dry_run: bool,
        yes: bool,
    ) -> None:
        """Send a request to any path of the API, such as /orgs, and print the response.

        Fields are sent in the query for GET and DELETE, and with --input; otherwise in the JSON body. The request is
        sent at once. It is not queued offline.
        """
        if paginate and kind is not Get:
            raise InvalidArgument("--paginate", "is for GET")
        fields = dict(_field(text, "-f") for text in texts) | {
            name: _value(name, value) for name, value in (_field(text, "-F") for text in values)
        }
        call = _request(kind, path, fields, _json(file.read()) if file else None)
        profile = load_profile(context, with_token=not dry_run)
        if dry_run:
            print_request(call, profile)
            return
        if profile.read_only and kind is not Get:
            raise ReadOnly
        if profile.offline:
            raise NotNow("A request to a path needs a connection: leave out --offline")
        if kind is Delete:
            confirm(f"{call}?", yes=yes)
        asyncio.run(_send(profile, call, paginate=paginate))

    return send


def _request(kind: type[AnyRequest], path: str, fields: dict[str, Any], body: Any) -> AnyRequest:
    path, _, query = path.partition("?")
    if "://" in path or any(part in (".", "..") for part in path.split("/")):
        raise InvalidArgument("PATH", "must be a path below the URL of the service, such as /orgs")
    pairs = parse_qsl(query, keep_blank_values=True)
    if kind in (Get, Delete) or body is not None:
        pairs += [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in fields.items()]
    else:
        body = fields or None
    return kind(path=f"/{path.lstrip('/')}", query=tuple(pairs), body=body)


async def _send(profile: Profile, call: Operation[Any], *, paginate: bool) -> None:
    async with connect(profile) as client:
        if not paginate:
            answer = await client.fetch(call)
            if answer:
                print_json(_parsed(call, answer))
            return
        items: list[Any] = []
        for _ in range(MAX_PAGES):
            page = _parsed(call, await client.fetch(call))
            if not isinstance(page, dict) or not isinstance(page.get("items"), list):
                raise InvalidArgument("--paginate", f"{call} does not return a list with pages")
            items += cast("list[Any]", page["items"])
            cursor = cast("dict[str, Any]", page.get("next") or {}).get("page")
            if not cursor or ("page", cursor) in call.wire_query():
                break
            others = (pair for pair in call.wire_query() if pair[0] != "page")
            call = call.model_copy(update={"query": (*others, ("page", str(cursor)))})
        print_json(items)


def _parsed(call: Operation[Any], body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        raise MalformedAnswer("The response is not valid JSON", request=str(call)) from None


def _field(text: str, option: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name:
        raise InvalidArgument(option, f"{text}: write KEY=VALUE")
    return name, value


def _value(name: str, text: str) -> Any:
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text("utf-8-sig") if text != "@-" else sys.stdin.read()
        except (OSError, UnicodeDecodeError):
            raise InvalidArgument("-F", f"{name}: could not read {text[1:]} as UTF-8 text") from None
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        raise InvalidArgument("--input", "is not valid JSON") from None
