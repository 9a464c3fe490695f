"""Parses the platform's Markdown: CommonMark, tables, strikethrough, footnotes, `{% tags %}` and nested HTML.

A paired tag is a container like a quotation: `tag_open` and `tag_close` around its content, with name and attributes in
`meta`; a tag without an end is a `tag`. The tokens contain all text of a page. Helpers read the tokens as a tree of
blocks, and remove the markers of task items and alerts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.rules_inline.image import image
from mdit_py_plugins.footnote import footnote_plugin

from presscheck.documents.block_tags import HINTS, OLD_NAMES, OLD_TARGET
from presscheck.documents.markdown import emoji
from presscheck.documents.markdown.autolinks import autolink_end
from presscheck.documents.markdown.block_splitter import HTML_NAMES, TagPairs, tag_pairs

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

    Environment = MutableMapping[str, Any]

    Tokens = Sequence[Token]

_tag = re.compile(r"\{%-?[ \t]*(@[\w-]++/[\w-]++|[a-zA-Z][\w-]*+)([^{}]*?(?:\{[^{}]*+\}[^{}]*?)*?)-?%\}").match
_html = re.compile(rf"<({'|'.join(HTML_NAMES)})\b([^<>]*)>", re.IGNORECASE).match
_summary = re.compile(r"[\s>]*<summary[^<>]*>(.*?)</summary>", re.IGNORECASE | re.DOTALL).match
_attribute = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s"']+))""")
_scheme = re.compile(r"(?<![^\W_])https?\Z", re.IGNORECASE).search
_task = re.compile(r"\[([ xX])\](?:[ \t]+|$)").match
_alert = re.compile(r"\[!(\w+)\][ \t]*\n?").match


def parse(text: str, environment: Environment) -> list[Token]:
    """Parse a block or a page; link definitions remain in the environment between calls."""
    environment["pairs"] = tag_pairs(text.split("\n")) if "{%" in text or "<" in text else {}
    return _parser().parse(text, environment)


def parse_attributes(text: str) -> dict[str, str]:
    """Parse the attributes of a tag."""
    attributes: dict[str, str] = {}
    for name, double, single, bare in _attribute.findall(text):
        attributes[name.lower()] = re.sub(r"\\(.)", r"\1", double or single) or bare
    return attributes


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 1000}).enable(["table", "strikethrough"])
    parser.use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
    parser.block.ruler.before("fence", "tag", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.before("escape", "autolink_bare", _autolink)
    parser.inline.ruler.before("escape", "emoji", _emoji)
    return parser


def _image(state: StateInline, silent: bool) -> bool:
    """Parse an image. The content of its token is the displayed alternative text, without markup."""
    is_image = image(state, silent)
    if is_image and not silent:
        token = state.tokens[-1]
        token.content = "".join(
            " " if child.type.endswith("break") else child.content for child in token.children or ()
        )
    return is_image


def _math(state: StateInline, silent: bool) -> bool:
    """Parse a formula as one token with its source: underscores in a formula are not emphasis."""
    if not state.src.startswith("$$", state.pos):
        return False
    end = state.src.find("$$", state.pos + 2)
    if end < 0:
        return False
    if not silent:
        state.push("math", "", 0).content = state.src[state.pos : end + 2]
    state.pos = end + 2
    return True


def _emoji(state: StateInline, silent: bool) -> bool:
    """Parse an emoji name between colons as one token."""
    if state.src[state.pos] != ":":
        return False
    match = emoji.match_name(state.src, state.pos)
    if not match or not emoji.emoji_by_name(match[1]):
        return False
    if not silent:
        state.push("emoji", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _autolink(state: StateInline, silent: bool) -> bool:
    """Parse a bare URL as a link.

    The parser recognizes a URL at its colon, so the scheme is moved from the preceding text into the link.
    """
    if silent or state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = _scheme(state.pending)
    if not scheme:
        return False
    start = state.pos - len(scheme[0])
    end = autolink_end(state.src, start)
    if end == start:
        return False
    url = state.src[start:end]
    state.pending = state.pending[: scheme.start()]
    opening = state.push("link_open", "a", 1)
    opening.attrSet("href", url)
    opening.markup, opening.info = "linkify", "auto"
    state.push("text", "", 0).content = url
    closing = state.push("link_close", "a", -1)
    closing.markup, closing.info = "linkify", "auto"
    state.pos = end
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    at = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or state.src[at : at + 1] not in {"{", "<"}:
        return False
    opened = _tag(state.src, at) or _html(state.src, at)
    if not opened:
        return False
    name = opened[1].lower()
    pairs: TagPairs = state.env["pairs"]
    closing = pairs.get((start, name), end)
    is_html = opened[0][0] == "<"
    if is_html and closing >= end:
        return False
    if silent:
        return True
    if closing >= end:
        _alone(state, start, end, opened)
    elif is_html and name not in {"details", "div"}:
        _whole_element(state, start, closing, end)
    else:
        _container(state, start, closing, opened)
    return True


def _meta(opened: re.Match[str]) -> dict[str, str]:
    """Return the name of a tag and its attributes. An attribute `name` gets the key `name=`.

    For a tag with an old name, `name` is the current name, and the key `old=` has the old name.
    """
    attributes = parse_attributes(opened[2])
    extra = {"name=": attributes.pop("name")} if "name" in attributes else {}
    name = opened[1].lower()
    if name in OLD_NAMES and opened[0][0] == "{":
        extra["old="] = name
        if name == "page-ref" and OLD_TARGET in attributes:
            attributes["url"] = attributes.pop(OLD_TARGET)
        name = OLD_NAMES[name]
    return {"name": name, **attributes, **extra}


def _alone(state: StateBlock, start: int, end: int, opened: re.Match[str]) -> None:
    last = min(start + opened[0].count("\n"), end - 1)
    token = state.push("tag", "", 0)
    token.meta = _meta(opened)
    token.content, token.map = opened[0], [start, last + 1]
    _text(state, state.src[opened.end() : state.eMarks[last]])
    state.line = last + 1


def _whole_element(state: StateBlock, start: int, closing: int, end: int) -> None:
    """Parse HTML as one block, up to the blank line after its end, or to the end of the list item around it."""
    after = closing + 1
    while after < end and not state.isEmpty(after) and state.sCount[after] >= state.blkIndent:
        after += 1
    token = state.push("html_block", "", 0)
    token.content, token.map = state.getLines(start, after, state.blkIndent, True), [start, after]
    state.line = after


def _text(state: StateBlock, content: str) -> None:
    """Add text on the same line as a tag, as a paragraph."""
    if not content.strip():
        return
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content, token.children = content.strip(), []
    state.push("paragraph_close", "p", -1)


def _container(state: StateBlock, start: int, closing: int, opened: re.Match[str]) -> None:
    meta = _meta(opened)
    inside = opened.end()
    last = state.src.rfind("{%" if opened[0][0] == "{" else "</", inside, state.eMarks[closing])
    if meta["name"] == "details" and (summary := _summary(state.src, inside, last)):
        meta["summary"], inside = summary[1], summary.end()
    token = state.push("tag_open", "", 1)
    token.meta, token.content, token.map = meta, opened[0], [start, closing + 1]
    html_indent = state.sCount[start] if opened[0][0] == "<" else None
    _parse_content(state, start + state.src.count("\n", opened.start(), inside), inside, closing, last, html_indent)
    state.push("tag_close", "", -1)
    end = "%}" if opened[0][0] == "{" else ">"
    _text(state, state.src[last : state.eMarks[closing]].partition(end)[2])
    state.line = closing + 1


def _parse_content(
    state: StateBlock, first: int, inside: int, closing: int, last: int, html_indent: int | None
) -> None:
    """Parse the lines between two tags; the first and the last may share a line with a tag.

    To leave out the tags, the line table of the parser state is changed, and restored at the end.
    """
    marks = (state.bMarks, state.eMarks, state.tShift, state.sCount)
    saved = [(mark, line, mark[line]) for mark in marks for line in (first, closing)]
    saved_state = state.parentType, state.lineMax, state.blkIndent
    if state.src[inside : min(state.eMarks[first], last)].strip():
        state.bMarks[first], state.tShift[first], state.sCount[first] = inside, 0, state.blkIndent
        state.tShift[first] = state.skipSpaces(inside) - inside
    else:
        first += 1
    stop = closing
    if first <= closing and state.src[state.bMarks[closing] + state.tShift[closing] : last].strip():
        state.eMarks[closing], stop = last, closing + 1
    state.parentType, state.lineMax = "tag", stop
    # the content of a tag may be indented less than the tag
    state.blkIndent = min((state.sCount[n] for n in range(first, stop) if not state.isEmpty(n)), default=0)
    if html_indent is not None and first < stop and state.isEmpty(first):
        state.blkIndent = min(state.blkIndent, html_indent)  # Markdown below a blank line, so indented lines are code
    inner = len(state.tokens)
    state.md.block.tokenize(state, first, stop)
    if stop > closing:
        # HTML is read with the line end after it: here that is the first character of the closing tag
        for token in state.tokens[inner:]:
            if token.type == "html_block" and token.level == state.level and token.map and token.map[1] == stop:
                token.content = token.content[:-1]
    state.parentType, state.lineMax, state.blkIndent = saved_state
    for mark, line, value in saved:
        mark[line] = value


def outermost(tokens: Tokens) -> list[tuple[Token, Tokens]]:
    """Return the outermost blocks of tokens, each with its inner tokens."""
    blocks: list[tuple[Token, Tokens]] = []
    at = 0
    while at < len(tokens):
        inner = inside(tokens, at)
        blocks.append((tokens[at], inner))
        at += len(inner) + 2 if tokens[at].nesting > 0 else 1
    return blocks


def inside(tokens: Tokens, at: int) -> Tokens:
    """Return the tokens between the token at `at` and its closing token; empty if the token opens nothing."""
    end, depth = at, tokens[at].nesting
    while depth > 0:
        end += 1
        depth += tokens[end].nesting
    return tokens[at + 1 : end] if end > at else ()


def take_task(inner: Tokens) -> str:
    """Remove the marker of a task from an item and return its character, or an empty string."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    match = _task(children[0].content) if children and children[0].type == "text" else None
    if not children or not match:
        return ""
    children[0].content = children[0].content[match.end() :]
    return match[1]


def take_alert(inner: Tokens) -> str:
    """Remove the marker of an alert from a quotation and return its kind, or an empty string."""
    children = inner[1].children if len(inner) > 1 and inner[1].type == "inline" else None
    match = _alert(children[0].content) if children and children[0].type == "text" else None
    if not children or not match or match[1].lower() not in HINTS:
        return ""
    children[0].content = children[0].content[match.end() :]
    return match[1].lower()
