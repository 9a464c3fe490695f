"""Changes the merge rules of an organization in a list, in place of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.organizations import Organization, UpdateOrganization
from presscheck.api.roles import StandaloneMergeRulesChange
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.merge_rules import ask_merge_rules
from presscheck.tui.screens.site_writes import send

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.table import FamilyTable, TableContext


class OrganizationMergeRules:
    """Handles the command that changes the merge rules of an organization: spaces without rules of their own have them.

    Args:
        screen: administration.
        table: its table.
    """

    def __init__(self, screen: TableContext, table: FamilyTable) -> None:
        self._screen, self._table = screen, table

    def reason_settings(self) -> str | None:
        """Only organizations have them here."""
        if self._table.family.edit is not UpdateOrganization:
            return f"{self._table.family.nouns} have no merge rules here"
        return self._table.reason_rename()

    async def command_settings(self) -> None:
        """Mark the rules that hold."""
        organization = self._table.current
        if not isinstance(organization, Organization):
            return
        title = f"Merge rules of {sanitize(organization.title)}"
        chosen = await ask_merge_rules(self._screen, title, organization.merge_rules)
        if chosen is None:
            return
        change = StandaloneMergeRulesChange
        rules = change(type="rules", rules=chosen) if chosen else change(type="none")
        await send(self._screen, UpdateOrganization(organization_id=organization.id, merge_rules=rules))
        self._table.changed(f"{title}: changed (z undoes it)")
