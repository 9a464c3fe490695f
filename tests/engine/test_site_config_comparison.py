"""Comparison of site configurations: matching items, changes that a push makes, and changes by others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.table import each_case

from presscheck.engine.site_config.bases import Base, Bases, overwritten
from presscheck.engine.site_config.comparison import (
    Difference,
    compare,
    drifts,
    fields_of,
    match,
    names_of,
    same_value,
)
from presscheck.engine.site_config.document import Entry, SiteConfig, every_entry
from presscheck.engine.site_config.validation import parse
from presscheck.errors import ConfigurationError, StoreError


def config(**plain: Any) -> SiteConfig:
    """Parse a document as it is in a file."""
    found, problems = parse(plain)
    assert not problems, problems
    return found


def in_site(*items: dict[str, Any], **plain: Any) -> SiteConfig:
    """Parse a document as it is in a site. Its items have keys, which contain their space ids, paths or titles."""

    def keyed(entry: Entry) -> Entry:
        name = entry.space or entry.texts.get("path") or entry.title
        inside = tuple(keyed(one) for one in entry.entries)
        return replace(entry, key=f"{entry.kind} {name}", place=(), entries=inside)

    found = config(structure=list(items), **plain)
    return replace(found, structure=tuple(keyed(entry) for entry in found.structure or ()))


def space(identity: str, **more: Any) -> dict[str, Any]:
    return {"space": identity.upper(), "id": identity, **more}


def section(title: str, path: str, *spaces: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"section": title, "path": path, **more, "spaces": list(spaces)}


def words(differences: list[Difference]) -> list[tuple[str, str, Any, Any, bool]]:
    return [(str(one.field), one.change, one.site, one.file, one.needs_prune) for one in differences]


def matched(site: SiteConfig, file: SiteConfig) -> dict[str, str]:
    """Match items. Returns the keys of items in the site, by the space ids or titles of the items in the file."""
    found = match(site.structure or (), file.structure or ())
    entries = [entry for entry in every_entry(file.structure or ()) if entry.place in found]
    return {entry.space or entry.title: found[entry.place] for entry in entries}


def test_items_are_matched_by_title_path_or_content() -> None:
    site = in_site(section("One", "one", space("a"), space("b")), section("Two", "two", space("c")), {"group": "G"})
    # both sections have new titles, and one has a new path; a space that is listed twice is matched once
    file = config(
        structure=[
            section("Deux", "two", space("c")),
            section("Un", "un", space("a"), space("d")),
            section("Three", "three", space("e")),
            {"group": "H"},
        ]
    )
    assert matched(site, file) == {"c": "space c", "a": "space a", "Deux": "section two", "Un": "section one"}
    twice = tuple(Entry("space", space="a", place=(at,)) for at in range(2))
    assert match(site.structure or (), twice) == {(0,): "space a"}
    # titles and paths take precedence over contents
    swapped = config(structure=[section("Two", "two", space("a"), space("b")), section("One", "one", space("c"))])
    assert matched(site, swapped)["Two"] == "section two"
    assert matched(site, swapped)["One"] == "section one"


def test_names_are_short_and_unique() -> None:
    site = in_site(section("S", "a"), section("S", "b", space("x")))
    names = names_of(site.structure or (), {"space x": "kept"})
    assert list(names.values()) == ["section S", "section S (b)", "kept"]
    twice = (Entry("group", "G", key="1"), Entry("group", "G", key="2"), Entry("group", "G", key="3"))
    assert names_of(twice) == {"1": "group G", "2": "group G (2)", "3": "group G (3)"}


def test_differences_of_a_structure() -> None:
    site = in_site(
        section("One", "one", space("a", path="p", default=True), space("b", hidden=True), icon="book", default=True),
        section("Two", "two", space("c"), description="Old"),
    )
    file = config(
        structure=[
            section("Two", "second", space("c"), space("b"), default=True),
            section("One", "one", space("a", path="q"), icon="gear"),
            section("New", "new", space("d")),
        ]
    )
    assert words(compare(site, file)) == [
        ("structure: order", "changed", ["section One", "section Two"], ["section Two", "section One"], False),
        ("structure section Two: path", "changed", "two", "second", False),
        ("structure space B: hidden", "changed", True, False, False),
        ("structure space B: in", "changed", "section One", "section Two", False),
        ("structure section One: icon", "changed", "book", "gear", False),
        ("structure space A: path", "changed", "p", "q", False),
        ("structure section New", "added", None, "new", False),
        ("structure space D", "added", None, None, False),
        ("structure: default section", "changed", "section One", "section Two", False),
        ("structure section Two: description", "removed", "Old", None, True),
    ], "every site has defaults and paths: a file without them leaves them alone"
    assert compare(site, config(share_links=[]))[:] == [], "parts that the file lacks are not compared"


def test_differences_of_other_parts() -> None:
    url = {"url": "https://x.example/"}
    site = config(
        customization={"a": {"b": 1, "c": True}, "list": [1, 2, 3], "gone": {}, "gone_list": [1]},
        redirects=[{"source": "/old", "to": url}, {"source": "/same/", "to": url}],
        share_links=["One", "One"],
    )
    file = config(
        customization={"a": {"b": 2, "c": 1}, "list": [1, 4], "new": []},
        redirects=[{"source": "/same", "to": url}, {"source": "/new", "to": {"section": "s"}}],
        share_links=["One", "Two"],
    )
    assert words(compare(site, file)) == [
        ("redirects /new", "added", None, "section s", False),
        ("redirects /old", "removed", "https://x.example/", None, True),
        ("customization: a.b", "changed", 1, 2, False),
        ("customization: a.c", "changed", True, 1, False),
        ("customization: list[1]", "changed", 2, 4, False),
        ("customization: new", "added", None, [], False),
        ("customization: list[2]", "removed", 3, None, False),
        ("customization: gone", "removed", {}, None, True),
        ("customization: gone_list[0]", "removed", 1, None, True),
        ("share_links Two", "added", None, None, False),
        ("share_links One (2)", "removed", None, None, True),
    ], "a list is replaced as a whole, so an item that is gone needs no prune"


@each_case(
    ("one", "other", "is_same"),
    [
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": True}]}, True),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": 1}]}, False),
        ([False], [0], False),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        (1, 1.0, True),
        (None, 0, False),
    ],
)
def test_true_differs_from_one_at_any_depth(one: Any, other: Any, is_same: bool) -> None:
    assert same_value(one, other) is same_value(other, one) is is_same


def test_drifts_are_changes_since_the_plan() -> None:
    before = in_site(section("One", "one", space("a")), customization={"x": 1})
    now = in_site(section("Uno", "one", space("a")), section("New", "new", space("b")), customization={"x": 2})
    file = config(structure=[section("Mine", "one", space("a"))], customization={"x": 3})
    found = {str(one.field): one[1:] for one in drifts("structure", before, now, file)}
    assert found["structure section One: title"] == ("One", "Uno", "Mine")
    assert found["structure section New: path"] == (None, "new", None)
    assert not [name for name in found if "space A" in name or "customization" in name]
    assert [one[1:] for one in drifts("customization", before, now, file)] == [(1, 2, 3)]
    assert drifts("customization", before, before, file) == []


# -- bases of files


def lost(base: Base, site: SiteConfig, file: SiteConfig) -> dict[str, tuple[Any, Any, Any]]:
    """Return the changes by others that a push would overwrite."""
    return {str(one.field): one[1:] for one in overwritten(base, site, file, tuple(compare(site, file)))}


def test_only_changes_by_others_are_overwritten() -> None:
    pulled = config(customization={"a": 1, "b": 1, "c": 1, "d": 1})
    site = config(customization={"a": 1, "b": 2, "c": 2, "d": 2})
    file = config(customization={"a": 9, "b": 9, "c": 2, "d": 9})
    assert lost(Base(pulled), site, file) == {"customization: b": (1, 2, 9), "customization: d": (1, 2, 9)}
    stopped = config(customization={"b": 2, "d": 3})
    assert lost(Base(pulled, stopped), site, file) == {"customization: d": (1, 2, 9)}, "b is what this file sent"
    assert lost(Base(config(redirects=[])), site, file) == {}, "a part that was not pulled has no base"


def test_items_added_or_changed_by_others_are_overwritten() -> None:
    url, other = {"url": "https://x.example/"}, {"url": "https://y.example/"}
    pulled = config(redirects=[{"source": "/a", "to": url}])
    site = config(redirects=[{"source": "/a", "to": other}, {"source": "/b", "to": url}])
    told = lost(Base(pulled), site, config(redirects=[]))
    assert told == {
        "redirects /a: to": ("https://x.example/", "https://y.example/", None),
        "redirects /b: to": (None, "https://x.example/", None),
    }
    one, two = section("One", "one", space("a")), section("Two", "two", space("b"))
    three = section("X", "x", space("c"))
    file = config(structure=[two, one])
    assert lost(Base(config(structure=[one, two])), in_site(one, two), file) == {}
    told = lost(Base(config(structure=[one, two])), in_site(one, three, two), file)
    assert told["structure section X: path"] == (None, "x", None)
    assert "structure: order" not in told, "what both had is in the same order"
    grown = section("Two", "two", space("b", default=True), space("d"))
    told = lost(Base(config(structure=[one, two])), in_site(one, grown), config(structure=[one]))
    assert told["structure space D: in"] == (None, "section Two", None)
    assert "structure section Two: default" not in told, "the items themselves tell it"
    base = Base(config(structure=[one, two, three]))
    order = lost(base, in_site(three, one, two), config(structure=[two, one, three]))
    assert order == {
        "structure: order": (
            ["section One", "section Two", "section X"],
            ["section X", "section One", "section Two"],
            ["section Two", "section One", "section X"],
        )
    }


def test_base_of_a_file_is_stored_privately_until_a_complete_push(tmp_path: Path) -> None:
    bases, file = Bases(tmp_path / "bases", "site/../1"), tmp_path / "site.toml"
    assert bases.of(file) is None
    before, sent = config(customization={"a": "#fff"}), config(share_links=["One"])
    bases.keep(file, before)
    bases.note_sent(file, sent)
    file.touch()
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    assert bases.of(link) == Base(before, sent), "a link is the file that it leads to"
    assert bases.of(tmp_path / "other.toml") is Bases(tmp_path / "bases", "2").of(file) is None
    bases.keep(file, sent)
    assert bases.of(file) == Base(sent)
    [directory] = (tmp_path / "bases").iterdir()
    [kept] = directory.iterdir()
    assert (directory.name, directory.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (
        "site____1",
        0o700,
        0o600,
    )
    kept.write_text("strukture: 1\n")
    with pytest.raises(ConfigurationError, match=r"is damaged \(strukture: is not a known key.*delete it, and compare"):
        bases.of(file)
    with pytest.raises(StoreError, match=r"Could not keep what was read in .*: Not a directory"):
        Bases(file, "1").keep(file, before)


def test_fields_of_a_structure() -> None:
    site = in_site(section("One", "one", space("a", default=True), default=True))
    names = names_of(site.structure or ())
    assert {str(name): value for name, value in fields_of(site, lambda entry: names[entry.key]).items()} == {
        "structure: order": ["section One"],
        "structure section One: title": "One",
        "structure section One: path": "one",
        "structure section One: draft": False,
        "structure section One: in": "",
        "structure section One: order": ["space A"],
        "structure section One: default": "space A",
        "structure space A: draft": False,
        "structure space A: hidden": False,
        "structure space A: in": "section One",
        "structure: default section": "section One",
    }


def test_values_in_a_formerly_empty_object_are_only_added() -> None:
    def schema(**properties: Any) -> SiteConfig:
        return SiteConfig(visitor_schema={"type": "object", "properties": properties})

    added = [("visitor_schema: properties.plan.type", "added", None, "string", False)]
    removed = [("visitor_schema: properties.plan.type", "removed", "string", None, True)]
    assert words(compare(schema(), schema(plan={"type": "string"}))) == added
    assert words(compare(schema(plan={"type": "string"}), schema())) == removed
    linked, bare = (SiteConfig(customization={"links": links}) for links in ([{"title": "Help"}], []))
    assert words(compare(bare, linked)) == [("customization: links[0].title", "added", None, "Help", False)]
    assert words(compare(linked, bare)) == [("customization: links[0].title", "removed", "Help", None, False)]
