"""Compares `SiteCustomization` with the published descriptions of both releases."""

from typing import Any, get_args

from pydantic import BaseModel
from tests.contract.description import DOCUMENTED, NEWEST, Described
from tests.contract.operations import literals
from tests.table import each_case

from presscheck.api.site_customization import ONLY_DOCUMENTED, ONLY_NEWEST, SiteCustomization

Declared = dict[str, tuple[set[str], dict[str, Any]]]
LIMITS = (("max_length", "maxLength"), ("min_length", "minLength"))
HAS_OTHER_LIMITS = {"footer.copyright"}
"""Fields that have a higher limit in the newest release; presscheck declares the documented one."""
ATOMS = ("font", "headingFont", "monospaceFont", "to", "primaryLink")
"""Fields whose objects are not compared: custom fonts and link targets."""


def declared(model: type[BaseModel], path: str = "") -> Declared:
    """Return the words and limits of all fields of a model, by path."""
    fields: Declared = {}
    for field, info in model.model_fields.items():
        name = f"{path}.{info.alias or field}".lstrip(".")
        rules = [*info.metadata]
        for argument in get_args(info.annotation):
            rules += [
                rule for meta in getattr(argument, "__metadata__", ()) for rule in getattr(meta, "metadata", [meta])
            ]
        limits = {
            word: value for rule in rules for key, word in LIMITS if (value := getattr(rule, key, None)) is not None
        }
        fields[name] = (set(literals(info.annotation)), limits)
        inside = [info.annotation, *get_args(info.annotation)]
        for argument in inside:
            if isinstance(argument, type) and issubclass(argument, BaseModel):
                fields |= declared(argument, name)
    return fields


def described(schema: Described, path: str = "") -> Declared:
    """Return the words and limits of all properties of a schema, by path."""
    fields: Declared = {}
    for name, variants in schema.properties().items():
        here = f"{path}.{name}".lstrip(".")
        inner = [variant.items() or variant for variant in variants]
        words = set[str]().union(*(variant.words() for variant in inner))
        limits = {word: limit for _, word in LIMITS for variant in variants if (limit := variant.limit(word))}
        fields[here] = (words, limits)
        for variant in inner:
            if name not in ATOMS:
                fields |= described(variant, here)
    return fields


@each_case("release", [DOCUMENTED, NEWEST])
def test_settings_have_the_words_and_limits_of_the_descriptions(release: str) -> None:
    model_fields, described_fields = (
        declared(SiteCustomization),
        described(Described({"$ref": "SiteCustomizationSettings"}, release)),
    )
    described_fields.pop("updatedAt", None)
    other = ONLY_NEWEST if release == DOCUMENTED else ONLY_DOCUMENTED
    expected = {
        name for name in model_fields if not any(name == prefix or name.startswith(f"{prefix}.") for prefix in other)
    }
    assert set(described_fields) - expected == set(), "missing in the model"
    assert expected - set(described_fields) == set(), "not in the description"
    for name, (words, limits) in described_fields.items():
        assert words <= model_fields[name][0], name
        if limits and name not in HAS_OTHER_LIMITS:
            assert model_fields[name][1] == limits, name
    for name, (words, _) in model_fields.items():
        if words and name in described_fields and release == NEWEST:
            assert words == described_fields[name][0], name
