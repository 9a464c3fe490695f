from __future__ import annotations

import time

from tests.table import each_case

from presscheck.documents.markdown.autolinks import autolinks
from presscheck.documents.markdown.parser import parse
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown

URLS = {
    "https://en.example/wiki/Fork_(software) end": "https://en.example/wiki/Fork_(software)",
    "(see https://en.example/wiki/Set_(maths))": "https://en.example/wiki/Set_(maths)",
    "https://api.example/v1/users/{id}": "https://api.example/v1/users/{id}",
    "https://a.example/it's, yes": "https://a.example/it's",
    "'https://a.example/b'.": "https://a.example/b",
    "HTTPS://a.example:8080/x:rocket:y!": "HTTPS://a.example:8080/x:rocket:y",
    "https://a.example/_foo_/__bar__ x": "https://a.example/_foo_/__bar",
    "**https://a.example/b**": "https://a.example/b",
    "https://a.example/?a=1&b=2&copy; x": "https://a.example/?a=1&b=2",
    "https://a.example/list[0]": "https://a.example/list[0]",
    "[see https://a.example/x]": "https://a.example/x",
    "https://a.example/x{% if a %}": "https://a.example/x",
    "https://a.example/x<br>y": "https://a.example/x",
    "\\[see https://a.example/1.1\\]": "https://a.example/1.1",
    "https://例え.example/路径 x": "https://例え.example/路径",
}
"""Texts and the bare URLs that GitHub finds in them."""


@each_case("text", URLS)
def test_bare_urls_end_where_github_ends_them(text: str) -> None:
    tokens = parse(text, {})[1].children or []
    assert [token.attrs["href"] for token in tokens if token.type == "link_open"] == [URLS[text]]
    assert [text[start:end] for start, end in autolinks(text)] == [URLS[text]]


@each_case(
    "text",
    [
        "xhttps://a.example",
        "https:// a",
        "https://",
        "ftp://a.example",
        "http://_ or",
        "*http://* or",
        "`https://a.example`",
        "https://{host}",
    ],
)
def test_other_text_is_not_a_bare_url(text: str) -> None:
    assert not any(token.type == "link_open" for token in parse(text, {})[1].children or [])


def test_text_of_a_link_has_no_nested_link() -> None:
    for text in ("[https://a.example](b.md)", '<a href="b">https://a.example</a>', "<https://a.example>"):
        tokens = parse(text, {})[1].children or []
        assert not any(token.info == "auto" and token.markup == "linkify" for token in tokens)


@each_case("text", URLS)
def test_bare_urls_are_links_in_documents(text: str) -> None:
    document = nodes_to_markdown(markdown_to_nodes(text))
    assert document == nodes_to_markdown(markdown_to_nodes(document))
    tokens = parse(document, {})[1].children or []
    assert [token.attrs["href"] for token in tokens if token.type == "link_open"] == [URLS[text]]


@each_case("text", [text for text, url in URLS.items() if text in (url, f"{url} end", f"(see {url})")])
def test_bare_urls_stay_bare_in_documents(text: str) -> None:
    assert nodes_to_markdown(markdown_to_nodes(text)) == f"{text}\n"


def test_urls_in_text_without_a_link_are_written_without_backslashes() -> None:
    leaf = {"object": "leaf", "text": "See https://a.example/_x_/ *here*", "marks": []}
    text = {"object": "text", "leaves": [leaf]}
    block = {"object": "block", "type": "paragraph", "isVoid": False, "data": {}, "nodes": [text]}
    document = {"object": "document", "data": {}, "nodes": [block]}
    assert nodes_to_markdown(document) == "See https://a.example/_x_/ \\*here\\*\n"


@each_case("piece", [")", "https://", "&a;", "[]", "{", "*", "(", "%"])
def test_long_text_takes_linear_time(piece: str) -> None:
    started = time.thread_time()
    assert len([*autolinks("https://a" + piece * 50_000)]) >= 1
    assert time.thread_time() - started < 1
