"""A picker for the merge rules of a space or an organization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import Organization, UpdateOrganization
from presscheck.api.roles import MergeRuleChange, StandaloneMergeRulesChange
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import choose_several, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.roles import MergeRules
    from presscheck.tui.screens.admin.family import OrganizationScreen
    from presscheck.tui.screens.admin.table import FamilyTable
    from presscheck.tui.ui.screen import BaseScreen

SIMPLE_RULES = (
    "require_at_least_one_review",
    "require_at_least_one_approved_review",
    "require_all_reviews_approved",
    "require_up_to_date_change_request",
    "require_change_request_subject",
    "require_change_request_description",
    "require_author_to_merge",
)
"""Merge rules that take no parameters."""


async def ask_merge_rules(
    screen: BaseScreen, title: str, present: MergeRules | None
) -> tuple[MergeRuleChange, ...] | None:
    """Ask which merge rules apply, and confirm the choice.

    Rules with people or an expression can be kept or removed, but not added.

    Args:
        screen: the screen.
        title: the title of the picker, as display text.
        present: the current rules.

    Returns:
        The marked rules, or None if the user canceled.
    """
    own = {str(number): rule for number, rule in enumerate(own_rules(present))}
    keys = {rule.rule: key for key, rule in own.items() if rule.rule in SIMPLE_RULES}
    choices = [Choice(keys.get(name, name), _rule_in_words(name)) for name in SIMPLE_RULES]
    choices += [
        Choice(key, _rule_in_words(rule.rule), count(len(rule.users), "person", "people") if rule.users else "")
        for key, rule in own.items()
        if rule.rule not in SIMPLE_RULES
    ]
    marked = await choose_several(screen, title, choices, chosen=own, ranked=False)
    if marked is None:
        return None
    rules = [
        MergeRuleChange(**own[key].model_dump(include={"rule", "users", "expression", "message"}, exclude_unset=True))
        if key in own
        else MergeRuleChange(rule=key)  # pyrefly: ignore[bad-argument-type]  # a name of SIMPLE_RULES
        for key in marked
    ]
    lines: list[Line] = [(Span(f"· {_rule_in_words(rule.rule)}"),) for rule in rules]
    return tuple(rules) if await confirm(screen, f"{title}: change?", lines or [(Span("None."),)], "Change") else None


def own_rules(rules: MergeRules | None) -> tuple[Any, ...]:
    """Return the rules that are set on the space or organization itself; empty if it has none or inherits them."""
    return rules.rules if rules and rules.type == "rules" else ()


def _rule_in_words(name: str) -> str:
    return sanitize(name.removeprefix("require_").replace("_", " "))


def rules_in_words(rules: MergeRules | None) -> str:
    """Describe merge rules: their number, that there are none, or that they are inherited."""
    if rules is None or rules.type == "inherit":
        return "those of the organization"
    return count(len(rules.rules), "rule") if rules.type == "rules" and rules.rules else "none"


class OrganizationMergeRules:
    """The command that changes the merge rules of an organization, which its spaces can inherit.

    Args:
        screen: the administration screen.
        table: the table of the screen.
    """

    def __init__(self, screen: OrganizationScreen, table: FamilyTable) -> None:
        self._screen, self._table = screen, table

    def reason_settings(self) -> str | None:
        """Return why merge rules cannot be changed: the rows are not organizations, or the change is not allowed."""
        if self._table.family.edit is not UpdateOrganization:
            return f"{self._table.family.nouns} have no merge rules here"
        return self._table.reason_rename()

    async def command_settings(self) -> None:
        """Choose the merge rules of the organization."""
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
        self._table.changed(f"{title}: changed ({key_for('unsend')} undoes it)")
