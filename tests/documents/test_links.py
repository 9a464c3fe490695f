from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.table import each_case

from presscheck.api.content import GitBlob, RevisionFile, RevisionPage
from presscheck.documents.markdown.links import (
    Destination,
    Link,
    LinkResolver,
    find_links,
    source_path,
    unnamed_images,
    written_targets,
)


def targets(markdown: str) -> list[str]:
    return [link.target for link in find_links(markdown)]


@given(
    st.lists(
        st.sampled_from(
            (
                *("![", "]", "(a.png)", "[", "\\", "!", "`", "*", " ", "\n", "\n\n", "x", "<!--", "-->", "```\n"),
                *('<img src="a">', '<img alt="b" src="a">', '<img alt="&nbsp;" src="b">'),
            )
        ),
        max_size=14,
    )
)
def test_unnamed_images_match_the_image_links_without_text(parts: list[str]) -> None:
    markdown = "".join(parts)
    lines = [link.line for link in find_links(markdown) if link.kind == "image" and not link.text]
    assert [markdown.count("\n", 0, start) + 1 for start in unnamed_images(markdown)] == lines


def test_image_with_a_caption_has_a_name() -> None:
    image = '<figure><img src="a.png" alt="">'
    assert not unnamed_images(f"{image}<figcaption><p>The <b>harbour</b></p></figcaption></figure>")
    assert unnamed_images(f"{image}<figcaption><p>&nbsp;</p></figcaption></figure>") == [8]


@each_case(
    ("markdown", "link"),
    [
        ("See [Tokens](tokens.md#scope).", Link("Tokens", "tokens.md#scope", 1, "link")),
        ("one\n\ntwo ![A lamp](img/lamp.png)", Link("A lamp", "img/lamp.png", 3, "image")),
        ('[a](b.md "A title")', Link("a", "b.md", 1, "link")),
        ("[a](<b c.md>)", Link("a", "b c.md", 1, "link")),
        ("[a](b_(c).md)", Link("a", "b_(c).md", 1, "link")),
        ("[over\ntwo lines](x.md)", Link("over two lines", "x.md", 1, "link")),
        (r"[\[odd\] **bold** `code`](x\_y.md)", Link("[odd] bold code", "x_y.md", 1, "link")),
        ("[name]: guides/start.md", Link("name", "guides/start.md", 1, "link")),
        ('{% content-ref url="../a.md" %}\n[a.md](../a.md)', Link("", "../a.md", 1, "content-ref")),
        ('{% embed url="https://example.org/?a=1%20b" %}', Link("", "https://example.org/?a=1%20b", 1, "embed")),
        ('{% file src="../.gitbook/assets/x.zip" %}', Link("", "../.gitbook/assets/x.zip", 1, "file")),
        ('{% include "../.gitbook/includes/x.md" %}', Link("", "../.gitbook/includes/x.md", 1, "include")),
        ('<a href="a.md?x=1&amp;y=2">An <b>a</b></a>', Link("An", "a.md?x=1&y=2", 1, "link")),
        ('<figure><img src="a.png" alt=""></figure>', Link("", "a.png", 1, "image")),
        ("> [name]: guides/start.md", Link("name", "guides/start.md", 1, "link")),
        ("{% file fullWidth=\"true\" src='a.zip' %}", Link("", "a.zip", 1, "file")),
        ("<https://example.org>", Link("https://example.org", "https://example.org", 1, "link")),
    ],
)
def test_finds_every_kind_of_link(markdown: str, link: Link) -> None:
    assert find_links(markdown)[0] == link


def test_attributes_without_a_target_are_not_links() -> None:
    assert find_links('{% openapi-operation spec="pets" path="/pets" method="post" %}') == []


def test_written_targets_have_their_positions() -> None:
    markdown = (
        '[a](b_(c).md "t") ![x](<p q.png>) {% file src="../x.zip" %} <img src=\'a&amp;b.png\'> <https://e.org/a>\n'
        "[https://e.org](https://e.org/_(b)) see https://e.org/c `[no](no.md)`\n\n[n]: z.md\n"
    )
    targets = written_targets(markdown)
    written = ["b_(c).md", "p q.png", "../x.zip", "a&amp;b.png", "https://e.org/a", "https://e.org/_(b)"]
    assert [markdown[target.start : target.end] for target in targets] == [*written, "https://e.org/c", "z.md"]
    assert [target.target for target in targets][3] == "a&b.png"


def test_image_in_a_link_counts_twice() -> None:
    assert [(link.kind, link.target) for link in find_links("[![alt](a.png)](b.md)")] == [
        ("link", "b.md"),
        ("image", "a.png"),
    ]


@each_case(
    "code",
    [
        "```md\n[a](no.md)\n```",
        "~~~~\n```\n[a](no.md)\n~~~\n~~~~",
        "* item\n\n  ```\n  [a](no.md)\n  ```",
        "`[a](no.md)`",
        "``[a](no.md) ` ``",
        "<!-- [a](no.md) -->",
        r"\[a](no.md)",
        "[^1]: [x",
        "[a] (no.md)",
    ],
)
def test_no_links_in_code_and_comments(code: str) -> None:
    assert targets(f"{code}\n\n[b](yes.md)") == ["yes.md"]


def test_lone_backtick_hides_nothing() -> None:
    assert targets("a ` b [c](d.md)\n\n[e](f.md) ` g") == ["d.md", "f.md"]


def test_line_numbers_after_code() -> None:
    assert [link.line for link in find_links("```\na\nb\n```\n\n[c](d.md)")] == [6]


@each_case(
    "hostile",
    [
        "[" * 200_000,
        " ".join("`" * length for length in range(3, 600)) + " `a` ``b``" * 20_000,
        "<!--" * 50_000,
        "{% file " * 25_000,
        "<a " * 70_000,
        "[b](a '" * 40_000,
        "[a]: " * 40_000,
        "![](a)" * 30_000 + "<img alt=" * 20_000,
    ],
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    start = time.perf_counter()
    written_targets(hostile)
    unnamed_images(hostile)
    assert time.perf_counter() - start < 3


PLACES = LinkResolver(
    {"README.md": "home", "guides/README.md": "guides", "guides/start.md": "start", "a b.md": "spaced"},
    {".gitbook/assets/x.png": "picture"},
    {".gitbook/includes/note.md": "note"},
    {"old/start": Destination("page", "start", "first"), "old/guides": Destination("page", "guides")},
)


@each_case(
    ("target", "source", "destination"),
    [
        ("guides/start.md", "README.md", Destination("page", "start")),
        ("start.md#first", "guides/README.md", Destination("page", "start", "first")),
        ("#first", "guides/start.md", Destination("page", "start", "first")),
        ("./#first", "guides/start.md", Destination("page", "guides", "first")),
        ("./", "guides/start.md", Destination("page", "guides")),
        ("../", "guides/start.md", Destination("page", "home")),
        ("guides", "README.md", Destination("page", "guides")),
        ("guides/start", "README.md", Destination("page", "start")),
        ("/guides/start.md", "guides/start.md", Destination("page", "start")),
        ("a%20b.md", "README.md", Destination("page", "spaced")),
        ("../.gitbook/assets/x.png?alt=media", "guides/start.md", Destination("file", "picture")),
        ("../.gitbook/includes/note.md", "guides/start.md", Destination("snippet", "note")),
        ("/old/start", "README.md", Destination("page", "start", "first")),
        ("old/start.md#second", "README.md", Destination("page", "start", "second")),
        ("/old/guides/README.md", "README.md", Destination("page", "guides")),
        ("https://example.org/#a", "README.md", Destination("web", url="https://example.org/#a")),
        ("mailto:a@example.org", "README.md", Destination("web", url="mailto:a@example.org")),
        ("tel:+15550100", "README.md", Destination("web", url="tel:+15550100")),
        ("//example.org/a", "README.md", Destination("web", url="//example.org/a")),
        ("javascript:alert(1)", "README.md", Destination("broken", url="javascript:alert(1)")),
        ("gone.md", "README.md", Destination("broken")),
        ("../README.md", "README.md", Destination("broken")),
        ("broken-reference", "README.md", Destination("broken")),
    ],
)
def test_resolves_targets(target: str, source: str, destination: Destination) -> None:
    assert PLACES.resolve(target, source) == destination


def test_resolver_of_a_revision() -> None:
    start = RevisionPage(id="p2", slug="start", path="guides/start", title="Start")
    imported = RevisionPage(id="p3", path="guides/api", git=GitBlob(oid="1", path="reference/api.md"))
    guides = RevisionPage(id="p1", slug="guides", path="guides", title="Guides", pages=(start, imported))
    file = RevisionFile(id="f1", name="x.png", git=GitBlob(oid="1", path=".gitbook/assets/x.png"))
    places = LinkResolver.of((guides,), (file,))
    assert source_path(guides) == "guides/README.md"
    assert source_path(imported) == "reference/api.md"
    assert places.resolve("start.md", source_path(guides)) == Destination("page", "p2")
    assert places.resolve("../", source_path(start)) == Destination("broken")
    assert places.resolve("./", source_path(start)) == Destination("page", "p1")
    assert places.resolve("api.md", source_path(imported)) == Destination("page", "p3")
    assert places.resolve("/guides/api", source_path(start)) == Destination("page", "p3")
    assert places.resolve("../.gitbook/assets/x.png", source_path(start)) == Destination("file", "f1")


@each_case("kind", ["link", "group"])
def test_page_without_a_path_has_no_source(kind: str) -> None:
    page = RevisionPage.model_validate({"id": "p", "type": kind, "kind": kind, "title": "Elsewhere"})
    assert source_path(page) == ""
    assert LinkResolver.of([page]).resolve("elsewhere.md", source_path(page)).kind == "broken"
