"""Conversion of the Markdown of a page to editor text and back, so that only the user's changes are sent.

The service repeats the title as the first heading, and escapes text that looks like a tag. Editor text has the title
once, as the first heading, and no escapes. On the way back, the heading is restored only if the service had it;
otherwise the first heading of the text would be taken for the title. A changed heading changes the title. Unchanged
lines are sent exactly as the service wrote them: without its escapes, text would become a tag.
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
    """A page as the service returned it, and the text that the editor shows for it."""

    title: str
    markdown: str
    """The Markdown from the service."""
    body_text: str
    """The Markdown from the service, without the repeated title."""
    repeats_title: bool
    text: str
    """The editor text."""


@dataclass(frozen=True)
class PageEdit:
    """An edit of a page, in the Markdown of the service."""

    markdown: str
    title: str | None
    """The new title; None if it is unchanged."""
    changed: int
    """The number of changed lines."""
    new_tags: tuple[str, ...]
    """Edited lines with a tag that was plain text before the edit, because the service had escaped it."""


def to_editor(title: str, markdown: str) -> EditorPage:
    """Convert a page to editor text."""
    title = " ".join(title.split())
    front, body = split_front_matter(markdown)
    heading, rest = _heading(body)
    repeats = heading is not None and _unescape(heading) == title
    body_text = _join(front, (rest if repeats else body).strip("\n"))
    front, plain = split_front_matter(_plain_tags(body_text))
    body = "\n\n".join((f"# {title}", plain.strip("\n"))).rstrip("\n")
    return EditorPage(title, markdown, body_text, repeats, _join(front, body) + "\n")


def from_editor(page: EditorPage, text: str) -> PageEdit | None:
    """Convert editor text back to an edit; None if nothing has changed."""
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
    """Restore the escapes of unchanged lines.

    Args:
        escaped: the text from the service.
        plain: the same lines without escapes.
        edited: the text from the editor.

    Returns:
        The edited text, and the edited lines with a tag whose escape is lost.
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
    """Return the title in editor text; empty if there is none."""
    return _without_title(text.replace("\r\n", "\n"))[0] or ""


def _without_title(text: str) -> tuple[str | None, str]:
    front, body = split_front_matter(text)
    heading, rest = _heading(body)
    return heading, _join(front, (body if heading is None else rest).strip("\n"))


def _join(front: str, body: str) -> str:
    return f"{front}\n\n{body}" if front else body


def _heading(body: str) -> tuple[str | None, str]:
    """Split off the level 1 heading at the start of a text. Returns None instead of the heading if there is none."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return (first[2:].strip(), rest) if first.startswith("# ") else (None, body)


def _unescape(text: str) -> str:
    return _backslash.sub(r"\1", text).strip()


def _plain_tags(markdown: str) -> str:
    """Remove the backslashes that the service adds before tags, except in code blocks."""
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
