"""Example values for the fields of every operation."""

from typing import Any, get_args, get_origin

from annotated_types import MinLen

from presscheck.api.operation import every_operation

OPERATIONS = {one.qualified_name(): one for one in every_operation()}
"""The operations of the API; the engine has one of its own, which pushes a folder."""
NAMES = sorted(OPERATIONS)


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
