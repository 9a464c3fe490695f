"""Collections and pages that contain each other, as a faulty service lists them."""

from presscheck.api.collections import Collection
from presscheck.api.content import Pages
from presscheck.api.spaces import Space
from presscheck.tui.screens.browse.page_tree import Library


def test_collections_that_contain_each_other_are_at_the_top() -> None:
    library, parents = Library(), {"a": "b", "b": "a", "c": "c", "d": "a", "e": None}
    collections = [Collection(id=name, title=name, parent=parent) for name, parent in parents.items()]
    page = {"id": "p", "type": "document", "title": "Page"}
    space = Space.model_validate({"id": "s", "title": "Space", "parent": "d"})
    library.set_spaces(collections, [space, space])
    library.set_pages("s", Pages.model_validate({"pages": [{**page, "pages": [{**page, "pages": [page]}]}]}))
    assert [node.key for node in library.nodes(None)] == ["collection a", "collection c", "collection e"]
    assert library.ancestors("page s p") == ["collection a", "collection d", "space s"]
    assert [node.key for node in library.nodes("collection d")] == ["space s"]
    assert library.nodes("page s p") == []
