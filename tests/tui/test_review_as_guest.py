"""The review screen of a guest, who may not list the members: the picker and mentions offer those who take part."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until, write
from tests.tui.keyboard import seen

from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.teams import GrantRow, TeamMemberRow, TeamRow
from presscheck.tui.places import Place


def with_guest(service: RunningService) -> None:
    """Make the owner a guest with a team that may edit the space."""
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        space = session.get_one(SpaceRow, "api")
        assert space.parent_id
        member = session.query(MemberRow).filter_by(user_id="robin").one()
        member.role = None
        team = TeamRow(id="t", organization_id=space.organization_id, title="Writers", created_at=space.created_at)
        session.add_all((team, TeamMemberRow(team_id="t", user_id="robin")))
        session.add(GrantRow(place_id=space.parent_id, holder_id="t", role="edit"))


pytestmark = [pytest.mark.usefixtures("at_once"), pytest.mark.service(prepare=with_guest)]


@pytest.mark.slow
async def test_reviewers_and_mentions_are_those_who_take_part(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.review("api", "5"))  # type: ignore[attr-defined]
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="1 of 4")
        await pilot.press("R")
        await until(pilot, shows="Reviewers")
        await until(pilot, shows="Ada")
        await pilot.press("escape")
        await write(pilot, "C", "Ask ")
        await pilot.press("@", "a", "d")
        await seen(pilot, "Ada Moreau")
        await pilot.press("tab")
        await until(pilot, shows="Ask @Ada")
