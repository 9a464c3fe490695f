"""Copies of page trees with new page ids. A link page whose target is copied too points to the copy."""

from __future__ import annotations

from typing import Any

from presscheck.documents.pages.tree import Page, children, walk
from presscheck.service.db.ids import new_id


def copied_tree(tree: list[Page]) -> list[Page]:
    """Return a copy of a page tree with new ids; the pages keep their documents."""
    ids = {place.page["id"]: new_id() for place in walk(tree)}
    return [_copied(page, ids) for page in tree]


def _copied(page: Page, ids: dict[str, str]) -> Page:
    copy: Page = page | {"id": ids[page["id"]]}
    target: dict[str, Any] = page.get("target") or {}
    if target.get("page") in ids and "space" not in target:
        copy["target"] = target | {"page": ids[target["page"]]}
    if "pages" in page:
        copy["pages"] = [_copied(child, ids) for child in children(page)]
    return copy
