"""The declared customization of a site against the published descriptions of both releases."""

from typing import Any, get_args

from pydantic import BaseModel
from tests.contract.description import DOCUMENTED, NEWEST, Described
from tests.contract.operations import literals
from tests.table import each_case

from presscheck.api.site_customization import ONLY_DOCUMENTED, ONLY_NEWEST, SiteCustomization

Declared = dict[str, tuple[set[str], dict[str, Any]]]
LIMITS = (("max_length", "maxLength"), ("min_length", "minLength"))
HAS_OTHER_LIMITS = {"footer.copyright"}
"""Where the newest release allows more than the documented one, whose limit is declared."""
ATOMS = ("font", "headingFont", "monospaceFont", "to", "primaryLink")
"""Fields whose objects are not looked into: own fonts, and what links lead to."""


def declared(model: type[BaseModel], path: str = "") -> Declared:
    """The words and limits of every field, by path."""
    found: Declared = {}
    for field, info in model.model_fields.items():
        name = f"{path}.{info.alias or field}".lstrip(".")
        rules = [*info.metadata]
        for one in get_args(info.annotation):
            rules += [rule for meta in getattr(one, "__metadata__", ()) for rule in getattr(meta, "metadata", [meta])]
        limits = {
            word: value for rule in rules for key, word in LIMITS if (value := getattr(rule, key, None)) is not None
        }
        found[name] = (set(literals(info.annotation)), limits)
        inside = [info.annotation, *get_args(info.annotation)]
        for one in inside:
            if isinstance(one, type) and issubclass(one, BaseModel):
                found |= declared(one, name)
    return found


def described(told: Described, path: str = "") -> Declared:
    """The same of a description."""
    found: Declared = {}
    for name, variants in told.properties().items():
        here = f"{path}.{name}".lstrip(".")
        inner = [one.items() or one for one in variants]
        words = set[str]().union(*(one.words() for one in inner))
        limits = {word: limit for _, word in LIMITS for one in variants if (limit := one.limit(word))}
        found[here] = (words, limits)
        for one in inner:
            if name not in ATOMS:
                found |= described(one, here)
    return found


@each_case("release", [DOCUMENTED, NEWEST])
def test_every_setting_is_declared_with_its_words_and_limits(release: str) -> None:
    mine, told = declared(SiteCustomization), described(Described({"$ref": "SiteCustomizationSettings"}, release))
    told.pop("updatedAt", None)
    other = ONLY_NEWEST if release == DOCUMENTED else ONLY_DOCUMENTED
    expected = {name for name in mine if not any(name == one or name.startswith(f"{one}.") for one in other)}
    assert set(told) - expected == set(), "left out"
    assert expected - set(told) == set(), "invented"
    for name, (words, limits) in told.items():
        assert words <= mine[name][0], name
        if limits and name not in HAS_OTHER_LIMITS:
            assert mine[name][1] == limits, name
    for name, (words, _) in mine.items():
        if words and name in told and release == NEWEST:
            assert words == told[name][0], name
