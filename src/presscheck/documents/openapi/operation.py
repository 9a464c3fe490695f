"""An operation or a webhook as readers see it: servers, authorization, parameters, body and responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from presscheck.documents.openapi.code_samples import FILES, FORM, SampleRequest, samples_of
from presscheck.documents.openapi.examples import example_of, media_examples, parameter_example
from presscheck.documents.openapi.schema_tree import Direction, SchemaNode, SchemaTrees, shown_value
from presscheck.documents.openapi.specification import (
    Object,
    SpecificationReader,
    mapping,
    sequence,
    text,
    title_of,
)

PLACES = (("path", "Path parameters"), ("query", "Query parameters"), ("header", "Headers"), ("cookie", "Cookies"))
MOST_RESPONSES, MOST_MEDIA_TYPES, MOST_EXAMPLES = 40, 8, 10
LONGEST_EXAMPLE = 20_000
"""Maximum number of characters of an example."""
TOKEN = "YOUR_TOKEN"  # noqa: S105  # a placeholder
"""Placeholder for the reader's secret in code samples."""
_braces = re.compile(r"\{([^{}/]*)\}")
_IGNORED_HEADERS = frozenset(("accept", "content-type", "authorization"))
"""Headers that OpenAPI describes elsewhere; parameters with these names are ignored."""


class Parameter(NamedTuple):
    """A parameter of a request, or a header of a response. `example` is its value in sample requests, or empty."""

    name: str
    node: SchemaNode
    example: str = ""


class Media(NamedTuple):
    """The content of a body in one media type, with its examples and their names."""

    media_type: str
    node: SchemaNode
    examples: list[tuple[str, str]]


class Response(NamedTuple):
    """A response; `status` may be `default` or `4XX`."""

    status: str
    description: str
    headers: list[Parameter]
    content: list[Media]


class Scheme(NamedTuple):
    """A way of authorization.

    Attributes:
        name: the name of the scheme in the specification.
        title: the kind, such as `Bearer token` or `API key`.
        where: the place of the credentials: `header`, `query` or `cookie`; empty for a client certificate.
        field: the name of the header, of the query parameter or of the cookie.
        description: Markdown.
        scopes: the required scopes with their descriptions.
        urls: labels and URLs, such as the URL that issues tokens.
    """

    name: str
    title: str
    where: str
    field: str
    description: str
    scopes: list[tuple[str, str]]
    urls: list[tuple[str, str]]


class Server(NamedTuple):
    """A server: its URL with the defaults of its variables, its description, and its variables with their values."""

    url: str
    description: str
    variables: list[tuple[str, str]]


@dataclass
class Operation:
    """An operation or a webhook.

    Attributes:
        kind: `operation` or `webhook`.
        method: the method in upper case.
        path: the path, or the name of the webhook.
        security: the alternatives of authorization. Each is a list of schemes that are needed together; an empty list
            means that no authorization is needed.
        samples: the title, the language and the code of each code sample.
        is_tried: whether the specification lets readers send the request from the page.
    """

    kind: str
    method: str
    path: str
    title: str
    description: str
    is_deprecated: bool
    servers: list[Server]
    security: list[list[Scheme]]
    parameters: dict[str, list[Parameter]]
    body: list[Media]
    body_description: str
    is_body_required: bool
    responses: list[Response]
    callbacks: list[tuple[str, str, str, str]]
    samples: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    is_tried: bool = False


def read_operation(reader: SpecificationReader, kind: str, name: str, method: str) -> Operation | None:
    """Return an operation or a webhook, or None if the specification does not have it.

    Args:
        reader: the specification.
        kind: `operation` or `webhook`.
        name: the path of an operation or the name of a webhook.
        method: the method in any case.
    """
    details = reader.find("webhooks" if kind == "webhook" else "paths", name, method)
    return _OperationReader(reader, kind, name, method, details).operation() if details is not None else None


def servers_of(value: Any, base: str = "") -> list[Server]:
    """Return the servers in a list of OpenAPI, at most 20. Relative URLs are resolved against `base`."""
    servers: list[Server] = []
    for item in sequence(value)[:20]:
        server = mapping(item)
        variables = {name: mapping(variable) for name, variable in mapping(server.get("variables")).items()}
        defaults = {name: str(variable.get("default", "")) for name, variable in variables.items()}
        url = _braces.sub(lambda match, defaults=defaults: defaults.get(match[1]) or match[0], text(server.get("url")))
        shown = [
            (name, ", ".join(map(str, sequence(variable.get("enum")) or [variable.get("default", "")])))
            for name, variable in variables.items()
        ]
        servers.append(Server(_joined(base, url).rstrip("/"), text(server.get("description")), shown))
    return servers


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url) if base and not urlsplit(url).scheme else url
    except ValueError:
        return url


def schemes_of(reader: SpecificationReader, requirements: Any) -> list[list[Scheme]]:
    """Return the alternatives of authorization, at most ten.

    Each alternative is a list of schemes that are needed together. `requirements` is the field `security` of an
    operation.
    """
    return [
        [_scheme(reader, name, sequence(scopes)) for name, scopes in mapping(requirement).items()]
        for requirement in sequence(requirements)[:10]
    ]


def _scheme(reader: SpecificationReader, name: str, needed: Sequence[Any]) -> Scheme:
    details = reader.resolved(reader.component("securitySchemes", name))
    kind, scheme = text(details.get("type")), text(details.get("scheme")).lower()
    scopes: dict[str, str] = {}
    urls: list[tuple[str, str]] = []
    title, where, key = kind or "Authorization", "header", "Authorization"
    if kind == "apiKey":
        title, where, key = "API key", text(details.get("in")), text(details.get("name"))
    elif kind == "http":
        shape = text(details.get("bearerFormat"))
        titles = {"basic": "User name and password", "bearer": f"Bearer token{f' ({shape})' if shape else ''}"}
        title = titles.get(scheme, f"HTTP {scheme}")
    elif kind == "oauth2":
        title = "OAuth 2"
        for flow in mapping(details.get("flows")).values():
            labels = (("authorizationUrl", "Authorization"), ("tokenUrl", "Tokens"), ("refreshUrl", "Refresh"))
            urls += [(label, text(mapping(flow).get(part))) for part, label in labels if mapping(flow).get(part)]
            scopes |= {scope: text(about) for scope, about in mapping(mapping(flow).get("scopes")).items()}
    elif kind == "openIdConnect":
        title, urls = "OpenID Connect", [("Discovery", text(details.get("openIdConnectUrl")))]
    elif kind == "mutualTLS":
        title, where, key = "Client certificate", "", ""
    names = [str(scope) for scope in needed]
    about = [(scope, scopes.get(scope, "")) for scope in names]
    return Scheme(name, title, where, key, text(details.get("description")), about, list(dict.fromkeys(urls)))


class _OperationReader:
    def __init__(self, reader: SpecificationReader, kind: str, name: str, method: str, details: Object) -> None:
        self._reader, self._kind, self._name, self._method = reader, kind, name, method.upper()
        self._details = details
        self._trees = SchemaTrees(reader)
        self._given = [mapping(value) for value in sequence(details.get("parameters"))]

    def operation(self) -> Operation:
        details, reader = self._details, self._reader
        body = reader.resolved(details.get("requestBody"))
        operation = Operation(
            kind=self._kind,
            method=self._method,
            path=self._name,
            title=title_of(details, self._name),
            description=text(details.get("description")),
            is_deprecated=details.get("deprecated") is True,
            servers=servers_of(details.get("servers"), reader.address) if self._kind == "operation" else [],
            security=schemes_of(reader, details.get("security")),
            parameters={place: [*self._parameters(place)] for place, _ in PLACES},
            body=[*self._content(body, "request")],
            body_description=text(body.get("description")),
            is_body_required=body.get("required") is True,
            responses=[*self._responses()],
            callbacks=[*self._callbacks()],
        )
        if self._kind == "operation":
            operation.samples = self._samples(operation, body)
            hidden = (details.get("x-hideTryItPanel"), reader.head.get("x-hideTryItPanel"))
            operation.is_tried = not any(value is True for value in hidden)
        return operation

    def _parameters(self, place: str) -> Iterator[Parameter]:
        for parameter in self._given:
            name = text(parameter.get("name"))
            if parameter.get("in") != place or (place == "header" and name.lower() in _IGNORED_HEADERS):
                continue
            yield self._parameter(name, parameter)

    def _parameter(self, name: str, parameter: Object) -> Parameter:
        content = [mapping(media).get("schema") for media in mapping(parameter.get("content")).values()]
        node = self._trees.tree(parameter.get("schema") or next(iter(content), None))
        node.description = text(parameter.get("description")) or node.description
        flags = [flag for flag in ("required", "deprecated") if parameter.get(flag) is True]
        node.flags = [*flags, *(flag for flag in node.flags if flag not in flags)]
        example = parameter_example(self._reader, parameter)
        if example is None and parameter.get("required") is True and parameter.get("in") != "path":
            example = example_of(self._reader, parameter.get("schema") or {})
        return Parameter(name, node, "" if example is None else shown_value(example))

    def _content(self, holder: Object, direction: Direction) -> Iterator[Media]:
        for media_type, media in [*mapping(holder.get("content")).items()][:MOST_MEDIA_TYPES]:
            node = self._trees.tree(mapping(media).get("schema"), direction)
            examples = media_examples(self._reader, media, direction)[:MOST_EXAMPLES]
            if "xml" in media_type or not ("json" in media_type or direction == "request"):
                examples = [(name, value) for name, value in examples if isinstance(value, str)]
            yield Media(
                media_type, node, [(name, example_text(value)) for name, value in examples if value is not None]
            )

    def _responses(self) -> Iterator[Response]:
        for status, value in [*mapping(self._details.get("responses")).items()][:MOST_RESPONSES]:
            response = self._reader.resolved(value)
            headers = [
                self._parameter(name, self._reader.resolved(header))
                for name, header in mapping(response.get("headers")).items()
            ]
            content = [*self._content(response, "response")]
            yield Response(status, text(response.get("description")), headers, content)

    def _callbacks(self) -> Iterator[tuple[str, str, str, str]]:
        for name, value in mapping(self._details.get("callbacks")).items():
            for url, item in self._reader.resolved(value).items():
                for method, details in mapping(item).items():
                    if isinstance(details, dict):
                        about = mapping(details)
                        yield name, method.upper(), url, text(about.get("summary")) or text(about.get("description"))

    def _samples(self, operation: Operation, body: Object) -> list[tuple[str, str, str]]:
        own = self._details.get("x-codeSamples", self._details.get("x-code-samples"))
        if own is False:
            return []
        written = [mapping(sample) for sample in sequence(own)]
        named = [
            (text(sample.get("label")) or text(sample.get("lang")), text(sample.get("lang")), text(sample["source"]))
            for sample in written
            if text(sample.get("source"))
        ]
        return named or samples_of(self._request(operation, body))

    def _request(self, operation: Operation, body: Object) -> SampleRequest:
        values = {item.name: quote(item.example) for item in operation.parameters["path"] if item.example}
        path = _braces.sub(lambda match: values.get(match[1], match[0]), self._name)
        server = operation.servers[0].url if operation.servers else ""
        query = [(item.name, item.example) for item in operation.parameters["query"] if _is_sent(item)]
        headers = [(item.name, item.example) for item in operation.parameters["header"] if _is_sent(item)]
        cookies = [f"{item.name}={item.example}" for item in operation.parameters["cookie"] if _is_sent(item)]
        login = False
        for scheme in operation.security[0] if operation.security else ():
            if scheme.title == "User name and password":
                login = True
            elif scheme.where == "header":
                headers.insert(0, (scheme.field, f"Bearer {TOKEN}" if scheme.field == "Authorization" else TOKEN))
            elif scheme.where == "query":
                query.append((scheme.field, TOKEN))
            elif scheme.where == "cookie":
                cookies.append(f"{scheme.field}={TOKEN}")
        if cookies:
            headers.append(("Cookie", "; ".join(cookies)))
        media_type, value = self._sample_body(body)
        return SampleRequest(operation.method, server + path, query, headers, media_type, value, login)

    def _sample_body(self, body: Object) -> tuple[str, Any]:
        content = mapping(body.get("content"))
        usual = next((kind for kind in content if "json" in kind), next(iter(content), ""))
        examples = media_examples(self._reader, content.get(usual), "request") if usual else []
        value = examples[0][1] if examples else None
        if usual and "json" not in usual and usual not in (FORM, FILES) and not isinstance(value, str):
            value = "…"
        return usual, value


def _is_sent(parameter: Parameter) -> bool:
    return "required" in parameter.node.flags


def example_text(value: Any) -> str:
    """Return an example as text, at most `LONGEST_EXAMPLE` characters: a string unchanged, other values as JSON."""
    written = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return written if len(written) <= LONGEST_EXAMPLE else f"{written[:LONGEST_EXAMPLE]}\n…"


def origin_of_server(url: str) -> str:
    """Return the origin of the URL of a server, or an empty string if the URL is relative, invalid or not HTTP."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not _is_host(host):
        return ""
    return f"{parts.scheme}://{host}{port}"


_is_host = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?").fullmatch
