from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from tests.bait import Bait
from tests.table import each_case

from presscheck.documents.git_format.repository import Finding, Repository, SourcePage, read_repository
from presscheck.documents.markdown.links import Destination


def written(directory: Path, files: dict[str, str | bytes]) -> Repository:
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_repository(directory)


def outline(pages: tuple[SourcePage, ...], depth: int = 0) -> list[str]:
    return [
        line
        for page in pages
        for line in ("  " * depth + f"{page.slug or '→'} {page.title}", *outline(page.pages, depth + 1))
    ]


def page(repository: Repository, source: str) -> SourcePage:
    return next(item for item in repository.walk() if item.source == source)


def complaints(repository: Repository) -> list[str]:
    return [str(finding) for finding in repository.findings if finding.severity != "info"]


SUMMARY = """# Table of contents

* [Welcome](README.md)

## Guides <a href="#guides" id="how-to"></a>

* [Start \\_here\\_](guides/start.md "Start")
  * [Deeper](guides/deeper/README.md)
      * [Deepest](<guides/deeper/the deepest.md>)
* [Elsewhere](https://example.org/a)

### Reference

- [Errors](reference/errors.md)
- [Not found](reference/errors.md#not-found)
"""


def test_tree_follows_the_table_of_contents(tmp_path: Path) -> None:
    repository = written(
        tmp_path,
        {
            "SUMMARY.md": SUMMARY,
            "README.md": "# Welcome\n\nHello.\n",
            "guides/start.md": "# Start here\n",
            "guides/deeper/README.md": "# Deeper\n",
            "guides/deeper/the deepest.md": "# Deepest\n",
            "reference/errors.md": "# Errors\n",
        },
    )
    assert outline(repository.pages) == [
        "readme Welcome",
        "how-to Guides",
        "  start Start here",
        "    deeper Deeper",
        "      the-deepest Deepest",
        "  → Elsewhere",
        "reference Reference",
        "  errors Errors",
        "  → Not found",
    ]
    assert not repository.findings
    assert repository.title == tmp_path.name
    assert page(repository, "guides/start.md").link_title == "Start"
    assert page(repository, "reference/errors.md").link_title is None
    assert [item.target for item in repository.walk() if item.kind == "link"] == [
        "https://example.org/a",
        "reference/errors.md#not-found",
    ]


def test_page_keeps_its_front_matter(tmp_path: Path) -> None:
    text = """---
description: >-
  Long
  words
icon: lamp
hidden: true
if: visitor.claims.beta
cover: .gitbook/assets/sky.png
coverY: -20.5
vars:
  limit: 3
layout:
  width: wide
  cover:
    visible: true
    size: full
  outline:
    visible: false
  tags:
    visible: true
  actions:
    visible: false
---

# A *lamp* &amp; [more](x.md) #

Text
"""
    repository = written(
        tmp_path, {"SUMMARY.md": "* [Lamp](README.md)", "README.md": text, ".gitbook/assets/sky.png": b"x"}
    )
    lamp = page(repository, "README.md")
    assert lamp.title == "A *lamp* &amp; more"
    assert lamp.link_title == "Lamp"
    assert lamp.body == "Text\n"
    assert lamp.cover
    assert (lamp.cover.picture, lamp.cover.y_pos, lamp.cover.height) == (".gitbook/assets/sky.png", -20.5, None)
    assert lamp.details["layout"] == {
        "width": "wide",
        "cover": True,
        "coverSize": "full",
        "coverMask": "none",
        "title": True,
        "description": True,
        "tableOfContents": True,
        "outline": False,
        "pagination": True,
        "metadata": True,
        "tags": True,
        "actions": False,
        "anchors": True,
    }
    rest = {name: value for name, value in lamp.details.items() if name != "layout"}
    assert rest == {
        "description": "Long words",
        "icon": "lamp",
        "hidden": True,
        "condition": "visitor.claims.beta",
        "variables": {"limit": 3},
    }


@each_case(
    ("text", "title", "body"),
    [
        ("# One\n\nTwo\n", "One", "Two\n"),
        ("\n\n# One\r\n\r\nTwo\r\n", "One", "Two\n"),
        ("One\n===\n\nTwo", "One", "Two"),
        ("## Two\n", "From the table", "## Two\n"),
        ("Text\n\n# Later\n", "From the table", "Text\n\n# Later\n"),
        ("{% hint %}\n# Inside\n{% endhint %}", "From the table", "{% hint %}\n# Inside\n{% endhint %}"),
        ("---\ntitle: From the front\n---\nText", "From the front", "Text"),
        ("---\nno: end\n\n# Inside", "From the table", "---\nno: end\n\n# Inside"),
        ("# **C#** and `F#` <a id='x'></a>\n", "C# and F#", ""),
        (r"# confd\_lib \(3\)", "confd_lib (3)", ""),
        ("", "From the table", ""),
        ("\ufeff# Marked\n", "Marked", ""),
    ],
)
def test_first_heading_is_the_title(tmp_path: Path, text: str, title: str, body: str) -> None:
    repository = written(tmp_path, {"SUMMARY.md": "* [From the table](a.md)", "a.md": text})
    assert (page(repository, "a.md").title, page(repository, "a.md").body) == (title, body)


def test_blocks_stay_as_written(tmp_path: Path) -> None:
    body = """{% hint style="info" %}
Mind the [gap](b.md).
{% endhint %}

{% tabs %}
{% tab title="One" %}
{% code title="a.sh" %}
```sh
echo {% not a tag %} [x](gone.md)
```
{% endcode %}
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
## First
{% endstep %}
{% endstepper %}

{% content-ref url="b.md" %}
[b.md](b.md)
{% endcontent-ref %}

{% embed url="https://example.org" %}

{% file src=".gitbook/assets/x.zip" %}
"""
    repository = written(
        tmp_path,
        {
            "SUMMARY.md": "* [A](a.md)\n* [B](b.md)",
            "a.md": "# A\n\n" + body,
            "b.md": "# B",
            ".gitbook/assets/x.zip": b"PK",
        },
    )
    assert page(repository, "a.md").body == body
    assert not repository.findings
    assert [(item.source, item.name, item.content_type, item.size, item.read()) for item in repository.files] == [
        (".gitbook/assets/x.zip", "x.zip", "application/zip", 2, b"PK")
    ]


def test_snippets_are_imported_and_missing_ones_reported(tmp_path: Path) -> None:
    repository = written(
        tmp_path,
        {
            "SUMMARY.md": "* [A](guides/a.md)",
            "guides/a.md": '# A\n\n{% include "../.gitbook/includes/note.md" %}\n\n'
            '{% include "../.gitbook/includes/gone.md" %}\n',
            ".gitbook/includes/note.md": "---\ntitle: A note\n---\n# Heading\n\nText [a](../../guides/a.md)\n",
        },
    )
    assert [(item.source, item.title, item.body) for item in repository.snippets] == [
        (".gitbook/includes/note.md", "A note", "# Heading\n\nText [a](../../guides/a.md)\n")
    ]
    assert complaints(repository) == ["guides/a.md:5: ../.gitbook/includes/gone.md: snippet not found"]


def test_references_by_id_are_not_reported(tmp_path: Path) -> None:
    repository = written(tmp_path, {"SUMMARY.md": "* [A](a.md)\n", "a.md": "[Ada](/~/users/u1) [gone](/gone.md)\n"})
    assert complaints(repository) == ["a.md:1: /gone.md: target not found"]


def test_page_listed_twice_becomes_a_link(tmp_path: Path) -> None:
    table = "* [A](a.md)\n* [Again](a.md)\n  * [Below](b.md)\n"
    repository = written(tmp_path, {"SUMMARY.md": table, "a.md": "# A", "b.md": "# B"})
    assert outline(repository.pages) == ["a A", "→ Again", "b B"]
    assert repository.findings == (
        Finding("SUMMARY.md", 2, "a.md is listed again: imported as a link", "repeated-page"),
        Finding("SUMMARY.md", 2, "is a link: its subpages are placed next to it", "subpages-of-link"),
    )


def test_unlisted_page_comes_last_and_hidden(tmp_path: Path) -> None:
    files = {"SUMMARY.md": "* [A](a.md)", "a.md": "# A\n[b](x/b.md)", "x/b.md": "# B", "x/a.md": "no title"}
    repository = written(tmp_path, dict(files))
    assert outline(repository.pages) == ["a A", "a-1 a", "b B"]
    assert [item.details.get("hidden") for item in repository.pages] == [None, True, True]
    assert {finding.path for finding in repository.findings} == {"x/a.md", "x/b.md"}
    assert not complaints(repository)


def test_slugs_are_unique_among_siblings(tmp_path: Path) -> None:
    files = {f"{folder}/setup.md": f"# {folder}" for folder in "abc"}
    table = "".join(f"* [{folder}]({folder}/setup.md)\n" for folder in "abc")
    repository = written(tmp_path, {"SUMMARY.md": table, **files})
    assert [item.slug for item in repository.pages] == ["setup", "setup-1", "setup-2"]


def test_table_of_contents_accepts_many_forms_of_targets(tmp_path: Path) -> None:
    table = (
        "* [A](./a%20b.md)\n* [B](/b/)\n* [C](c)\n* [D](gone/d.md)\n* Just words\n* [File](x.pdf)\n* [Out](../out.md)\n"
    )
    files = {"a b.md": "# A", "b/Readme.md": "# B", "c.md": "# C", "x.pdf": "%PDF"}
    repository = written(tmp_path / "docs", {"SUMMARY.md": table, **files})
    assert outline(repository.pages) == [
        "a-b A",
        "b B",
        "c C",
        "d D",
        "just-words Just words",
        "→ File",
        "out Out",
    ]
    assert complaints(repository) == [
        "SUMMARY.md:4: gone/d.md does not exist: the page is empty",
        "SUMMARY.md:7: ../out.md does not exist: the page is empty",
    ]
    assert [item.source for item in repository.files] == ["x.pdf"]


def test_tree_follows_folders_without_table_of_contents(tmp_path: Path) -> None:
    files = {"README.md": "# Home", "b.md": "# B", "a/README.md": "# A", "a/x/y.md": "# Y"}
    repository = written(tmp_path, dict(files))
    assert outline(repository.pages) == ["readme Home", "a A", "  x x", "    y Y", "b B"]
    assert [finding.rule for finding in repository.findings] == ["no-summary"]


def test_config_locates_the_content(tmp_path: Path) -> None:
    settings = """root: ./docs/
\u200bstructure:
  readme: ./index.md
  summary: ./toc/TOC.md\u200b
redirects:
  old/path: start.md
  older/path: gone.md
  outside: ../../secret.md
"""
    repository = written(
        tmp_path,
        {
            ".gitbook.yaml": settings,
            "docs/toc/TOC.md": "# The Lamp Book\n\n* [Home](../index.md)\n* [Start](../start.md)",
            "docs/index.md": "# Home\n\n[old](old/path)",
            "docs/start.md": "# Start",
            "README.md": "# Not a page",
        },
    )
    assert repository.title == "The Lamp Book"
    assert outline(repository.pages) == ["index Home", "start Start"]
    assert repository.redirects == {"old/path": Destination("page", "start.md")}
    assert [str(finding) for finding in repository.findings] == [
        ".gitbook.yaml:2: has invisible characters, which are ignored",
        ".gitbook.yaml:4: has invisible characters, which are ignored",
        ".gitbook.yaml:7: the redirect of older/path leads to gone.md, which was not found",
        ".gitbook.yaml:8: the redirect of outside leads outside the repository: ../../secret.md",
    ]


@each_case(
    ("line", "former", "destination"),
    [
        ("old/page: new.md", "old/page", Destination("page", "new.md")),
        ("old/page.md: new", "old/page", Destination("page", "new.md")),
        ("/old//page/: /new.md", "old/page", Destination("page", "new.md")),
        ("./old/README.md: ./new/", "old", Destination("page", "new.md")),
        ("'old/page': new.md#part", "old/page", Destination("page", "new.md", "part")),
        ("sp%20ace/%C3%BC: 'odd #1 100%.md'", "sp ace/ü", Destination("page", "odd #1 100%.md")),
        ("2020: folder", "2020", Destination("page", "folder/README.md")),
        ("start: /", "start", Destination("page", "README.md")),
        ("old/page: older\n  older: new.md", "old/page", Destination("page", "new.md")),
        ("older: new.md\n  old/page: older.md", "old/page", Destination("page", "new.md")),
    ],
)
def test_redirects_lead_to_pages(tmp_path: Path, line: str, former: str, destination: Destination) -> None:
    texts = dict.fromkeys(("README.md", "new.md", "odd #1 100%.md", "folder/README.md"), "# Page")
    repository = written(tmp_path, {".gitbook.yaml": f"redirects:\n  {line}\n", **texts})
    assert repository.redirects[former] == destination
    assert [finding for finding in repository.findings if finding.path == ".gitbook.yaml"] == []


@each_case(
    ("line", "problems"),
    [
        ("old: gone.md", ["2: the redirect of old leads to gone.md, which was not found"]),
        ("old: .gitbook/b.md", ["2: the redirect of old leads to .gitbook/b.md, which was not found"]),
        ("old: older\n  older: old2", [f"{at}: the redirect of {former} leads to old2, which was not found"
            for at, former in ((2, "old"), (3, "older"))]),
        ("old: old.md", ["2: the redirect of old leads in a loop"]),
        ("a: b\n  b: a", ["2: the redirect of a leads in a loop", "3: the redirect of b leads in a loop"]),
        ("a: b\n  b: b", ["2: the redirect of a leads in a loop", "3: the redirect of b leads in a loop"]),
        ("old: ../new.md", ["2: the redirect of old leads outside the repository: ../new.md"]),
        ("old: https://example.org/", ["2: the redirect of old leads outside the repository: https://example.org/"]),
        ("old: //example.org/new", ["2: the redirect of old leads outside the repository: //example.org/new"]),
        ("old: [new.md]", ["2: the redirect of old must lead to a path such as new/page.md"]),
        ("old: .gitbook/assets/a.pdf", ["2: the redirect of old is not served: it leads to a file"]),
        ("group/sub: new.md", ["2: the redirect of group/sub is not served: a page has this path"]),
        ("'old#part': new.md", ["2: the redirect of old#part must start at a path such as old/page"]),
        ("http://a.b/c: new.md", ["2: the redirect of http://a.b/c must start at a path such as old/page"]),
        ("/: new.md", ["2: the redirect of / must start at a path such as old/page"]),
        ("old: new.md\n  /old.md: new.md", ["3: the redirect of /old.md is there twice"]),
        ("- old: new.md", ["1: redirects: must be a mapping of former paths to pages"]),
    ],
)  # fmt: skip
def test_wrong_redirects_are_reported(tmp_path: Path, line: str, problems: list[str]) -> None:
    files = {
        ".gitbook.yaml": f"redirects:\n  {line}\n",
        "SUMMARY.md": "# T\n\n* [New](new.md)\n\n## Group\n\n* [Sub](sub.md)\n",
        "new.md": "# New",
        "sub.md": "# Sub",
        ".gitbook/includes/note.md": "Note.",
        ".gitbook/assets/a.pdf": b"%PDF",
    }
    repository = written(tmp_path, dict(files))
    assert complaints(repository) == [f".gitbook.yaml:{problem}" for problem in problems]


def test_long_chains_of_redirects_are_followed_in_linear_time(tmp_path: Path) -> None:
    chain = "".join(f"  old{number}: old{number + 1}\n" for number in range(20_000))
    repository = written(tmp_path, {".gitbook.yaml": f"redirects:\n{chain}  old20000: new.md\n", "new.md": "# New"})
    assert repository.redirects["old0"] == Destination("page", "new.md")


def test_links_follow_redirects(tmp_path: Path) -> None:
    text = "# New\n\n[a](old/page.md) [b](/old/page#x) [c](old/page.md#y) [d](old.md)"
    repository = written(tmp_path, {".gitbook.yaml": "redirects:\n  old/page: new.md#part\n", "new.md": text})
    assert [finding.message for finding in repository.findings if finding.path == "new.md"] == [
        "old.md: target not found"
    ]


@each_case(
    ("settings", "complaint"),
    [
        ("root: [", ".gitbook.yaml:1: is not YAML: "),
        ("root: ../", ".gitbook.yaml:1: root: '../' is not a path in the repository"),
        ("root: gone", ".gitbook.yaml:1: root: gone is not a directory of the repository"),
        ("structure: 3\nredirects: [a]\n- b", ".gitbook.yaml:3: is not YAML: "),
        ("a: 2021-02-31", ".gitbook.yaml:1: is not YAML: day is out of range"),
        ("\x00", ".gitbook.yaml:1: is not YAML: "),
    ],
)
def test_invalid_config_is_reported(tmp_path: Path, settings: str, complaint: str) -> None:
    repository = written(tmp_path, {".gitbook.yaml": settings, "SUMMARY.md": "* [A](a.md)", "a.md": "# A"})
    assert outline(repository.pages) == ["a A"]
    assert [item.startswith(complaint) for item in complaints(repository)] == [True]


def test_unreadable_files_are_reported_and_skipped(tmp_path: Path) -> None:
    table = "* [Bytes](bytes.md)\n* [Front](front.md)\n* [Good](good.md)\n"
    repository = written(
        tmp_path,
        {
            "SUMMARY.md": table,
            "bytes.md": b"# Bytes\n\none\n\xff\xfe two\n",
            "front.md": "---\nicon: x\ndescription: a: b\n---\n\n# Front\n\n[g](gone.md)\n",
            "good.md": "# Good\n",
        },
    )
    assert page(repository, "bytes.md").body == "one\n\ufffd\ufffd two\n"
    assert page(repository, "front.md").title == "Front"
    assert complaints(repository) == [
        "bytes.md:4: is not UTF-8 here; unreadable bytes are shown as \ufffd",
        "front.md:3: the front matter is not YAML: mapping values are not allowed in this context",
        "front.md:8: gone.md: target not found",
    ]
    assert page(repository, "good.md").title == "Good"


@pytest.mark.attack("path traversal")
def test_nothing_outside_the_directory_is_imported(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.md").write_text("# Secret")
    (secret / "s.png").write_bytes(b"secret")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "s.md").symlink_to(secret / "s.md")
    (docs / "folder").symlink_to(secret)
    os.mkfifo(docs / "pipe.md")
    table = "* [A](a.md)\n* [S](s.md)\n* [T](folder/s.md)\n* [U](../secret/s.md)\n* [V](/../secret/s.md)\n"
    text = "# A\n\n![s](../secret/s.png) [t](%2e%2e/secret/s.md) ![u](folder/s.png)"
    repository = written(docs, {"SUMMARY.md": table, "a.md": text})
    assert [item.body for item in repository.walk() if item.title != "A"] == [""] * 4
    assert not repository.files
    assert "secret" not in str(repository.pages).replace("../secret", "").replace("%2e%2e/secret", "")
    assert {"s.md", "folder"} <= {finding.path for finding in repository.findings}


@pytest.mark.attack("path traversal")
def test_symlinked_config_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("root: hidden")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / ".gitbook.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    (tmp_path / "hidden").mkdir()
    (docs / "hidden").symlink_to(tmp_path / "hidden")
    assert outline(written(docs, {"SUMMARY.md": "* [A](a.md)", "a.md": "# A"}).pages) == ["a A"]


def test_deep_folders_and_large_pages_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.documents.git_format.files.MAX_TEXT", 100)
    deep = "/".join("d" * 60) + "/x.md"
    repository = written(tmp_path, {"SUMMARY.md": "* [A](a.md)", "a.md": "a" * 101, deep: "# Deep"})
    assert page(repository, "a.md").body == ""
    assert len(complaints(repository)) == 2


def test_deeply_nested_table_of_contents(tmp_path: Path) -> None:
    files = {f"p{depth}.md": f"# P{depth}" for depth in range(30)}
    table = "".join("  " * depth + f"* [P{depth}](p{depth}.md)\n" for depth in range(30))
    repository = written(tmp_path, {"SUMMARY.md": table, **files})
    assert outline(repository.pages) == ["  " * depth + f"p{depth} P{depth}" for depth in range(30)]


PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x02\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 32, 16)
WEBP = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\x0f\0\0\x1f\0\0" + b"\0" * 16
JPEG = b"\xff\xd8\xff\xe0\x00\x04\0\0\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 200) + b"\0" * 8


@each_case(
    ("name", "content", "content_type", "dimensions"),
    [
        ("a.png", PNG, "image/png", (640, 480)),
        ("a.gif", GIF, "image/gif", (32, 16)),
        ("a.jpg", JPEG, "image/jpeg", (200, 300)),
        ("a.svg", b'<?xml?><svg width="12.5px" height="8" viewBox="0 0 1 1">', "image/svg+xml", (12.5, 8)),
        ("a.svg", b'<svg viewBox="0 0 24 16"/>', "image/svg+xml", (24, 16)),
        ("a.webp", WEBP, "image/webp", (16, 32)),
        ("a.png", b"not a picture", "image/png", None),
        ("a.png", b'<?xml version="1.0"?><svg width="9" height="9"/>', "image/png", None),
        ("a.png", PNG[:18], "image/png", None),
        ("a.jpg", b"\xff\xd8\xff", "image/jpeg", None),
        ("a.unheard", b"x", "application/octet-stream", None),
    ],
)
def test_images_have_type_and_dimensions(
    tmp_path: Path, name: str, content: bytes, content_type: str, dimensions: tuple[float, float] | None
) -> None:
    repository = written(tmp_path, {"README.md": f"![x]({name})", name: content})
    assert [(item.content_type, item.dimensions) for item in repository.files] == [(content_type, dimensions)]


def test_measuring_an_image_opens_no_file_and_no_address(bait: Bait, tmp_path: Path) -> None:
    for number, address in enumerate(bait.addresses):
        entity = f'<!DOCTYPE svg [<!ENTITY size SYSTEM "{address}">]>\n<svg width="&size;" height="&size;"/>'
        contents = {"name": address, "svg": entity, "xml": f'<?xml version="1.0"?>\n{entity}'}
        files = {f"{name}.{kind}": content for name, content in contents.items() for kind in ("png", "svg", "avif")}
        text = "".join(f"![]({name})\n" for name in files)
        repository = written(tmp_path / str(number), {"README.md": text, **files})
        assert [file.dimensions for file in repository.files] == [None] * 9


def test_problems_are_sanitized() -> None:
    assert "\x1b" not in str(Finding("a\x1b[2J.md", 1, "x", "broken-link"))


def test_missing_directory_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        read_repository(tmp_path / "gone")
