"""The pages and other API objects that a visitor may see, with the words that the visitor may see."""

from __future__ import annotations

from typing import Any, cast

from presscheck.documents.pages.tree import Page, Tree, children
from presscheck.documents.visitors.condition_tags import Holds, has_conditions, visible_words

WORDS = ("title", "linkTitle", "description")
"""The fields of a page that visitors read."""


def visible_pages(tree: Tree, holds: Holds) -> Tree:
    """Return a tree without pages whose condition is not met, and without their subpages.

    Args:
        tree: the pages; the tree is not modified.
        holds: returns whether the visitor meets a condition.
    """
    return [_visible(page, holds) for page in tree if not page.get("condition") or holds(page["condition"])]


def visible_values(value: Any, holds: Holds) -> Any:
    """Return a JSON value without hidden parts of texts, and without list items whose condition is not met."""
    if isinstance(value, str):
        return visible_words(value, holds)
    if isinstance(value, dict):
        return {name: visible_values(inner, holds) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [visible_values(inner, holds) for inner in cast("list[Any]", value) if _is_met(inner, holds)]
    return value


def _is_met(value: Any, holds: Holds) -> bool:
    condition = cast("dict[str, Any]", value).get("condition") if isinstance(value, dict) else None
    return not isinstance(condition, str) or not condition or bool(holds(condition))


def _visible(page: Page, holds: Holds) -> Page:
    words = {name: visible_words(page[name], holds) for name in WORDS if has_conditions(page.get(name) or "")}
    if "title" in words:
        words["title"] = words["title"].strip() or "Untitled"
    below = children(page)
    return page | words | ({"pages": visible_pages([*below], holds)} if below else {}) if words or below else page
