"""The plan of a push: its edits turn any page tree into any other one, and change nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.table import each_case

from presscheck.api.content import RevisionPage
from presscheck.api.content_changes import DeletePage, InsertPage, UpdatePage
from presscheck.documents.git_format.models import SourcePage
from presscheck.documents.pages.tree import Tree, find, flatten, insert, move, remove
from presscheck.engine.checkout.plan import TreePlan, page_update, plan_tree


def random_tree(chance: random.Random, size: int) -> Tree:
    tree: Tree = []
    for number in range(size):
        parents = [page["id"] for page in flatten(tree) if page["type"] != "link"]
        above = chance.choice([None, None, *parents])
        kind = chance.choice(["document", "document", "group"]) if above is None else "document"
        page = {"id": f"p{number}", "type": kind, "title": f"Page {number}", "slug": f"page-{number}", "pages": []}
        tree = insert(tree, page, above, chance.randrange(len(children_of(tree, above)) + 1))
    return tree


def children_of(tree: Tree, above: str | None) -> Tree:
    place = find(tree, above) if above else None
    return place.page["pages"] if place else tree


def edited_tree(chance: random.Random, tree: Tree) -> Tree:
    """Return the tree after random moves, deletions and additions of documents."""
    for number in range(chance.randrange(8)):
        documents = [page["id"] for page in flatten(tree) if page["type"] == "document"]
        above = chance.choice([None, *(page["id"] for page in flatten(tree))])
        choice = chance.random()
        if choice < 0.3:
            new = {
                "id": f"new{number}",
                "type": "document",
                "title": f"New {number}",
                "slug": f"n{number}",
                "pages": [],
            }
            tree = insert(tree, new, above, chance.randrange(len(children_of(tree, above)) + 1))
        elif documents and choice < 0.5:
            tree = remove(tree, chance.choice(documents))
        elif documents:
            page = chance.choice(documents)
            if above is None or not find([find(tree, page).page], above):  # type: ignore[union-attr]
                tree = move(tree, page, above, 0)
    return as_listed(tree)


def as_listed(tree: Tree) -> Tree:
    """Sort pages as in a table of contents: groups last."""
    return sorted(tree, key=lambda page: page["type"] == "group")


def source_pages(tree: Tree) -> tuple[SourcePage, ...]:
    return tuple(
        SourcePage(
            page["type"],
            page["title"],
            page["slug"],
            source="" if page["type"] == "group" else f"{page['id']}.md",
            pages=source_pages(page["pages"]),
        )
        for page in tree
    )


def applied(tree: Tree, plan: TreePlan) -> Tree:
    for change in plan.changes:
        if isinstance(change, InsertPage):
            page = {"id": change.ref, "type": "document", "title": change.title, "slug": change.slug, "pages": []}
            tree = insert(tree, page, change.into, change.at)
        elif isinstance(change, DeletePage):
            tree = remove(tree, change.page)
        elif isinstance(change, UpdatePage) and "at" in change.model_fields_set:
            tree = move(tree, change.page, change.into, change.at)
    return tree


def outline(tree: Tree) -> list[tuple[str, list[object]]]:
    return [(page["title"], [*outline(page["pages"])]) for page in tree]


def plan_of(tree: Tree, wanted: Tree) -> TreePlan:
    ids = {f"{page['id']}.md": page["id"] for page in flatten(tree) if page["type"] == "document"}
    pages = tuple(RevisionPage.model_validate(page) for page in tree)
    return plan_tree(pages, source_pages(wanted), ids, {})


def test_plans_lead_to_the_wanted_tree() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        before = random_tree(chance, chance.randrange(1, 14))
        wanted = edited_tree(chance, before)
        plan = plan_of(before, wanted)
        assert not plan.notes, seed
        assert outline(as_listed(applied(before, plan))) == outline(wanted), seed


def test_unchanged_tree_needs_no_edits() -> None:
    for seed in range(100):
        tree = random_tree(random.Random(seed), 12)
        assert plan_of(tree, as_listed(tree)).changes == (), seed


def test_one_moved_page_is_one_edit() -> None:
    tree = random_tree(random.Random(1), 0)
    for number in range(20):
        tree = insert(tree, {"id": f"p{number}", "type": "document", "title": f"{number}", "slug": "", "pages": []})
    [change] = plan_of(tree, move(tree, "p0", None, 19)).changes
    assert isinstance(change, UpdatePage) and (change.page, change.at) == ("p0", 19)


def changed_details() -> Iterator[tuple[dict[str, object], dict[str, object], dict[str, object]]]:
    yield {"description": "Old"}, {"description": "New"}, {"description": "New"}
    yield {"description": "Old", "icon": "bolt"}, {}, {"description": "", "icon": ""}
    yield {"hidden": True}, {}, {"hidden": False}
    yield {}, {"hidden": False}, {}
    yield {}, {"noIndex": True, "condition": "visitor.claims.x"}, {"no_index": True, "condition": "visitor.claims.x"}


@each_case(("before", "after", "sent"), changed_details())
def test_details_are_sent_and_cleared(
    before: dict[str, object], after: dict[str, object], sent: dict[str, object]
) -> None:
    page = SourcePage("document", "T", "t", source="t.md", body="Text\n", details=before)
    update, notes = page_update("p", page, SourcePage("document", "T", "t", "t.md", details=after), "Text")
    given = update.model_dump(exclude_unset=True, exclude={"operation", "page"}) if update else {}
    assert (given, notes) == (sent, [])
