"""Owners of changed pages: their pages, the users and teams that they stand for, and their reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.review_samples import request
from tests.engine.scripted_service import ScriptedService
from tests.table import each_case

from presscheck.api.operation import ALL
from presscheck.api.spaces import Space
from presscheck.api.teams import ListTeamMembers, ListTeams
from presscheck.api.users import User
from presscheck.config.owners_file import parse
from presscheck.engine.members import Person
from presscheck.engine.review.changes import NOT_COMPARED, ChangedItem
from presscheck.engine.review.merge_readiness import Reviewer
from presscheck.engine.review.owners import (
    OwnerReview,
    PageOwner,
    find_owners,
    named_owners,
    owned_pages,
    owner_review,
    read_changes,
    shares_by_user,
)
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import Forbidden

SPACE = Space(id="api", title="API docs")
ANA = User(id="ana", display_name="Ana Ruiz", email="ana@example.org")
MIA = User(id="u2", display_name="Mia Okonkwo", email="mia@example.org")
PEOPLE = [Person(ANA, "admin"), Person(MIA, "")]
TEAMS = ListTeams(organization_id="o", limit=ALL)
DENIED = Forbidden("No", request="", status=403)


def page(identity: str, path: str | None, *kinds: str, noun: str = "page") -> ChangedItem:
    return ChangedItem(identity, noun, identity.title(), kinds or ("edited",), path=path)


def owner(name: str, *pages: str, total: int = 5, **more: Any) -> PageOwner:
    return PageOwner(name, frozenset(pages), total, **more)


def service(*teams: tuple[str, str], members: dict[str, list[User]] | None = None) -> ScriptedService:
    answers: list[tuple[Any, Any]] = [
        (TEAMS, {"items": [{"object": "team", "id": identity, "title": title} for identity, title in teams]})
    ]
    for identity, users in (members or {}).items():
        call = ListTeamMembers(organization_id="o", team_id=identity, limit=ALL)
        items = [
            {"organization": {"object": "member", "id": user.id, "user": user.model_dump(by_alias=True)}}
            for user in users
        ]
        answers.append((call, {"items": items}))
    return ScriptedService(answers)


def test_last_matching_rule_applies_to_a_changed_page() -> None:
    owners = parse(Path("owners"), "* ana\n/api/auth writers ana\nAPI\\ docs/keys\n")
    items = [
        page("start", ""),
        page("new", None),
        page("tokens", "auth/tokens"),
        page("keys", "keys"),
        page("logo", "logo", noun="file"),
        page("listed", "listed", NOT_COMPARED),
    ]
    owned = owned_pages(owners, SPACE, items)
    assert [(one.item.id, one.rule.owners if one.rule else None) for one in owned] == [
        ("start", ("ana",)),
        ("new", ("ana",)),
        ("tokens", ("writers", "ana")),
        ("keys", ()),
    ]
    named = named_owners(owned)
    assert [(one.name, one.page_ids, one.total) for one in named] == [
        ("ana", {"start", "new", "tokens"}, 4),
        ("writers", {"tokens"}, 4),
    ]


def test_a_share_in_words() -> None:
    assert owner("x", "a", "b").share == "owns 2 of 5 pages"
    assert owner("x", "a", total=1).share == "owns 1 of 1 page"
    assert [owner("x").title, owner("x", users=(ANA,)).title, owner("x", users=(ANA,), team="Writers").title] == [
        "x",
        "Ana Ruiz",
        "Writers",
    ]


async def test_owners_are_found_by_id_email_address_or_name() -> None:
    reader = service()
    named = [owner("mia okonkwo", "a"), owner("ANA@example.org", "a", "b"), owner("ana", "b", "c"), owner("u2", "d")]
    first, second = await find_owners(reader, "o", named, PEOPLE)
    assert (first.users, first.page_ids, first.team) == ((ANA,), {"a", "b", "c"}, "")
    assert (second.users, second.page_ids) == ((MIA,), {"a", "d"})
    assert reader.sent == [], "teams are listed only for what is no user"
    twins = [Person(User(id="1", display_name="Jo"), ""), Person(User(id="2", display_name="jo"), "")]
    [both] = await find_owners(reader, "o", [owner("JO", "a")], twins)
    assert [user.id for user in both.users] == ["1", "2"]
    named_as_id = User(id="x", display_name="ana")
    [by_id] = await find_owners(reader, "o", [owner("ana", "a")], [Person(named_as_id, ""), *PEOPLE])
    assert by_id.users == (ANA,), "an id counts more than a name"


async def test_teams_are_found_by_id_or_title() -> None:
    reader = service(("t1", "Writers"), ("writers", "Other"), ("t3", ""), members={"writers": [MIA], "t1": [ANA]})
    named = [owner("@company/Writers", "a"), owner("OTHER", "b"), owner("T3", "c", "d", "e"), owner("nobody", "f")]
    first, second, third, unknown = await find_owners(reader, "o", named, PEOPLE)
    assert (first.title, first.users, first.page_ids) == ("t3", (), {"c", "d", "e"})
    assert (second.team, second.users, second.page_ids) == ("Writers", (ANA,), {"a"})
    assert reader.sent.count(TEAMS) == 1
    # if two teams have the same name, the first one in the list counts
    assert (third.title, third.page_ids) == ("Other", {"b"})
    assert (unknown.title, unknown.team, unknown.users) == ("nobody", "", ())


async def test_owners_and_members_that_cannot_be_listed_are_unknown() -> None:
    reader = ScriptedService([(TEAMS, DENIED)])
    found = await find_owners(reader, "o", [owner("Writers", "a"), owner("writers", "b")], PEOPLE)
    assert [(one.title, one.page_ids, one.users) for one in found] == [("writers", {"a", "b"}, ())]
    [team] = await find_owners(service(("t1", "Writers")), "o", [owner("writers", "a")], PEOPLE)
    assert (team.team, team.users) == ("Writers", ())


def reviewer(identity: str, status: Any, *, stale: bool = False) -> Reviewer:
    return Reviewer(identity, identity, status, stale)


@each_case(
    ("reviewers", "expected"),
    [
        ([], ""),
        ([reviewer("jon", "approved")], ""),
        ([reviewer("ana", "asked")], "asked"),
        ([reviewer("ana", "asked"), reviewer("u2", "approved", stale=True)], "stale"),
        ([reviewer("ana", "approved"), reviewer("u2", "approved", stale=True)], "approved"),
        ([reviewer("ana", "approved"), reviewer("u2", "changes-requested", stale=True)], "changes-requested"),
    ],
)
def test_most_advanced_review_of_an_owner_counts(reviewers: list[Reviewer], expected: OwnerReview) -> None:
    team = owner("writers", "a", users=(ANA, MIA), team="Writers")
    assert owner_review(team, reviewers, "jon") == expected
    assert owner_review(team, reviewers, "u2") == "author"
    assert owner_review(owner("x"), reviewers, None) == ""


def test_own_pages_count_before_pages_of_a_team() -> None:
    team = owner("writers", "a", "b", users=(ANA, MIA), team="Writers")
    assert shares_by_user([team, owner("ana", "c", users=(ANA,))]) == {
        "ana": "owns 1 of 5 pages",
        "u2": "owns 2 of 5 pages with Writers",
    }


async def test_all_changes_are_read() -> None:
    one = request(space="api")
    change = {"type": "page_edited", "page": {"id": "a", "title": "A"}}
    all_of_them = changes_in(one, 1 + 4 + ALL)
    reader = ScriptedService([(changes_in(one), {"changes": [change], "more": 4})])
    reader.answer(all_of_them, {"changes": [change] * 5})
    assert len((await read_changes(reader, one)).changes) == 5
    reader.answer(changes_in(one), {"changes": [change]})
    assert len((await read_changes(reader, one)).changes) == 1
    assert reader.sent == [changes_in(one), all_of_them, changes_in(one)]
