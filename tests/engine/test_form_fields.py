"""Fields of operations in forms and options: help, limits, references, validators and filters."""

from typing import Annotated, Any, get_args

import pytest
from pydantic import BaseModel, Field
from tests.table import each_case

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.operation import Operation, Paged, every_operation
from presscheck.api.site_structure import AddSectionGroup, AddSiteSpace, UpdateSection
from presscheck.api.spaces import GetSpacePDF, MoveSpace
from presscheck.api.teams import CreateTeam, ListTeams
from presscheck.engine.forms import field_help, references
from presscheck.engine.forms.field_help import DESCRIPTIONS, PARTS, description, limits, named_description
from presscheck.engine.forms.form import FIELD_VALIDATORS, FilterForm, address_reason, domain_reason
from presscheck.engine.forms.references import GROUP, PAGE, PART_REFERENCES, REFERENCES, reference_of
from presscheck.errors import InvalidArgument

FIELDS = {(operation.__name__, name) for operation in every_operation() for name in operation.model_fields}


def test_exactly_the_fields_of_operations_have_help() -> None:
    assert set(DESCRIPTIONS) == {name for _, name in FIELDS}
    assert set(field_help.SPECIAL) <= FIELDS


def test_help_may_depend_on_the_operation_and_omits_ids_for_names() -> None:
    assert description(AddSectionGroup, "parent") == "Id of the group to put it in"
    assert description(UpdateSection, "title") == "Title"
    named = {
        (AddSectionGroup, "parent"): "Group to put it in",
        (AddSiteSpace, "space_id"): "Space to add",
        (CreateTeam, "members"): "Members",
        (UpdateSection, "default_site_space"): "Space that opens first",
    }
    assert {key: named_description(*key) for key in named} == named
    for operation in every_operation():
        for name in operation.model_fields:
            if reference_of(operation, name):
                text = named_description(operation, name)
                assert text and text[0].isupper() and "(an id)" not in text, (operation, name)


class Limited(BaseModel):
    """A model with a field for each kind of limit."""

    most: Annotated[str, Field(max_length=2048)] = ""
    least: Annotated[str, Field(min_length=1)] = ""
    both: Annotated[str | None, Field(min_length=2, max_length=64)] = None
    several: Annotated[tuple[str, ...] | None, Field(max_length=1)] = None
    number: Annotated[int, Field(ge=1, le=1000)] = 1
    open_number: Annotated[int, Field(gt=0, lt=5)] = 1
    slug: Annotated[str, Field(pattern="[a-z]+")] = ""
    described: Annotated[str, Field(pattern="[a-z]+", description="must be lowercase")] = ""
    free: str = ""


@each_case(
    ("name", "is_repeatable", "words"),
    [
        ("most", False, ["at most 2,048 characters"]),
        ("least", False, ["at least 1 character"]),
        ("both", False, ["2 to 64 characters"]),
        ("several", False, ["at most 1 item"]),
        ("several", True, ["at most 1 value"]),
        ("number", False, ["at least 1", "at most 1000"]),
        ("open_number", False, ["more than 0", "less than 5"]),
        ("slug", False, ["must match [a-z]+"]),
        ("described", False, ["must be lowercase"]),
        ("free", False, []),
    ],
)
def test_limits_in_words(name: str, is_repeatable: bool, words: list[str]) -> None:
    assert limits(Limited.model_fields[name], is_repeatable=is_repeatable) == words


# -- references


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type, such as that of the items of a list."""
    found = [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []
    return [*found, *(model for inner in get_args(annotation) for model in models_in(inner))]


def item_of(listing: type[Operation[Any]], items: str) -> type[BaseModel]:
    """Return the model of the items of a listing; `items` is the field of the response that has them."""
    answer = listing.answer
    [model] = models_in(answer.model_fields[items or "items"].annotation)
    return model


def test_listed_models_have_the_id_and_the_names_of_their_references() -> None:
    for reference in (*REFERENCES.values(), *PART_REFERENCES.values()):
        for listing in reference.listings:
            for name in (reference.id, *reference.names, *filter(None, [reference.label])):
                model = item_of(listing, reference.items)
                for part in name.split("."):
                    fields = {info.alias or key: info for key, info in model.model_fields.items()}
                    assert part in fields, (listing.__name__, name)
                    model = next(iter(models_in(fields[part].annotation)), model)


def test_references_belong_to_existing_fields() -> None:
    assert set(REFERENCES) <= {name for _, name in FIELDS}
    assert set(references.SPECIAL) <= FIELDS
    assert all(part in PARTS[field] for field, part in PART_REFERENCES)
    assert reference_of(AddSectionGroup, "parent") is GROUP
    assert reference_of(MoveSpace, "parent") is REFERENCES["collection_id"]
    assert reference_of(GetSpacePDF, "page") is PAGE
    for operation in every_operation():
        if issubclass(operation, Paged):
            assert reference_of(operation, "page") is None, "that is the cursor"
        if operation.__name__ == "GetUser":
            assert reference_of(operation, "user_id") is None


# -- validators


@each_case(
    ("text", "is_valid"),
    [
        ("https://example.com/a?b#c", True),
        ("http://localhost:8080", True),
        ("ftp://example.com", False),
        ("example.com", False),
        ("javascript:alert(1)", False),
        ("https://exa\x1bmple.com", False),
        ("", False),
    ],
)
def test_web_addresses(text: str, is_valid: bool) -> None:
    assert address_reason(text) == (None if is_valid else "is not an address: it starts with https:// or http://")


@each_case(
    ("text", "is_valid"),
    [
        ("example.com", True),
        ("a-b.example.co.uk", True),
        ("b\u00fccher.example", True),
        ("example", False),
        ("ann@example.com", False),
        (".example.com", False),
        ("example.com.", False),
        ("-a.example.com", False),
        ("a-.example.com", False),
        ("a_.example.com", False),
        ("exam ple.com", False),
    ],
)
def test_domains(text: str, is_valid: bool) -> None:
    assert (domain_reason(text) is None) is is_valid


def test_long_invalid_domain_is_cut_and_each_validator_has_a_field() -> None:
    assert domain_reason("x" * 100) == f"{'x' * 40} is not a domain: give one such as example.com, without @"
    parts = {part for names in PARTS.values() for part in names}
    assert set(FIELD_VALIDATORS) <= {name for _, name in FIELDS} | parts


# -- filters

ORG = {"organization_id": "o"}


def test_empty_filters_are_omitted_and_filters_of_a_call_are_shown() -> None:
    form = FilterForm(ListTeams, ORG)
    names = {field.name for field in form.fields}
    assert {"title", "owner"} <= names and not names & {"organization_id", "page", "limit"}
    call = form.result({**dict.fromkeys(names, " "), "title": " Docs "}, {})
    assert call.given() == {**ORG, "title": "Docs"}
    assert (form.filters(call), form.changes_nothing(call)) == ({"title": "Docs"}, False)
    assert form.command(call) == "presscheck api list-teams --organization-id o --title Docs"
    assert form.filters(form.result(dict.fromkeys(names, ""), {})) == {}
    with pytest.raises(InvalidArgument) as error:
        FilterForm(ListChangeRequests, {"space_id": "s"}).result({"status": "opened"}, {})
    assert error.value.field == "status"
