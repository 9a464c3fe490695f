"""The access level of a person in a place, and the path through which it is inherited."""

from presscheck.api.collections import Collection
from presscheck.api.organizations import Organization, OrganizationMember
from presscheck.api.spaces import Space
from presscheck.api.teams import Team
from presscheck.api.users import User
from presscheck.engine.access import Access, Grant, Reason

WRITERS, READERS = Team(id="writers", title="Writers"), Team(id="readers", title="Readers")
OUTER = Collection(id="outer", title="Product", default_level="read")
INNER = Collection(id="inner", title="Developers", parent="outer", default_level="inherit")
API = Space(id="api", title="API docs", parent="inner", default_level="inherit")
ALONE = Space(id="alone", title="Notes", default_level="inherit")
ACCESS = Access(
    Organization(id="acme", title="Acme"),
    collections={"outer": OUTER, "inner": INNER},
    spaces=(API, ALONE),
    grants={
        "outer": [Grant(WRITERS, "edit", frozenset({"mia"})), Grant(READERS, "comment", frozenset({"mia", "luz"}))],
        "inner": [Grant(READERS, "review", frozenset({"luz"}))],
    },
)


def member(name: str, role: str | None = "read", *, disabled: bool = False) -> OrganizationMember:
    return OrganizationMember(id=name, role=role, user=User(id=name), disabled=disabled)


def level(access: Access, person: OrganizationMember, place: Space = API) -> tuple[str, str] | None:
    found = access.level(person, place)
    return (found.level, found.path) if found else None


def test_the_highest_level_counts_with_its_path() -> None:
    assert level(ACCESS, member("ada", "admin")) == (
        "admin",
        "role in the organization: Acme › Product › Developers › API docs",
    )
    assert level(ACCESS, member("mia", "edit")) == ("edit", "team Writers: Product › Developers › API docs")
    assert level(ACCESS, member("luz")) == ("review", "team Readers: Developers › API docs")
    assert level(ACCESS, member("tom")) == ("read", "default level: Product › Developers › API docs")
    assert level(ACCESS, member("tom", "edit"), ALONE) == ("edit", "role in the organization: Acme › Notes")
    assert level(ACCESS, member("guest", None)) is None
    assert level(ACCESS, member("mia", None)) == ("edit", "team Writers: Product › Developers › API docs")


def test_a_disabled_person_has_no_level() -> None:
    assert level(ACCESS, member("ada", "admin", disabled=True)) is None
    assert level(ACCESS, member("mia", disabled=True)) is None


def test_reported_level_takes_precedence_over_the_computed_one() -> None:
    reported = Access(**{**vars(ACCESS), "reported": {"api": {"luz": "admin", "mia": "edit"}}})
    elsewhere = "not told by the API: perhaps invited to it"
    assert level(reported, member("luz")) == ("admin", elsewhere)
    assert level(reported, member("mia")) == ("edit", "team Writers: Product › Developers › API docs")
    assert level(reported, member("tom")) is None, "the service knows of no level"
    assert level(reported, member("luz"), ALONE) == ("read", "role in the organization: Acme › Notes")


def test_removing_a_team_removes_its_levels() -> None:
    reported = Access(**{**vars(ACCESS), "reported": {"api": {"luz": "review", "mia": "edit"}}})
    assert level(reported.without("writers"), member("mia")) == (
        "comment",
        "team Readers: Product › Developers › API docs",
    ), "what the service reported holds no longer"
    assert level(reported.without("readers", "inner"), member("luz")) == (
        "comment",
        "team Readers: Product › Developers › API docs",
    )
    assert level(reported.without("readers"), member("luz")) == (
        "read",
        "default level: Product › Developers › API docs",
    )


def test_collections_that_contain_each_other_are_visited_once() -> None:
    first, second = (
        Collection(id=name, title=name.upper(), parent=around, default_level="inherit")
        for name, around in (("a", "b"), ("b", "a"))
    )
    access = Access(ACCESS.organization, collections={"a": first, "b": second})
    assert access.names(Space(id="s", title="S", parent="a")) == ["B", "A", "S"]
    assert list(access.reasons(member("tom"), first)) == [
        Reason("read", "role in the organization: Acme › B › A", "role in Acme")
    ]
