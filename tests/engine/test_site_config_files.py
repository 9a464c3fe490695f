"""Configuration files of a site: TOML and YAML, permissions, and problems with their lines."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.table import each_case

from presscheck.engine.site_config import files
from presscheck.engine.site_config.document import PARTS, Entry, SiteConfig, Target, every_entry, place_name
from presscheck.engine.site_config.files import HEADING, form_of, read_file, text_of, write_file
from presscheck.engine.site_config.validation import Problem, parse
from presscheck.errors import ConfigurationError, InvalidArgument

PLAIN: dict[str, Any] = {
    "customization": {"title": "Docs"},
    "structure": [
        {
            "group": "G",
            "icon": "book",
            "draft": True,
            "items": [
                {
                    "section": "S",
                    "path": "s",
                    "description": "d",
                    "condition": "visitor.claims.a",
                    "default": True,
                    "spaces": [{"space": "A", "id": "a", "path": "p", "default": True, "hidden": True}],
                }
            ],
        }
    ],
    "redirects": [
        {"source": "/a", "to": {"url": "https://example.org/"}},
        {"source": "/b", "to": {"space": "A", "id": "a", "page": "x/y"}},
        {"source": "/c", "to": {"section": "s"}},
        {"source": "/d", "to": {"gone": "page:i/p"}},
        {"source": "/e", "to": {"space": "A", "id": "a", "page_id": "p1"}},
    ],
    "visitor_schema": {"type": "object"},
    "share_links": ["One", "One"],
}


def test_a_document_is_written_as_it_was_read() -> None:
    config, problems = parse(PLAIN)
    assert (config.plain, [*config.plain], problems) == (PLAIN, [*PLAIN], [])
    assert config.parts == PARTS, "conditions need the schema and redirects the structure: that is the order of a push"
    assert SiteConfig(structure=(), redirects=()).parts == ("structure", "redirects"), "an empty part is managed"
    entries = list(every_entry(config.structure or ()))
    assert [entry.label for entry in entries] == ["group G", "section S", "space A"]
    assert [place_name(entry.place) for entry in entries][2] == "structure[0].items[0].spaces[0]"
    assert [str(one.target) for one in config.redirects or ()] == [
        "https://example.org/",
        "A / x/y",
        "section s",
        "page:i/p",
        "A / p1",
    ]
    assert (str(Target(space_id="a")), Entry("space", space="a").label) == ("a", "space a")
    assert (Entry("section", texts={"path": "s"}).label, Entry("group", key="k").label) == ("section s", "group k")


@each_case("ending", ["toml", "yaml", "yml"])
def test_a_file_is_read_as_it_was_written(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"site.{ending.upper()}"
    text, has_comments = text_of(PLAIN, file)
    assert (text.startswith(HEADING), has_comments) == (True, True)
    write_file(file, text)
    read = read_file(file)
    assert (read.config.plain, read.text, read.problems) == (PLAIN, text, ())
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert read_file(file) == read, "as an editor on Windows saves it"


def test_comments_are_kept_in_toml_and_missing_in_yaml(tmp_path: Path) -> None:
    toml, yaml = tmp_path / "site.toml", tmp_path / "site.yaml"
    before, _ = text_of(PLAIN, toml)
    changed = {**PLAIN, "customization": {"title": "Other"}}
    text, has_comments = text_of(changed, toml, before.replace('icon = "book"', 'icon = "book"  # why'))
    assert ('icon = "book"  # why' in text, 'title = "Other"' in text, has_comments) == (True, True, True)
    before, _ = text_of({**PLAIN, "customization": {"color": "#346ddb"}}, yaml)
    assert text_of(changed, yaml, before)[1], "the heading is written anew, and a color is no comment"
    assert not text_of(changed, yaml, f"{before}# why\n")[1]


def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path: Path) -> None:
    file, link = tmp_path / "site.toml", tmp_path / "link.toml"
    link.symlink_to(file)
    write_file(link, "a")
    assert (link.is_symlink(), file.stat().st_mode & 0o777) == (True, 0o644)
    file.chmod(0o640)
    write_file(file, "b", 0o600)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b", 0o640)
    with pytest.raises(ConfigurationError, match=r"site.toml/x.toml: cannot be written: Not a directory"):
        write_file(file / "x.toml", "c")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", b"x = 1\ny = = 1\n", r"a.toml:2: is not valid TOML: "),
        ("a.yaml", b"x: 1\ny: [\n", r"a.yaml:3: is not valid YAML: "),
        ("a.yaml", b"- x\n", "a.yaml: must have keys at its top level, such as structure or redirects"),
        ("a.toml", b"x = 1\n\ny = '\xff'\n", "a.toml:3: is not UTF-8 text: save the file as UTF-8"),
        ("a.toml", b"#" * 101, "a.toml: is larger than 0 MB"),
        ("missing.toml", None, "missing.toml: cannot be read: No such file or directory"),
        ("nul\0.toml", None, "cannot be read: invalid path"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, message: str
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        read_file(tmp_path / name)


def test_an_empty_file_manages_nothing_and_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("# nothing\n")
    assert read_file(file).config == SiteConfig()
    with pytest.raises(InvalidArgument, match=r"site.json must end with .toml, .yaml or .yml"):
        form_of(tmp_path / "site.json")
    for name in ("a.toml", "a.yaml"):
        with pytest.raises(ConfigurationError, match=r"has values that (TOML|YAML) cannot express"):
            text_of({"customization": {"title": json.loads('"\\ud800"')}}, tmp_path / name)


@each_case("ending", ["toml", "yaml"])
def test_problems_are_in_the_order_of_the_file(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"site.{ending}"
    wrong = {
        "structure": [{"section": "S", "pth": "s", "spaces": [{"space": "A", "id": "a"}]}],
        "redirects": [{"source": "/a"}, {"source": "/b", "to": {"section": "s", "page": 3}}],
        "share_links": "One",
    }
    if ending == "toml":
        file.write_text(
            'share_links = "One"\n[[structure]]\nsection = "S"\npth = "s"\nspaces = [{space = "A", id = "a"}]\n'
            '[[redirects]]\nsource = "/a"\n[[redirects]]\nsource = "/b"\nto = {section = "s", page = 3}\n'
        )
    else:
        file.write_text(
            "share_links: One\nstructure:\n- section: S\n  pth: s\n  spaces:\n  - {space: A, id: a}\n"
            "redirects:\n- source: /a\n- source: /b\n  to: {section: s, page: 3}\n"
        )
    read = read_file(file)
    assert sorted(map(str, read.problems)) == sorted(map(str, parse(wrong)[1]))
    told = [line.removeprefix(str(file)).split(": ")[0:2] for line in read.described(read.problems)]
    lines = [1, 4, 6, 10] if ending == "toml" else [1, 4, 8, 10]
    assert told == [
        [f":{line}", name]
        for line, name in zip(
            lines, ("share_links", "structure[0].pth", "redirects[0].to", "redirects[1].to.page"), strict=True
        )
    ]
    tables = replace(read, path=Path("x.toml"), text="[customization.header]\n[customization.pdf]\n")
    assert tables.described([Problem(("customization", "title"), "x")]) == ["x.toml:1: customization.title: x"]
    nowhere = parse({"visitor_schema": 1})[1]
    assert read.described(nowhere)[0].startswith(f"{file}: visitor_schema: "), "without a line"
