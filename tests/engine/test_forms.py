"""Forms of operations: their fields, the calls for typed texts, and the errors of fields."""

import re
from typing import Any

import pytest
from tests.table import each_case

from presscheck.api.imports import StartImport
from presscheck.api.invites import CreateInvite
from presscheck.api.openapi import CreateOpenAPISpec
from presscheck.api.operation import Operation, Paged, every_operation
from presscheck.api.organizations import Organization, UpdateMember, UpdateOrganization
from presscheck.api.teams import AddTeamMember, CreateTeam, Team, UpdateTeam
from presscheck.api.translations import CreateTranslation
from presscheck.engine.forms.form import NULL, call_of, form_fields, initial_texts
from presscheck.engine.forms.parts_form import PartsForm
from presscheck.errors import InvalidArgument

ORG = {"organization_id": "o"}


def test_every_write_has_a_form_with_a_label_for_each_field() -> None:
    for operation in every_operation():
        if operation.is_read():
            continue
        fields = form_fields(operation)
        names = [field.name for field in fields]
        elsewhere = {*operation.path_fields(), *(Paged.model_fields if issubclass(operation, Paged) else ())}
        assert names == [name for name in operation.model_fields if name not in elsewhere], operation
        assert all(field.label and not field.label.endswith(".") for field in fields), operation
        for field in fields:
            assert field.kind != "choice" or field.choices, (operation, field.name)


def test_errors_of_every_form_are_in_plain_words() -> None:
    raw = re.compile(r"Input should|dictionary|tuple|boolean|interpret|discriminator|instance of|integer", re.I)
    for operation in (one for one in every_operation() if not one.is_read()):
        given = dict.fromkeys(operation.path_fields(), "x")
        for field in form_fields(operation, given):
            for text in ("x" * 3000, "[1]", "{}", "true", "-1", "1.5", "9" * 40):
                try:
                    call_of(operation, given, {field.name: text})
                except InvalidArgument as error:
                    for one in (error, *error.others):
                        assert not raw.search(one.reason), (operation, one.field, text)


def test_only_what_was_typed_is_sent() -> None:
    call = call_of(UpdateOrganization, ORG, {"title": "Docs ", "email_domains": "a.example, b.example ,", "ai": "true"})
    assert call.given() == {
        "organization_id": "o",
        "title": "Docs",
        "email_domains": ["a.example", "b.example"],
        "ai": True,
    }


def test_an_emptied_field_is_removed() -> None:
    call = call_of(UpdateOrganization, ORG, {"logo": "", "email_domains": "", "default_content": "s"})
    assert call.given()["logo"] is None
    assert call.given()["email_domains"] == []
    assert call.wire_body()["defaultContent"] == {"type": "site", "site": "s"}


def test_guest_is_sent_as_a_null_role_and_an_empty_choice_is_not_sent() -> None:
    [role] = form_fields(UpdateMember, ())
    assert (NULL, "guest") in role.choices
    path = {**ORG, "user_id": "u"}
    assert call_of(UpdateMember, path, {"role": NULL}).given() == {**path, "role": None}
    assert call_of(CreateInvite, ORG, {"role": ""}).given() == ORG
    team = {**path, "team_id": "t"}
    [role] = form_fields(AddTeamMember, team)
    assert NULL not in dict(role.choices)
    assert call_of(AddTeamMember, team, {"role": ""}).given() == team


@each_case(
    ("typed", "field", "reason"),
    [
        ({}, "title", "is required"),
        ({"title": " "}, "title", "is required"),
        ({"title": "x" * 65}, "title", "64 characters"),
    ],
)
def test_the_error_names_the_field(typed: dict[str, str], field: str, reason: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        call_of(CreateTeam, ORG, typed)
    assert error.value.field == field and reason in error.value.reason


@each_case(
    ("operation", "typed", "errors"),
    [
        (
            CreateOpenAPISpec,
            {"slug": "A b"},
            {"slug": "must be lowercase", "source__url": "is required, unless “Text of the source” is given"},
        ),
        (
            CreateOpenAPISpec,
            {"source__url": f"https://a.example/{'x' * 3_000}"},
            {"slug": "is required", "source__url": "at most 2,048 characters"},
        ),
        (StartImport, {}, {"source__url": "unless “Files to import” is given", "target__space": "is required"}),
        (CreateTranslation, {"source__space": "s", "source__language": "en"}, {"language": "is required"}),
    ],
)
def test_errors_follow_the_order_of_fields_and_use_their_labels(
    operation: type[Operation[Any]], typed: dict[str, str], errors: dict[str, str]
) -> None:
    form = PartsForm(operation, ORG)
    empty = {field.name: "" for field in form.fields}
    with pytest.raises(InvalidArgument) as caught:
        form.result({**empty, **typed}, empty)
    told = [(error.field, error.reason) for error in (caught.value, *caught.value.others)]
    assert [field for field, _ in told] == list(errors)
    assert all(reason in whole for (_, whole), reason in zip(told, errors.values(), strict=True))


def test_invalid_json_is_an_error_of_its_field() -> None:
    with pytest.raises(InvalidArgument, match="merge_rules: is not valid JSON"):
        call_of(UpdateOrganization, ORG, {"merge_rules": "{"})


def test_a_form_begins_with_the_present_values_and_sends_them_unchanged() -> None:
    organization = Organization(id="o", title="Docs", email_domains=("a.example",), default_role=None, ai=True)
    texts = initial_texts(form_fields(UpdateOrganization, ORG), organization)
    assert (texts["title"], texts["email_domains"], texts["ai"]) == ("Docs", "a.example", "true")
    assert texts["default_role"] == NULL
    assert texts["default_content"] == texts["hostname"] == ""
    assert initial_texts(form_fields(UpdateTeam, {**ORG, "team_id": "t"}), Team(id="t", title="A")) == {"title": "A"}
    assert initial_texts(form_fields(CreateTeam, ORG), None) == {"title": "", "members": ""}
