"""OpenAPI operations, webhooks and models as Markdown, for programs that read pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from presscheck.documents.openapi.blocks import BlockReference
from presscheck.documents.openapi.operation import PLACES, Media, Operation, Parameter, Scheme, read_operation
from presscheck.documents.openapi.schema_tree import SchemaNode, SchemaTrees
from presscheck.documents.openapi.specification import SpecificationReader, model_reference

LARGEST = 200_000
"""Maximum number of characters of an operation."""
_special = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_ticks = re.compile(r"`+")


def specified_markdown(reader: SpecificationReader, block: BlockReference) -> str:
    """Return the part of a specification that a block shows, as Markdown.

    Return an empty text if the specification does not have the part. An operation whose text is longer than `LARGEST`
    is shortened to its title and endpoint.
    """
    if block.kind == "models":
        return "\n\n".join(filter(None, (_model(reader, name) for name in block.models)))
    operation = read_operation(reader, block.kind, block.name, block.method)
    if operation is None:
        return ""
    text = "\n".join(_operation(operation)).strip()
    return text if len(text) <= LARGEST else f"## {plain_words(operation.title)}\n\n{_endpoint(operation)}"


def _model(reader: SpecificationReader, name: str) -> str:
    if reader.component("schemas", name) is None:
        return ""
    node = SchemaTrees(reader).tree(model_reference(name))
    return "\n".join((f"## {plain_words(name)}", "", *_schema(node))).strip()


def _operation(operation: Operation) -> Iterator[str]:
    yield from (f"## {plain_words(operation.title)}", "", _endpoint(operation), "")
    if operation.is_deprecated:
        yield from ("Deprecated.", "")
    yield from _description(operation.description)
    if len(operation.servers) > 1:
        yield from ("### Servers", "")
        for server in operation.servers:
            yield f"- {_code(server.url)} {_line(server.description)}".rstrip()
        yield ""
    if any(operation.security):
        yield from ("### Authorization", "")
        for schemes in operation.security:
            yield f"- {' and '.join(map(_scheme, schemes)) or 'No authorization is needed.'}"
        yield ""
    for place, title in PLACES:
        yield from _parameters(f"### {title}", operation.parameters[place])
    if operation.body:
        yield from ("### Payload" if operation.kind == "webhook" else "### Body", "")
        yield from _description(operation.body_description)
        for media in operation.body:
            yield from _media(media)
    yield from ("### Responses", "") if operation.responses else ()
    for response in operation.responses:
        yield from (f"#### {plain_words(response.status)}", "")
        yield from _description(response.description)
        yield from _parameters("Headers:", response.headers)
        for media in response.content:
            yield from _media(media)
    for title, language, code in operation.samples[:1]:
        yield from (f"### {plain_words(title)}", "", *_fence(code, language), "")


def _endpoint(operation: Operation) -> str:
    server = operation.servers[0].url if operation.servers else ""
    return _code(f"{operation.method} {server}{operation.path}")


def _scheme(scheme: Scheme) -> str:
    place = f" in {scheme.where} {_code(scheme.field)}" if scheme.where else ""
    scopes = ", ".join(_code(scope) for scope, _ in scheme.scopes)
    return f"{plain_words(scheme.title)}{place}{f' with {scopes}' if scopes else ''}"


def _parameters(title: str, parameters: Sequence[Parameter]) -> Iterator[str]:
    if parameters:
        yield from (title, "")
        for parameter in parameters:
            yield from _field(parameter.name, parameter.node, 0)
        yield ""


def _media(media: Media) -> Iterator[str]:
    yield from (_code(media.media_type), "")
    yield from _schema(media.node)
    for name, text in media.examples[: "form" not in media.media_type]:
        language = "json" if "json" in media.media_type else ""
        yield from (f"{plain_words(name or 'Example')}:", "", *_fence(text, language), "")


def _schema(node: SchemaNode) -> Iterator[str]:
    yield from _description(node.description)
    yield from (f"{plain_words(node.type)}{_values(node)}", "")
    fields = [*_fields(node, 0)]
    yield from (*fields, "") if fields else ()


def _fields(node: SchemaNode, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, inner in node.fields:
        yield from _field(name, inner, depth)
    for label, nodes in node.groups:
        yield f"{indent}- {plain_words(label)}:"
        for inner in nodes:
            yield f"{indent}  - {plain_words(inner.name or inner.type)}{_values(inner)}"
            yield from _fields(inner, depth + 2)
    if node.circular:
        yield f"{indent}- The fields of {plain_words(node.circular)} again."
    elif node.is_cut:
        yield f"{indent}- Further fields."


def _field(name: str, node: SchemaNode, depth: int) -> Iterator[str]:
    kind = ", ".join((plain_words(node.type), *node.flags))
    about = _line(node.description)
    about += "" if not about or about[-1] in ".!?:" else "."
    yield f"{'  ' * depth}- {_code(name)} ({kind}){f': {about}' if about else ''}{_values(node)}"
    yield from _fields(node, depth + 1)


def _values(node: SchemaNode) -> str:
    facts = [f"{fact.label}: {_code(fact.value)}" for fact in node.facts]
    if node.choices:
        more = f" and {node.more_choices} more" if node.more_choices else ""
        facts.append(f"Values: {', '.join(_code(choice.value) for choice in node.choices)}{more}")
    return "".join(f" {fact}." for fact in facts)


def _description(text: str) -> tuple[str, ...]:
    return (text.strip(), "") if text.strip() else ()


def _line(text: str) -> str:
    return " ".join(text.split())


def plain_words(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    return _special.sub(r"\\\1", _line(text))


def _code(text: str) -> str:
    line = _line(text)
    longest = max(map(len, _ticks.findall(line)), default=0)
    if not longest:
        return f"`{line}`"
    return f"{'`' * (longest + 1)} {line} {'`' * (longest + 1)}"


def _fence(text: str, language: str) -> tuple[str, ...]:
    longest = max(map(len, _ticks.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return (f"{ticks}{''.join(filter(str.isalnum, language))}", text, ticks)
