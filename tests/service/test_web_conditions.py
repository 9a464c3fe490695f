"""Visitor conditions: their semantics; an invalid condition is false for everyone."""

import pytest

from presscheck.service.web.visitor_conditions import holds

CLAIMS = {"plan": "pro", "seats": 3, "beta": True, "none": None, "teams": ["a", "b"], "of": {"age": 7}}


@pytest.mark.parametrize(
    "condition",
    [
        None,
        "",
        "true",
        'visitor.claims.plan == "pro"',
        "visitor.claims['plan'] === 'pro'",
        "visitor.claims.seats == 3 && visitor.claims.beta",
        "visitor.claims.of?.age != 8",
        "visitor.claims.gone.further == undefined",
        "!visitor.claims.none",
        '"a" in visitor.claims.teams',
        'visitor.claims.plan in ["free", "pro"]',
        'visitor.claims.teams.includes("b") || false',
        "(false || true) && !(false)",
    ],
)
def test_true_conditions(condition: str | None) -> None:
    assert holds(condition, CLAIMS)


@pytest.mark.parametrize(
    "condition",
    [
        "false",
        'visitor.claims.plan == "free"',
        'visitor.claims.plan != "pro"',
        "visitor.claims.seats == true",
        "visitor.claims.beta == 1",
        "visitor.claims.gone",
        "visitor.plan",
        "true ||",
        "true true",
        '"',
        "visitor.claims.plan ==",
        "__import__",
        "(" * 1000,
        "!" * 1000 + "true",
        "true" + " " * 2000 + "|| true",
        '"\\x"',
        "[1",
    ],
)
def test_false_and_invalid_conditions(condition: str) -> None:
    assert not holds(condition, CLAIMS)
