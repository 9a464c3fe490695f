"""The merge rules of a space or an organization, asked in a list in place of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import Organization, UpdateOrganization
from presscheck.api.roles import MergeRuleChange, StandaloneMergeRulesChange
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import confirm
from presscheck.tui.widgets.picker import Choice, Picker

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
"""The merge rules that need no more than their name."""


async def ask_merge_rules(
    screen: BaseScreen, title: str, present: MergeRules | None
) -> tuple[MergeRuleChange, ...] | None:
    """The rules that are marked, after a question; None if nothing is to change.

    A rule about people, or with an expression, can only be kept or removed.

    Args:
        screen: the screen.
        title: what the rules are of, as display text.
        present: the rules until now.
    """
    own = {str(number): rule for number, rule in enumerate(own_rules(present))}
    keys = {rule.rule: key for key, rule in own.items() if rule.rule in SIMPLE_RULES}
    choices = [Choice(keys.get(name, name), _rule_in_words(name)) for name in SIMPLE_RULES]
    choices += [
        Choice(key, _rule_in_words(rule.rule), count(len(rule.users), "person", "people") if rule.users else "")
        for key, rule in own.items()
        if rule.rule not in SIMPLE_RULES
    ]
    picker = Picker(title, choices, multiple=True, chosen=own, ranked=False)
    marked = await screen.ask(picker)
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
    """The rules that are set here; none if they are those of the organization."""
    return rules.rules if rules and rules.type == "rules" else ()


def _rule_in_words(name: str) -> str:
    return sanitize(name.removeprefix("require_").replace("_", " "))


def rules_in_words(rules: MergeRules | None) -> str:
    """How many rules there are, in words."""
    if rules is None or rules.type == "inherit":
        return "those of the organization"
    return count(len(rules.rules), "rule") if rules.type == "rules" and rules.rules else "none"


class OrganizationMergeRules:
    """Handles the command that changes the merge rules of an organization: spaces without rules of their own have them.

    Args:
        screen: administration.
        table: its table.
    """

    def __init__(self, screen: OrganizationScreen, table: FamilyTable) -> None:
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
