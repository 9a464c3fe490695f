"""Example values for the fields of every operation."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_args, get_origin

from annotated_types import MinLen

import presscheck.api
from presscheck.api.operation import FAMILIES

for module in iter_modules(presscheck.api.__path__, "presscheck.api."):
    import_module(module.name)  # which registers its operations

NAMES = sorted(FAMILIES)


def example(annotation: Any, metadata: tuple[Any, ...] = ()) -> Any:
    """Some value of an annotated field."""
    kind, inner = get_origin(annotation), get_args(annotation)
    shortest = next((limit.min_length for limit in metadata if isinstance(limit, MinLen)), 1)
    if annotation is str:
        return "x" * shortest
    if annotation in (int, bool):
        return 1
    if annotation is Any or kind is dict or annotation is dict:
        return {}
    if kind is tuple:
        return (example(inner[0]),) * shortest
    if isinstance(annotation, type):
        return filled(annotation)
    if hasattr(annotation, "__metadata__") and not isinstance(annotation, type):
        return example(inner[0])
    return inner[0] if kind is not None and "Literal" in str(kind) else example(inner[0])


def filled(cls: type[Any]) -> Any:
    """An instance with its required fields."""
    cls.model_rebuild()
    return cls(**{n: example(f.annotation, tuple(f.metadata)) for n, f in cls.model_fields.items() if f.is_required()})
