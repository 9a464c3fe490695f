"""The permissions of teams and people in collections and spaces."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.permissions import (
    ListCollectionTeamPermissions,
    RemoveCollectionTeamPermission,
    UpdateCollectionTeamPermission,
)

FAMILY = Family(
    without_keys={
        ListCollectionTeamPermissions: "no screen shows which teams have a role in a collection",
        UpdateCollectionTeamPermission: "no screen shows which teams have a role in a collection, to change it",
        RemoveCollectionTeamPermission: "no screen shows which teams have a role in a collection, to remove it",
    }
)
