"""Forms for claims and audiences: the results of typed texts, and the values that claims can have."""

from typing import Any

import pytest
from tests.table import each_case

from presscheck.documents.visitors.claim_schema import Claim, schema_claims
from presscheck.engine.publish.audiences import Audience
from presscheck.engine.publish.claim_forms import NOT_SET, AudienceForm, ClaimChange, ClaimForm, can_fill_in, kind_words
from presscheck.errors import InvalidArgument


def text(description: str, *values: str) -> dict[str, Any]:
    return {"type": "string", "description": description, **({"enum": list(values)} if values else {})}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "nick": text("Nickname"),
        "plan": text("Plan", "free", "pro, yearly"),
        "beta": {"type": "boolean", "description": "Beta"},
        "team": {
            "type": "object",
            "description": "",
            "properties": {"size": {"type": "number", "description": "Size"}},
        },
        "tags": {"type": "array", "description": "Tags", "items": text("", "a", "b")},
        "counts": {"type": "array", "description": "Counts", "items": {"type": "number", "description": ""}},
    },
}
CLAIMS = {claim.name: claim for claim in schema_claims(SCHEMA)}
EMPTY = {"path": "", "kind": "string", "values": "", "description": ""}


def made(claim: Claim | None = None, **typed: str) -> ClaimChange:
    form = ClaimForm(SCHEMA, claim)
    return form.result({**EMPTY, **form.present, **typed}, form.present)


def test_a_new_claim_is_added_at_its_path() -> None:
    change = made(path=" team.lead ", kind="boolean", description=" Leads ")
    assert change == ClaimChange(("team", "lead"), {"type": "boolean", "description": "Leads"})
    team = change.made_in(SCHEMA)["properties"]["team"]["properties"]
    assert [*team] == ["size", "lead"]
    listed = made(path="x", kind="enumeration", description="d", values=" b ,a,, b")
    assert listed.claim == {"type": "string", "description": "d", "enum": ["b", "a"]}
    assert ClaimForm(SCHEMA).present == {"kind": "string"}


@each_case("name", ["nick", "plan", "beta", "team.size"])
def test_unchanged_form_of_a_claim_changes_nothing(name: str) -> None:
    form = ClaimForm(SCHEMA, CLAIMS[name])
    change = made(CLAIMS[name])
    assert form.changes_nothing(change)
    assert change.made_in(SCHEMA) == SCHEMA
    assert not form.changes_nothing(made(CLAIMS[name], description="other"))
    assert not form.changes_nothing(made(CLAIMS[name], path="other"))


def test_a_renamed_claim_keeps_its_place_and_a_value_with_a_comma_stays_one() -> None:
    change = made(CLAIMS["plan"], path="tier")
    assert [*change.made_in(SCHEMA)["properties"]][:3] == ["nick", "tier", "beta"]
    assert change.claim == text("Plan", "free", "pro, yearly")
    changed = made(CLAIMS["plan"], values="free, pro, yearly, max").claim
    assert (changed or {})["enum"] == ["free", "pro", "yearly", "max"]
    assert [*ClaimChange(("plan",), None, ("plan",)).made_in(SCHEMA)["properties"]][:2] == ["nick", "beta"]


@each_case(
    ("typed", "field", "reason"),
    [
        ({}, "path", "is required"),
        ({"path": "a..b", "description": "d"}, "path", "has an empty name between its dots"),
        ({"path": "a. b", "description": "d"}, "path", "has an empty name between its dots"),
        ({"path": "a"}, "description", "is required"),
        ({"path": "a", "description": "d", "kind": "array"}, "kind", "must be one of: text, yes or no, number"),
        ({"path": "a", "description": "d", "kind": "enumeration"}, "values", "is required for one of a list"),
        ({"path": "a", "description": "d", "kind": "number", "values": "1"}, "values", "need the type"),
        (
            {"path": "a", "description": "d", "values": "x"},
            "values",
            "need the type \u201cone of a list of texts\u201d",
        ),
        ({"path": "plan", "description": "d"}, "path", "there is a claim \u201cplan\u201d already"),
        ({"path": "nick.x", "description": "d"}, "path", "no object claim \u201cnick\u201d: make it in the JSON"),
    ],
)
def test_error_in_a_claim_names_the_field(typed: dict[str, str], field: str, reason: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        made(**typed)
    assert (error.value.field, reason in error.value.reason) == (field, True), error.value.reason


def test_only_simple_claims_have_a_form_and_a_schema_needs_properties() -> None:
    assert [name for name, claim in CLAIMS.items() if can_fill_in(claim)] == ["nick", "plan", "beta", "team.size"]
    assert not can_fill_in(Claim(("a.b",), "string"))
    with pytest.raises(InvalidArgument, match="path: the schema has no properties"):
        ClaimChange(("a",), text("")).made_in({})


# -- audiences

NAMES = {field.label: field.name for field in AudienceForm([*CLAIMS.values()]).fields}


def audience(known: Audience | None = None, **typed: str) -> Audience:
    """Fill in the form of an audience. The names of fields are their labels, with `__` for a dot."""
    form = AudienceForm([*CLAIMS.values()], known)
    texts = {**dict.fromkeys((field.name for field in form.fields), ""), **form.present}
    named = {NAMES.get(label.replace("__", "."), label): text for label, text in typed.items()}
    assert named.keys() <= texts.keys()
    return form.result({**texts, **named}, form.present)


def test_an_audience_has_the_claims_that_were_typed() -> None:
    made = audience(
        name=" Pro ", plan="free", beta="false", team__size="3", tags="b, a", counts="1, 2.5", others='{"x": {}}'
    )
    assert made == Audience(
        "Pro",
        {"x": {}, "plan": "free", "beta": False, "team": {"size": 3}, "tags": ["b", "a"], "counts": [1, 2.5]},
    )
    assert audience(name="All") == Audience("All", {})
    inside = audience(name="x", team__size="3", others='{"team": {"name": "y"}}')
    assert inside.claims == {"team": {"name": "y", "size": 3}}


def test_unchanged_form_of_an_audience_returns_an_equal_audience() -> None:
    claims: dict[str, Any] = {
        "nick": " spaces around ",
        "plan": "unknown",
        "beta": True,
        "team": {"size": 3},
        "tags": ["a", "with, comma"],
        "counts": [1, 2],
        "other": {"a": None},
    }
    known = Audience("Pro", claims)
    form = AudienceForm([*CLAIMS.values()], known)
    shown = {label: form.present[name] for label, name in NAMES.items() if name in form.present}
    others = shown.pop("Other claims")
    assert shown == {"Name of the audience": "Pro", "beta": "true", "team.size": "3", "counts": "1, 2"}
    assert '"with, comma"' in others and "team" not in others, "what a field cannot hold is in the JSON"
    assert audience(known) == known
    assert form.changes_nothing(audience(known))
    assert audience(known, beta="").claims == {name: value for name, value in claims.items() if name != "beta"}
    assert claims["team"] == {"size": 3}, "the audience itself is not changed"


@each_case(
    ("typed", "field", "reason"),
    [
        ({"name": " "}, "name", "is required"),
        ({"name": "x", "others": "[1]"}, "others", "must be a JSON object"),
        ({"name": "x", "plan": "max"}, "plan", "must be one of free, pro, yearly"),
        ({"name": "x", "beta": "yes"}, "beta", "must be true or false"),
        ({"name": "x", "tags": "a, c"}, "tags", "must be one of a, b"),
        *[
            ({"name": "x", "team__size": text}, "team.size", "must be a number")
            for text in ("1 2", "true", "NaN", "1e999")
        ],
        (
            {"name": "x", "team__size": "3", "others": '{"team": 1}'},
            "others",
            "\u201cteam\u201d is an object in the schema",
        ),
    ],
)
def test_error_in_an_audience_names_the_field(typed: dict[str, str], field: str, reason: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        audience(**typed)
    assert (error.value.field, reason in error.value.reason) == (NAMES.get(field, field), True), error.value.reason


def test_the_fields_of_an_audience_offer_the_values_of_each_claim() -> None:
    hostile = Claim(("a\x1b", "b"), "string", ("x\x1b", "x\x1b", ""), "d")
    [_, first, _] = AudienceForm([hostile]).fields
    assert first.name.isidentifier()
    assert first.help == "text: d"
    assert [
        kind_words(Claim(("a",), kind, (), "", items)) for kind, items in (("array", "string"), ("object", ""))
    ] == [
        "list of text",
        "object",
    ]
    assert (first.choices, "\x1b" in first.label) == ((("x\x1b", "x\u241b"), NOT_SET), False)
    fields = {field.label: field for field in AudienceForm([*CLAIMS.values()]).fields}
    assert "team" not in fields
    assert fields["beta"].choices == (("true", "yes"), ("false", "no"), NOT_SET)
    assert fields["tags"].help == "several, separated by commas: of a, b: Tags"
    assert (fields["tags"].kind, fields["team.size"].help) == ("text", "number: Size")
