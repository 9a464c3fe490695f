"""Converts the Markdown of a page to the text for an editor and back; only the user's changes are sent.

The service repeats the title as a first heading, and escapes what looks like a tag but is text. The editor gets
the title once, as the first heading, and no escapes. On the way back the heading is restored only where it had one,
because otherwise a heading of the text would be taken for the title. A changed heading changes the title. Lines that
were not edited are sent as the service wrote them: without its escapes, text would become a tag.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from presscheck.documents.pages.front_matter import split_front_matter

_fence = re.compile(r" {0,3}(`{3,}|~{3,})").match
_backslash = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class EditorPage:
    """A page and its text for the editor."""

    title: str
    body_text: str
    """The Markdown of the service, without the repeated title."""
    repeats_title: bool
    text: str
    """The text for the editor."""


@dataclass(frozen=True)
class PageEdit:
    """An edit of a page."""

    markdown: str
    title: str | None
    """The new title; None if it is unchanged."""
    changed: int
    """The number of lines that the user changed."""
    new_tags: tuple[str, ...]
    """The edited lines in which a tag was escaped, so that it was text, and is not any more."""


def to_editor(title: str, markdown: str) -> EditorPage:
    """Converts a page to the text for the editor."""
    title = " ".join(title.split())
    front, body = split_front_matter(markdown)
    heading, rest = _heading(body)
    repeats = heading is not None and _unescape(heading) == title
    body_text = _join(front, (rest if repeats else body).strip("\n"))
    front, plain = split_front_matter(_plain_tags(body_text))
    body = "\n\n".join((f"# {title}", plain.strip("\n"))).rstrip("\n")
    return EditorPage(title, body_text, repeats, _join(front, body) + "\n")


def from_editor(page: EditorPage, text: str) -> PageEdit | None:
    """Converts the text from the editor back; None if nothing was changed."""
    if _lines(text) == _lines(page.text):
        return None
    title, markdown = _without_title(text.replace("\r\n", "\n"))
    _, original = _without_title(page.text)
    changed = _distance(_lines(original), _lines(markdown))
    markdown, new_tags = _escaped_again(page.body_text, original, markdown)
    if page.repeats_title:
        front, body = split_front_matter(markdown)
        body = body.lstrip("\n")
        markdown = _join(front, f"# {title or page.title}\n\n{body}".rstrip())
    return PageEdit(markdown, title if title and title != page.title else None, changed, new_tags)


def _escaped_again(escaped: str, plain: str, edited: str) -> tuple[str, tuple[str, ...]]:
    """The edited text with the escapes of the lines that are as before, and the other lines that lose an escape.

    Args:
        escaped: the text of the service.
        plain: the same lines without escapes.
        edited: the text from the editor.
    """
    before, shown, lines = escaped.split("\n"), plain.split("\n"), edited.split("\n")
    if before == shown or len(before) != len(shown):
        return edited, ()
    new_tags: list[str] = []
    matcher = SequenceMatcher(None, shown, lines, autojunk=len(shown) > 2000)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            lines[j1:j2] = before[i1:i2]
        elif before[i1:i2] != shown[i1:i2]:
            new_tags += [line for line in lines[j1:j2] if "{%" in line]
    return "\n".join(lines), tuple(new_tags)


def title_of(text: str) -> str:
    """The title in a text for the editor; empty if it has none."""
    return _without_title(text.replace("\r\n", "\n"))[0] or ""


def _without_title(text: str) -> tuple[str | None, str]:
    front, body = split_front_matter(text)
    heading, rest = _heading(body)
    return heading, _join(front, (body if heading is None else rest).strip("\n"))


def _join(front: str, body: str) -> str:
    return f"{front}\n\n{body}" if front else body


def _heading(body: str) -> tuple[str | None, str]:
    """The heading of level 1 at the start of a text (None if there is none), and the text after it."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return (first[2:].strip(), rest) if first.startswith("# ") else (None, body)


def _unescape(text: str) -> str:
    return _backslash.sub(r"\1", text).strip()


def _plain_tags(markdown: str) -> str:
    """Removes the backslashes that the service puts before tags, except in code blocks."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        match = _fence(line)
        if match and not fence:
            fence = match[1]
        elif match and line.strip().startswith(fence):
            fence = ""
        lines.append(line if fence else line.replace("\\{%", "{%").replace("{\\%", "{%").replace("%\\}", "%}"))
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.strip("\n").split("\n")]


def _distance(before: list[str], after: list[str]) -> int:
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > 2000)
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")
