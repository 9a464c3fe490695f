"""Organizations, teams and what else administration lists."""

from tests.tui.operation_keys.driver import HERE, Cursor, Family, Shows, Text, row
from tests.tui.operation_keys.places import administration

from presscheck.api.teams import CreateTeam, DeleteTeam, GetTeam, ListTeams, UpdateTeam

TEAMS = administration("Teams")

FAMILY = Family(
    rows=(
        row(ListTeams, TEAMS),
        row(CreateTeam, HERE, "a", Shows("New team"), Text("Writers"), "ctrl+s", Shows("New team: done")),
        row((GetTeam, UpdateTeam), TEAMS, Cursor("Writers"), "E", Text("Writers of guides"), "ctrl+s", Shows("done")),
        row(DeleteTeam, TEAMS, Cursor("Writers of guides"), "-", Shows("Delete "), "y"),
    )
)
