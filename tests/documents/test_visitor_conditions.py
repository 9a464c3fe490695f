"""Visitor conditions: evaluation, unknown claims, and invalid conditions, which are false for everyone."""

from tests.table import each_case

from presscheck.documents.visitors.conditions import claim_paths, holds, judge

CLAIMS = {"plan": "pro", "seats": 3, "beta": True, "none": None, "teams": ["a", "b"], "of": {"age": 7}}


@each_case(
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


@each_case(
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


KNOWN = {("plan",), ("beta",), ("of",), ("of", "age")}


@each_case(
    ("condition", "reason"),
    [
        ("visitor.claims.seats > 3", "“>” is not understood there"),
        ('visitor.claims.plan.startsWith("p")', "“(” is not understood there"),
        ("visitor.claims.plan ==", "the condition ends too early"),
        ('visitor.plan == "pro"', "“visitor.plan” is not known: conditions are about visitor.claims"),
        ('user.plan == "pro"', "“user” is not known: conditions are about visitor.claims"),
        ("visitor.claims.gone || true", "the schema has no claim “gone”"),
        ("visitor.claims.of.gone", "the schema has no claim “of.gone”"),
        ('"\\x"', '"\\x" is not a text'),
        ("true" + " " * 2000 + "|| true", "the condition is longer than 1,024 characters"),
        ("(" * 1000, "the condition is nested too deep"),
    ],
)
def test_undecidable_condition_has_a_reason(condition: str, reason: str) -> None:
    assert judge(condition, CLAIMS, KNOWN) == (None, reason)


def test_claim_outside_the_schema_is_used_if_the_visitor_has_it() -> None:
    assert judge("visitor.claims.seats == 3", CLAIMS, KNOWN) == (True, "")
    assert judge("visitor.claims.gone", CLAIMS) == (False, ""), "without a schema nothing is unknown"
    assert judge(None, {}, KNOWN) == judge("  ", {}, set()) == (True, "")


def test_claim_paths_of_a_condition() -> None:
    condition = (
        'visitor.claims.of?.age == 7 && visitor.claims["plan"].includes(visitor.claims.beta) || !visitor.claims.of.age'
    )
    assert claim_paths(condition) == (("of", "age"), ("beta",), ("plan",))
    assert claim_paths("visitor.claims.plan ==") == ()
