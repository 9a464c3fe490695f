"""OpenAPI operations, webhooks and models as static HTML.

Specifications are untrusted: names and values are escaped, and descriptions are rendered by the renderer of the page
within its limits. The form that sends a request is hidden until the script of the site shows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Protocol

from presscheck.documents.openapi.blocks import BlockReference
from presscheck.documents.openapi.code_samples import FILES, FORM
from presscheck.documents.openapi.operation import (
    PLACES,
    Media,
    Operation,
    Parameter,
    Response,
    Scheme,
    Server,
    origin_of_server,
    read_operation,
)
from presscheck.documents.openapi.schema_tree import SchemaNode, SchemaTrees
from presscheck.documents.openapi.specification import SpecificationReader, model_reference
from presscheck.service.web.html.code import code_html

LARGEST = 400_000
"""Maximum number of characters of the HTML of an operation."""
_is_plain = re.compile(r"(?!\d+[.)]\s|-|.*www\.)(?:[^\W_]|[ ,.;()'\"/-])*").fullmatch
"""Whether a text has no Markdown."""
_STATUS_WORDS = {"2": "success", "4": "danger", "5": "danger"}


class OperationContext(Protocol):
    """The parts of the page renderer that operations use."""

    def reference_text(self, markdown: str) -> str:
        """Render Markdown of a specification."""
        ...

    def specification(self, name: str, *, is_file: bool) -> SpecificationReader | None:
        """Return the specification that a block refers to, or None if it cannot be read."""
        ...

    def named_heading(self, level: int, title: str) -> str:
        """Render a heading with its anchor."""
        ...

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        """Return the URL of the description of a model, or None if no page has it."""
        ...

    def number(self) -> int:
        """Return the next number on the page, for unique ids."""
        ...

    def has_reference_room(self, html: str) -> bool:
        """Reserve room on the page for the HTML of an operation. Return False if too little is left."""
        ...

    def connect(self, origin: str) -> None:
        """Allow the script of the page to send requests to an origin."""
        ...


def specified_html(page: OperationContext, block: BlockReference) -> str:
    """Render the operation, webhook or models that a block refers to; return an empty string if they do not exist."""
    reader = page.specification(block.origin, is_file=block.is_file)
    if reader is None:
        return ""
    writer = _OperationWriter(page, reader)
    if block.kind == "models":
        return "\n".join(filter(None, map(writer.model, block.models)))
    operation = read_operation(reader, block.kind, block.name, block.method)
    return writer.operation(operation) if operation else ""


def endpoint_html(method: str, path: str, server: str = "") -> str:
    """Render the method and the URL of an operation."""
    host = f'<span class="quiet">{escape(server)}</span>' if server else ""
    return (
        f'<p class="endpoint"><strong class="method {escape(method.lower())}">{escape(method.upper())}</strong> '
        f"<code>{host}{escape(path)}</code></p>"
    )


class _OperationWriter:
    def __init__(self, page: OperationContext, reader: SpecificationReader) -> None:
        self._page, self._reader = page, reader
        self._targets: dict[str, str] = {}
        """Ids of enclosing schemas that circular fields link to, by schema name."""

    def operation(self, operation: Operation) -> str:
        page = self._page
        server = operation.servers[0].url if operation.servers else ""
        flag = '<p class="flags"><span class="flag">deprecated</span></p>' if operation.is_deprecated else ""
        head = [
            page.named_heading(2, operation.title),
            endpoint_html(operation.method, operation.path, server),
            flag,
            self._markdown(operation.description),
        ]
        reference = [self._servers(operation.servers), self._security(operation.security)]
        reference += [self._parameters(title, operation.parameters[place]) for place, title in PLACES]
        reference += [self._body(operation), self._responses(operation.responses), self._callbacks(operation)]
        samples = [self._samples(operation)]
        if self._reader.is_tried and operation.is_tried:
            samples.append(self._form(operation))
        aside = "".join(filter(None, samples))
        aside = f'<div class="samples">{aside}</div>' if aside else ""
        inside = f'<div class="parts"><div>{"".join(filter(None, reference))}</div>{aside}</div>'
        if len(inside) > LARGEST or not page.has_reference_room(inside):
            inside = '<p class="quiet">The rest is too large to show on this page.</p>'
        return f'<section class="api">{"".join(filter(None, head))}{inside}</section>'

    def model(self, name: str) -> str:
        """Render a named schema, or return an empty string if the specification does not have it."""
        if self._reader.component("schemas", name) is None:
            return ""
        node = SchemaTrees(self._reader).tree(model_reference(name))
        heading = self._page.named_heading(2, name)
        inside = self._schema(node)
        if not self._page.has_reference_room(inside):
            inside = '<p class="quiet">The rest is too large to show on this page.</p>'
        return f'<section class="api model">{heading}{inside}</section>'

    def _servers(self, servers: list[Server]) -> str:
        if len(servers) < 2 and not any(server.variables or server.description for server in servers):
            return ""
        items = ""
        for server in servers:
            values = "".join(
                f'<p class="facts"><span><code>{escape(name)}</code> {escape(text)}</span></p>'
                for name, text in server.variables
            )
            items += f"<li><code>{escape(server.url)}</code> {escape(server.description)}{values}</li>"
        return f"<h3>Servers</h3><ul>{items}</ul>"

    def _security(self, alternatives: list[list[Scheme]]) -> str:
        if not any(alternatives):
            return ""
        parts: list[str] = []
        for schemes in alternatives:
            fields = "".join(map(self._scheme, schemes))
            parts.append(f'<dl class="fields">{fields}</dl>' if fields else "<p>No authorization is needed.</p>")
        return "<h3>Authorization</h3>" + '<p class="label">or</p>'.join(parts)

    def _scheme(self, scheme: Scheme) -> str:
        place = f"in {scheme.where}" if scheme.where else ""
        head = self._term(scheme.field or scheme.name, f"{scheme.title} {place}".strip(), ["required"])
        scopes = "".join(
            f"<li><code>{escape(scope)}</code> {escape(about)}</li>" for scope, about in scheme.scopes if scope
        )
        urls = "".join(
            f'<p class="facts"><span>{escape(label)} <code>{escape(url)}</code></span></p>'
            for label, url in scheme.urls
        )
        listed = f'<p class="label">Scopes</p><ul>{scopes}</ul>' if scopes else ""
        return f"<div>{head}<dd>{self._markdown(scheme.description)}{urls}{listed}</dd></div>"

    def _parameters(self, title: str, parameters: list[Parameter]) -> str:
        fields = "".join(self._field(parameter.name, parameter.node) for parameter in parameters)
        return f'<h3>{title}</h3><dl class="fields">{fields}</dl>' if fields else ""

    def _body(self, operation: Operation) -> str:
        if not operation.body:
            return ""
        flag = ' <span class="flag required">required</span>' if operation.is_body_required else ""
        title = "Payload" if operation.kind == "webhook" else "Body"
        description = self._markdown(operation.body_description)
        has_examples = operation.kind == "webhook"
        return f"<h3>{title}{flag}</h3>{description}{self._content(operation.body, has_examples=has_examples)}"

    def _content(self, content: list[Media], *, has_examples: bool) -> str:
        """Render the content of a body: a tab for each media type if there are several."""
        bodies = [self._media(media, has_examples=has_examples or len(media.examples) > 1) for media in content]
        if len(content) == 1:
            return f'<p class="label"><code>{escape(content[0].media_type)}</code></p>{bodies[0]}'
        return self._tabs([(media.media_type, body) for media, body in zip(content, bodies, strict=True)])

    def _media(self, media: Media, *, has_examples: bool) -> str:
        return self._schema(media.node) + (self._examples(media) if has_examples else "")

    def _examples(self, media: Media) -> str:
        language = "json" if "json" in media.media_type else "xml" if "xml" in media.media_type else ""
        shown = [(name or "Example", code_html(text, language, name or "Example")) for name, text in media.examples]
        return shown[0][1] if len(shown) == 1 else self._tabs(shown)

    def _tabs(self, parts: Sequence[tuple[str, str]]) -> str:
        name = f"tabs-{self._page.number()}"
        tabs = "".join(
            f'<details name="{name}"{"" if index else " open"}><summary>{escape(title)}</summary>'
            f'<div class="tab">{body}</div></details>'
            for index, (title, body) in enumerate(parts)
        )
        return f'<div class="tabs">{tabs}</div>' if tabs else ""

    def _responses(self, responses: list[Response]) -> str:
        items = "".join(self._response(response, is_open=not index) for index, response in enumerate(responses))
        return f"<h3>Responses</h3>{items}" if items else ""

    def _response(self, response: Response, *, is_open: bool) -> str:
        kind = _STATUS_WORDS.get(response.status[:1], "")
        status = f'<strong class="status {kind}">{escape(response.status)}</strong>'
        first, _, rest = response.description.strip().partition("\n")
        body = self._markdown(rest)
        headers = "".join(self._field(header.name, header.node) for header in response.headers)
        body += f'<p class="label">Headers</p><dl class="fields">{headers}</dl>' if headers else ""
        body += self._content(response.content, has_examples=True) if response.content else ""
        if not body:
            return f'<p class="response">{status} {escape(first)}</p>'
        opened = " open" if is_open else ""
        summary = f"<summary>{status} {escape(first)}</summary>"
        return f'<details class="unfolds response"{opened}>{summary}<div>{body}</div></details>'

    def _callbacks(self, operation: Operation) -> str:
        items = "".join(
            f"<dt>{escape(name)}</dt><dd>{endpoint_html(method, url)}{escape(about)}</dd>"
            for name, method, url, about in operation.callbacks
        )
        return f"<h3>Callbacks</h3><dl>{items}</dl>" if items else ""

    def _samples(self, operation: Operation) -> str:
        samples = [(title, code_html(code, language)) for title, language, code in operation.samples]
        return f'<p class="label">Request</p>{self._tabs(samples)}' if samples else ""

    def _schema(self, node: SchemaNode) -> str:
        """Render a schema that is not a field."""
        described = self._markdown(node.description)
        values = self._values(node)
        parts = self._parts(node)
        kind = f'<p class="type">{escape(node.type)}</p>' if values or not parts or node.type != "object" else ""
        target = self._target(node)
        return described + kind + values + (f"<div{target}>{parts}</div>" if target else parts)

    def _target(self, node: SchemaNode) -> str:
        """Return the `id` attribute of a schema if a circular field inside it links to it, or else an empty string."""
        identity = self._targets.pop(node.shape, "")
        return f' id="{identity}"' if identity else ""

    def _field(self, name: str, node: SchemaNode) -> str:
        head = self._term(name, self._type(node), node.flags)
        inside = self._markdown(node.description) + self._values(node) + self._nested(node)
        return f"<div>{head}<dd>{inside}</dd></div>"

    def _nested(self, node: SchemaNode) -> str:
        parts = self._parts(node)
        if not node.has_parts:
            return parts
        count = len(node.fields)
        title = f"{count} field{'' if count == 1 else 's'}" if count else node.groups[0][0]
        return f'<details class="more"{self._target(node)}><summary>{escape(title)}</summary>{parts}</details>'

    def _parts(self, node: SchemaNode) -> str:
        fields = "".join(self._field(name or "(pattern)", inner) for name, inner in node.fields)
        parts = f'<dl class="fields">{fields}</dl>' if fields else ""
        for label, nodes in node.groups:
            titles = [inner.name or inner.type for inner in nodes]
            parts += f'<p class="label">{escape(label)}</p>'
            parts += self._tabs([(title, self._schema(inner)) for title, inner in zip(titles, nodes, strict=True)])
        if node.circular:
            identity = self._targets.setdefault(node.circular, f"Site-schema-{self._page.number()}")
            parts += f'<p class="quiet">Has the fields of <a href="#{identity}">{escape(node.circular)}</a> again.</p>'
        if node.is_cut:
            url = self._page.model_url(self._reader, node.shape) if node.shape else None
            link = f'See <a href="{escape(url)}">{escape(node.shape)}</a>.' if url else "Further fields are not shown."
            parts += f'<p class="quiet">{link}</p>'
        return parts

    @staticmethod
    def _type(node: SchemaNode) -> str:
        return f"{node.type} · {node.name}" if node.name and node.name not in node.type else node.type

    @staticmethod
    def _term(name: str, kind: str, flags: Sequence[str]) -> str:
        marks = "".join(f' <span class="flag {flag}">{flag}</span>' for flag in flags)
        return f'<dt><code>{escape(name)}</code> <span class="type">{escape(kind)}</span>{marks}</dt>'

    def _values(self, node: SchemaNode) -> str:
        facts = "".join(f"<span>{fact.label} <code>{escape(fact.value)}</code></span> " for fact in node.facts)
        html = f'<p class="facts">{facts.strip()}</p>' if facts else ""
        if any(choice.description for choice in node.choices):
            items = "".join(
                f"<li><code>{escape(choice.value)}</code> {escape(choice.description)}</li>" for choice in node.choices
            )
            html += f'<p class="label">Values</p><ul>{items}</ul>'
        elif node.choices:
            items = " ".join(f"<code>{escape(choice.value)}</code>" for choice in node.choices)
            more = f" and {node.more_choices} more" if node.more_choices else ""
            html += f'<p class="facts"><span>Values {items}{more}</span></p>'
        return html

    def _markdown(self, text: str) -> str:
        words = text.strip()
        if _is_plain(words):  # most descriptions; parsing them takes most of the time of a page
            return f"<p>{escape(words)}</p>" if words else ""
        return self._page.reference_text(text)

    def _form(self, operation: Operation) -> str:
        """Render the form that sends a request, or nothing if no server can be reached from a page."""
        servers = [(server.url, origin_of_server(server.url)) for server in operation.servers]
        servers = [(url, origin) for url, origin in servers if origin]
        body = next((media for media in operation.body if "json" in media.media_type), None) or next(
            iter(operation.body), None
        )
        if not servers:
            return ""
        for _, origin in servers:
            self._page.connect(origin)
        options = "".join(f"<option>{escape(url)}</option>" for url, _ in servers)
        fields = f'<label>Server <select data-in="server">{options}</select></label>'
        for scheme in operation.security[0] if operation.security else ():
            fields += _scheme_input(scheme)
        for place in ("path", "query", "header"):
            for parameter in operation.parameters[place]:
                fields += _input(place, parameter.name, parameter.example, parameter.node)
        fields += _body_inputs(body) if body else ""
        button = '<p><button type="submit" class="button primary">Send</button></p>'
        data = f'data-method="{escape(operation.method)}" data-path="{escape(operation.path)}"'
        form = f"<form {data}>{fields}{button}</form>"
        return f'<details class="unfolds try" hidden><summary>Try it</summary><div>{form}</div></details>'


def _scheme_input(scheme: Scheme) -> str:
    if scheme.title == "User name and password":
        return (
            '<label>User name <input data-in="user" autocomplete="off"></label>'
            '<label>Password <input data-in="password" type="password" autocomplete="off"></label>'
        )
    if scheme.where not in ("header", "query"):
        return ""
    prefix = ' data-prefix="Bearer "' if scheme.field == "Authorization" else ""
    return (
        f'<label>{escape(scheme.title)} <input data-in="{scheme.where}"{prefix} '
        f'name="{escape(scheme.field)}" type="password" autocomplete="off"></label>'
    )


def _input(place: str, name: str, value: str, node: SchemaNode) -> str:
    required = " required" if "required" in node.flags else ""
    label = f"<code>{escape(name)}</code>"
    if node.choices and not node.more_choices:
        values = ([] if required else [""]) + [choice.value for choice in node.choices]
        options = "".join(
            f"<option{' selected' if choice == value and value else ''}>{escape(choice)}</option>" for choice in values
        )
        return f'<label>{label} <select data-in="{place}" name="{escape(name)}">{options}</select></label>'
    written = value if required else ""
    hint = f' placeholder="{escape(node.type)}"'
    return (
        f'<label>{label} <input data-in="{place}" name="{escape(name)}" value="{escape(written)}"{hint}{required}>'
        "</label>"
    )


def _body_inputs(media: Media) -> str:
    kind = media.media_type
    if kind in (FORM, FILES):
        fields = ""
        for name, node in media.node.fields:
            if node.type.endswith("(binary)"):
                label = f"<code>{escape(name)}</code>"
                fields += f'<label>{label} <input type="file" data-in="form" name="{escape(name)}"></label>'
            else:
                fields += _input("form", name, "", node)
        return f'<input type="hidden" data-in="type" value="{kind}">{fields}'
    text = media.examples[0][1] if media.examples else ""
    return (
        f'<label>Body <span class="quiet">{escape(kind)}</span> '
        f'<textarea data-in="body" data-type="{escape(kind)}" rows="8" spellcheck="false">{escape(text)}</textarea>'
        "</label>"
    )
