"""The settings of a space or collection: default level, language and merge rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from presscheck.api.collections import UpdateCollection
from presscheck.api.languages import Language
from presscheck.api.roles import MergeRulesChange
from presscheck.api.spaces import UpdateSpace
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.access.levels import DEFAULT_LEVELS
from presscheck.tui.screens.merge_rules import ask_merge_rules, own_rules, rules_in_words
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.context import BrowseContext
    from presscheck.tui.screens.browse.page_tree import Item

NONE = "none"
"""The key of no default level, and of no language."""


class SpaceSettings:
    """Asks for a setting of a space or collection, and changes it.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen

    async def change(self, item: Item) -> None:
        """Choose a setting and its new value; a present value is shown beside its name."""
        thing = item.space or item.collection
        if thing is None:
            return
        choices = [Choice("level", "Default level", sanitize(thing.default_level or "no access"))]
        if item.space:
            choices += [
                Choice("language", "Language", sanitize(item.space.language or "not set")),
                Choice("rules", "Merge rules", rules_in_words(item.space.merge_rules)),
            ]
        setting = await self._choose(f"Settings of {sanitize(item.title)}", choices)
        if setting == "level":
            await self._change_level(item, thing.default_level)
        elif setting == "language" and item.space:
            await self._change_language(item.space)
        elif setting == "rules" and item.space:
            await self._change_rules(item.space)

    async def _change_level(self, item: Item, present: str | None) -> None:
        choices = [Choice(level, level, meaning) for level, meaning in DEFAULT_LEVELS.items()]
        level = await self._choose(f"Default level of {sanitize(item.title)}", choices)
        value: Any = None if level == NONE else level
        if level is None or value == present:
            return
        if item.space:
            await self._screen.engine.write(UpdateSpace(space_id=item.space.id, default_level=value)).landed()
        elif item.collection:
            call = UpdateCollection(collection_id=item.collection.id, default_level=value)
            await self._screen.engine.write(call).landed()

    async def _change_language(self, space: Space) -> None:
        choices = [Choice(NONE, "not set"), *(Choice(code, code) for code in get_args(Language))]
        code = await self._choose(f"Language of {sanitize(space.title)}", choices)
        value: Any = None if code == NONE else code
        if code is not None and value != space.language:
            await self._screen.engine.write(UpdateSpace(space_id=space.id, language=value)).landed()

    async def _change_rules(self, space: Space) -> None:
        present = space.merge_rules
        choices = [
            Choice("inherit", "Those of the organization"),
            Choice("none", "No merge rules"),
            Choice("rules", "Rules of this space …", rules_in_words(present) if own_rules(present) else ""),
        ]
        kind = await self._choose(f"Merge rules of {sanitize(space.title)}", choices)
        rules: MergeRulesChange | None = None
        if kind in ("inherit", "none"):
            rules = MergeRulesChange(type="inherit" if kind == "inherit" else "none")
        elif kind == "rules":
            title = f"Merge rules of {sanitize(space.title)}"
            chosen = await ask_merge_rules(self._screen, title, present)
            if chosen is not None:
                rules = MergeRulesChange(type="rules", rules=chosen) if chosen else MergeRulesChange(type="none")
        if rules is not None:
            await self._screen.engine.write(UpdateSpace(space_id=space.id, merge_rules=rules)).landed()

    async def _choose(self, title: str, choices: list[Choice]) -> str | None:
        chosen = await self._screen.ask(Picker(title, choices, self._screen.style_for, ranked=False))
        return chosen[0] if chosen else None
