"""The visitor schema, a condition and the claims of a visitor, for tests of adaptive content."""

from presscheck.documents.visitors.claim_schema import empty_schema

PLAN = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}
PRO = 'visitor.claims.unsigned.plan == "pro"'
SCHEMA = {
    **empty_schema(),
    "properties": {
        "unsigned": {
            "type": "object",
            "description": "What anybody can claim",
            "properties": {"plan": PLAN},
            "additionalProperties": False,
        }
    },
}
CLAIMS = {"unsigned": {"plan": "pro"}}
