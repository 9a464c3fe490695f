"""Audiences and visitor tokens: what each audience sees, and tokens that PyJWT can read and makes."""

import hmac
import json
from base64 import urlsafe_b64encode

import jwt
import pytest
from tests.table import each_case

from presscheck.api.content import RevisionPage
from presscheck.api.site_structure import SiteStructure
from presscheck.engine.publish.audiences import EVERYONE, Audience, places_of, seen_by, uses_of
from presscheck.engine.publish.visitor_tokens import audience_of, make_token, read_token
from presscheck.errors import InvalidArgument

KEY = "a key of at least thirty-two characters"
NOW = 1_800_000_000
PRO, FREE = Audience("Pro", {"plan": "pro"}), Audience("Free", {"plan": "free"})
KNOWN = frozenset((("plan",),))
PLAN = 'visitor.claims.plan == "pro"'
STRUCTURE = SiteStructure.model_validate(
    {
        "type": "sections",
        "structure": [
            {
                "object": "site-section",
                "id": "s",
                "title": "News",
                "condition": 'visitor.claims.plan == "pro"',
                "siteSpaces": [{"object": "site-space", "id": "i", "title": "Notes", "space": {"id": "space"}}],
            }
        ],
    }
)
BELOW = RevisionPage(id="b", title="Below")
PAGES = {"space": (RevisionPage(id="a", title="Beta", condition="visitor.claims.beta", pages=(BELOW,)),)}


def test_a_place_is_seen_if_all_conditions_above_it_hold() -> None:
    places = {place.title: place for place in places_of(STRUCTURE, PAGES)}
    assert [(place.kind, place.depth) for place in places.values()] == [
        ("section", 0),
        ("space", 1),
        ("page", 2),
        ("page", 3),
    ]
    assert places["Notes"].seen_by(PRO, KNOWN).holds is True
    assert places["Below"].seen_by(FREE, KNOWN) == (False, 'News: visitor.claims.plan == "pro"')
    assert places["Below"].seen_by(PRO, KNOWN) == (None, "Beta: the schema has no claim “beta”")
    assert places["Below"].seen_by(PRO, {("plan",), ("beta",)}).holds is False
    assert [bool(use.problem) for use in uses_of(places.values(), KNOWN)] == [False, True]


def item(kind: str, name: str, **fields: object) -> dict[str, object]:
    return {"object": f"site-{kind}", "id": name, "title": name, **fields}


def test_tree_of_an_audience_omits_limited_hidden_and_draft_content() -> None:
    structure = SiteStructure.model_validate(
        {
            "type": "sections",
            "structure": [
                item("section", "Open", siteSpaces=[item("space", "Guides", space={"id": "space"})]),
                item("section", "Paid", condition=PLAN, siteSpaces=[item("space", "Extra", space={"id": "none"})]),
                item("section", "Soon", draft=True, siteSpaces=[item("space", "Later", space={"id": "none"})]),
                item("section", "Aside", siteSpaces=[item("space", "Old", hidden=True, space={"id": "none"})]),
            ],
        }
    )
    hidden = RevisionPage(id="h", title="Hidden", hidden=True, pages=(RevisionPage(id="i", title="In it"),))
    unclear = RevisionPage(id="u", title="Unclear", condition="visitor.claims.beta")
    only = RevisionPage(id="o", title="Only", condition=PLAN, hidden=True)
    group = RevisionPage(id="g", title="Group", type="group")
    places = tuple(places_of(structure, {"space": (hidden, unclear, only, group)}))
    titles = {audience.name: seen_by(places, audience, KNOWN, is_on=True) for audience in (EVERYONE, FREE, PRO)}
    everyone = [place.title for place in titles["Free"].places]
    assert everyone == ["Open", "Guides", "Unclear", "Group", "Aside"]
    assert [place.title for place in titles["Pro"].places] == [*everyone[:4], "Paid", "Extra", "Aside"]
    assert [place.title for place in titles["Pro"].places if not place.is_text] == ["Group"]
    counted = {name: (seen.limited, seen.hidden, seen.drafts) for name, seen in titles.items()}
    assert counted == {"Everyone": (3, 3, 2), "Free": (3, 3, 2), "Pro": (0, 4, 2)}
    assert titles["Pro"].doubts == {"page Guides u": "Unclear: the schema has no claim “beta”"}
    off = seen_by(places, FREE, KNOWN, is_on=False)
    assert [place.title for place in off.places] == [*everyone[:4], "Paid", "Extra", "Aside"]
    assert (off.doubts, off.limited) == ({}, 0)


def test_tokens_are_exchangeable_with_pyjwt() -> None:
    made = make_token(PRO.claims, KEY, NOW)
    decoded = jwt.decode(made, KEY, algorithms=["HS256"], options={"verify_exp": False, "verify_iat": False})
    assert decoded == {"plan": "pro", "iat": NOW, "exp": NOW + 3600}
    token = read_token(f"https://example.org/?jwt_token={jwt.encode(decoded, KEY, 'HS256')}&x=1", KEY, NOW)
    assert (token.signature, token.problem, token.time_problem) == ("valid", "", "")
    assert audience_of(token.visitor_claims, (FREE, PRO)) is PRO
    assert read_token(made, KEY, NOW + 3600).time_problem.startswith("expired at 20")
    assert read_token(made, None, NOW).signature == "unknown"


@each_case("algorithm", ["none", "HS384", "HS512"])
def test_other_algorithms_are_refused(algorithm: str) -> None:
    token = jwt.encode({"plan": "pro"}, None if algorithm == "none" else KEY * 3, algorithm)
    assert read_token(token, KEY * 3, NOW).signature == "invalid"


def test_changed_token_is_invalid_and_malformed_token_is_an_error() -> None:
    head, claims, signature = make_token(PRO.claims, KEY, NOW).split(".")
    other = make_token({"plan": "max"}, KEY, NOW).split(".")[1]
    assert read_token(f"{head}.{other}.{signature}", KEY, NOW).signature == "invalid"
    assert read_token(f"{head}.{claims}.", KEY, NOW).signature == "invalid"
    for text in ("", "a.b", "a.b.c", f"{head}.!!.{signature}", "x" * 5000):
        with pytest.raises(InvalidArgument):
            read_token(text, KEY, NOW)


@each_case("header", [{"alg": "none"}, {"alg": "HS384"}, {}, {"alg": "HS256", "crit": ["exp"]}])
def test_signed_token_with_another_algorithm_in_its_header_is_invalid(header: dict[str, object]) -> None:
    signed = ".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, {}))
    digest = hmac.new(KEY.encode(), signed.encode(), "sha256").digest()
    token = f"{signed}.{urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    assert read_token(token, KEY, NOW).signature == "invalid"
