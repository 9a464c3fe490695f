"""Configuration documents of a site: pushes to a real service, TOML and YAML, and problems."""

from __future__ import annotations

import tomllib
from typing import Any

from tests.table import each_case

from presscheck.api.organizations import ListOrganizations
from presscheck.api.site_settings import GetCustomization, UpdateCustomization
from presscheck.api.sites import CreateSite
from presscheck.api.spaces import CreateSpace
from presscheck.documents.yaml_mapping import load_yaml_value
from presscheck.engine.engine import Engine
from presscheck.engine.site_config.push import Push, Receipt
from presscheck.engine.site_config.push_plan import prepare
from presscheck.engine.site_config.site_state import StateReader
from presscheck.engine.site_config.toml_text import changed_toml, toml_lines, write_toml
from presscheck.engine.site_config.validation import parse
from presscheck.engine.site_config.yaml_text import write_yaml, yaml_lines
from presscheck.errors import ChangedSince


async def site_of(engine: Engine, spaces: int, used: int) -> tuple[StateReader, list[str]]:
    """Create spaces, and a site with the first `used` ones. Returns a reader of the site, and the ids of the spaces."""
    org = (await engine.read(ListOrganizations())).items[0].id
    ids = list[str]()
    for number in range(spaces):
        space = await engine.write(CreateSpace(organization_id=org, title=f"S{number}")).landed()
        assert space
        ids.append(space.id)
    site = await engine.write(CreateSite(organization_id=org, title="Docs", spaces=tuple(ids[:used]))).landed()
    assert site
    return StateReader(engine, org, site.id), ids


async def pushed(engine: Engine, reader: StateReader, plain: dict[str, Any], *, prune: bool = False) -> Receipt:
    """Push a document, and check that a second push has nothing to do. Returns the receipt."""
    config, problems = parse(plain)
    assert not problems
    state, resolved, plan = await prepare(config, reader, prune=prune)
    assert not plan.problems, plan.problems
    receipt = await Push(engine, reader, state, resolved, plan, lambda _: None).send(lambda _: None)
    assert (receipt.error, receipt.differing) == (None, ())
    _, _, again = await prepare(config, reader, prune=prune)
    assert again.steps == ()
    return receipt


def section(path: str, *spaces: str, **more: Any) -> dict[str, Any]:
    items = [{"space": "", "id": space, "path": f"p{number}"} for number, space in enumerate(spaces)]
    return {"section": f"Section {path}", "path": path, **more, "spaces": items}


async def test_a_structure_is_built_rearranged_and_pruned(engine: Engine) -> None:
    reader, (a, b, c, d) = await site_of(engine, 4, 2)
    refused = parse({"structure": [section("one", a), section("two", b)]})[0]
    _, _, plan = await prepare(refused, reader)
    assert ["--prune" in problem.message for problem in plan.problems] == [True], "a space has to be added again"
    first = [section("one", a, b, icon="book"), {"group": "G", "items": [section("two", c)]}]
    await pushed(engine, reader, {"structure": first})
    second = [
        {"group": "H", "items": [section("one", c, default=True)]},
        section("two", b, a, d, condition="visitor.claims.x == true"),
    ]
    await pushed(engine, reader, {"structure": second}, prune=True)
    state = await reader.read(["structure"])
    found = state.config.plain["structure"]
    assert [item.get("group", item.get("path")) for item in found] == ["H", "two"]
    assert [space["id"] for space in found[1]["spaces"]] == [b, a, d]
    # two sections swap their paths, so neither can be changed first
    paths = [section("two", c), section("one", b, a, d)]
    paths[0]["section"], paths[1]["section"] = "Section one", "Section two"
    receipt = await pushed(engine, reader, {"structure": paths})
    assert any("one-2" in step.text or "two-2" in step.text for step in receipt.sent)
    left = await reader.read(["structure"])
    assert [one["id"] for item in left.config.plain["structure"] for one in item.get("spaces", ())] != []


async def test_push_does_not_overwrite_changes_since_its_plan(engine: Engine) -> None:
    reader, _ = await site_of(engine, 1, 1)
    config, _ = parse({"customization": {"styling": {"corners": "straight"}}})
    state, resolved, plan = await prepare(config, reader)
    looks = await engine.read(GetCustomization(**state.path))
    looks["styling"]["font"] = "Lato"
    await engine.write(UpdateCustomization(**state.path, settings=looks)).landed()
    kept = list[object]()
    receipt = await Push(engine, reader, state, resolved, plan, kept.append).send(lambda _: None)
    assert isinstance(receipt.error, ChangedSince)
    assert [(one.field.name, one.before, one.now) for one in receipt.drift] == [("styling.font", "Inter", "Lato")]
    assert (receipt.sent, kept) == ([], [])
    assert (await engine.read(GetCustomization(**state.path)))["styling"]["corners"] == "rounded"
    links = [{"title": "More", "links": [{"title": "A", "to": {"kind": "url", "url": "https://example.org/"}}]}]
    await pushed(engine, reader, {"customization": {"styling": {"corners": "straight"}, "header": {"links": links}}})
    now = await engine.read(GetCustomization(**state.path))
    styling = now["styling"]
    assert (styling["font"], styling["corners"]) == ("Lato", "straight"), "what the file does not have stays"
    assert now["header"]["links"][0]["to"] is None, "a menu leads nowhere itself"


PLAIN: dict[str, Any] = {
    "customization": {
        "styling": {"primaryColor": {"light": "#aaa", "dark": "#bbb"}},
        "title": 'a\u202eb \x1b[31m "q" \\ \U0001f600',
        "ai": {"instructions": "one\ntwo\r\n[three]"},
        "locale": "no",
    },
    "structure": [{"group": "G", "items": [{"section": "S", "path": "s", "spaces": [{"space": "A", "id": "a"}]}]}],
    "redirects": [{"source": "/a", "to": {"url": "https://example.org/"}}],
}


def test_toml_and_yaml_keep_every_value_and_escape_invisible_characters() -> None:
    toml, yaml = write_toml(PLAIN), write_yaml(PLAIN)
    assert tomllib.loads(toml) == PLAIN == load_yaml_value(yaml)
    assert not {"\u202e", "\x1b"} & {*toml, *yaml}
    for lines, text in ((toml_lines(toml), toml), (yaml_lines(yaml), yaml)):
        line = lines["structure", 0, "items", 0, "spaces", 0, "id"]
        assert text.split("\n")[line - 1].strip().startswith(("id", "- id")), text


def test_comments_in_toml_are_kept() -> None:
    text = "# why\n" + write_toml(PLAIN).replace('source = "/a"', 'source = "/a"  # old')
    new = {**PLAIN, "redirects": [{"source": "/0", "to": {"url": "https://x.example/"}}, *PLAIN["redirects"]]}
    changed = changed_toml(text, new)
    assert changed is not None
    assert tomllib.loads(changed) == new
    assert "# why" in changed
    assert "# old" in changed


@each_case(
    ("plain", "message"),
    [
        ({"strukture": []}, "strukture: is not a known key"),
        ({"structure": [{"section": "S", "pth": "x"}]}, "structure[0].pth: is not a known key"),
        ({"structure": [{"section": 3}]}, "structure[0].section: must be a text"),
        ({"structure": [section("a", "x"), section("a", "y")]}, "structure[1].path: a is the path of structure[0] too"),
        ({"structure": [section("a", "x"), section("b", "x")]}, "structure[1].spaces[0]: the space x is here twice"),
        ({"redirects": [{"source": "/a"}]}, "redirects[0].to: is missing"),
        ({"share_links": ["https://x.example/key"]}, "share_links[0]: is an address"),
        ({"customization": []}, "customization: must be a table"),
    ],
)
def test_problems_name_their_places(plain: dict[str, Any], message: str) -> None:
    _, problems = parse(plain)
    assert [str(problem).startswith(message) for problem in problems][:1] == [True], [str(one) for one in problems]
