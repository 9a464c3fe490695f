"""Models of the API made without validation, for values that the service checked when it stored them.

Validation takes more than half of the time in which a model is made, which is felt in a page of fifty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast

from pydantic import BaseModel

Fields = ParamSpec("Fields")
Instance = TypeVar("Instance", bound=BaseModel)


def unchecked(model: Callable[Fields, Instance]) -> Callable[Fields, Instance]:
    """A constructor of a model that takes the same fields, and does not look at their values.

    The values must be what validation would make of them: tuples for tuples, models for models. The model has to be
    frozen, because the instances share their defaults.

    Args:
        model: the class of the model.
    """
    return cast("Callable[Fields, Instance]", _constructor(cast("type[BaseModel]", model)))


@cache
def _constructor(model: type[BaseModel]) -> Callable[..., BaseModel]:
    if not model.model_config.get("frozen"):
        raise TypeError(f"{model.__name__} is not frozen: its defaults cannot be shared")
    model.model_rebuild()
    fields = model.model_fields
    aliases = {
        field.alias: name
        for name, field in fields.items()
        if field.alias and field.alias_priority == 2  # given by the field, which a caller names it by
    }
    # in the order of the fields; a type checker requires those without a default
    defaults = {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in fields.items()
    }
    names, extra = set(fields), dict[str, Any]()
    create, put = object.__new__, object.__setattr__

    def make(**values: Any) -> BaseModel:
        for alias, name in aliases.items():
            if alias in values:
                values[name] = values.pop(alias)
        instance = create(model)
        put(instance, "__dict__", {**defaults, **values})
        put(instance, "__pydantic_fields_set__", names)
        put(instance, "__pydantic_extra__", extra)
        put(instance, "__pydantic_private__", None)
        return instance

    return make
