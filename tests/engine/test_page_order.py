"""The order of pages: the effect of moves, impossible moves, and whether somebody else moved a page."""

from presscheck.api.content import RevisionPage
from presscheck.documents.pages.page_order import Move, PageOrder, rearranged


def page(identity: str, *below: RevisionPage) -> RevisionPage:
    return RevisionPage(id=identity, title=identity.upper(), pages=below)


TREE = (page("a", page("a1"), page("a2")), page("b"), page("c"))


def outline(pages: tuple[RevisionPage, ...]) -> str:
    return " ".join(f"{one.id}({outline(one.pages)})" if one.pages else one.id for one in pages)


def test_moves_are_applied_in_order_and_impossible_ones_are_skipped() -> None:
    moves = (Move("b", "a", "a1"), Move("a2", None, None), Move("a", "b", None), Move("gone", None, "c"))
    assert outline(rearranged(TREE, moves)) == "a2 a(a1 b) c"
    assert outline(rearranged(TREE, ())) == outline(TREE) == "a(a1 a2) b c"


def test_move_returns_the_index_without_the_moved_page() -> None:
    order = PageOrder.of(TREE)
    assert (order.move(Move("a", None, "b")), order.below(None)) == (1, ["b", "a", "c"])
    assert (order.move(Move("c", "a", "a2")), order.below("a")) == (2, ["a1", "a2", "c"])


def test_outermost_pages_are_returned_in_their_order() -> None:
    assert PageOrder.of(TREE).outermost(["c", "a2", "a", "gone"]) == ["a", "c"]


def test_added_and_removed_neighbors_do_not_change_the_place_of_a_page() -> None:
    before = PageOrder.of(TREE)
    with_others = PageOrder.of((page("x"), page("a", page("a1")), page("y"), page("b"), page("z")))
    assert with_others.has_same_place("b", before)
    moved, elsewhere = before.copy(), before.copy()
    moved.move(Move("b", None, "c"))
    elsewhere.move(Move("b", "a", None))
    assert not moved.has_same_place("b", before)
    assert not elsewhere.has_same_place("b", before)
    assert moved.has_same_place("a1", before)
