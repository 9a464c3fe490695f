"""The paths of all reads of the API."""

from __future__ import annotations

from collections.abc import Iterator

from tests.service.populated_service import Known

from presscheck.api.operation import every_operation

QUESTIONS = {"query": "lamp", "url": "http://service.localhost/app/s/none", "request": "N4IgLgTg", "source": "/former"}
"""A value for each required query parameter."""


def read_paths(known: Known) -> Iterator[str]:
    """Yield the path of each read whose placeholders are all in `known`."""
    for operation in every_operation():
        aliases = {name: operation.on_wire(name) for name in operation.path_fields()}
        if not operation.is_read() or not set(aliases.values()) <= set(known):
            continue
        path = operation.route.partition(" ")[2].format(**{name: known[alias] for name, alias in aliases.items()})
        wanted = [name for name in operation.query_fields() if operation.model_fields[name].is_required()]
        yield f"/v1{path}" + "".join(f"?{operation.on_wire(name)}={QUESTIONS[name]}" for name in wanted)


def timed(paths: list[str]) -> set[str]:
    """Return the reads whose responses contain the time of their signature, to the second."""
    return {path for path in paths if path.endswith(("/pdf", "/preview"))}
