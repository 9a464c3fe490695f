"""A page's Markdown on its way to an editor and back: what is sent is what the person wrote, and nothing else moves.

The service repeats the title as a first heading and escapes tags that span lines. The editor gets the title once, as
its first heading, and plain tags; what comes back has a heading where the service had one, for without it a heading of
the text would be taken for the title. A changed heading is a changed title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from presscheck.documents.pages.front_matter import split_front_matter

_fence = re.compile(r" {0,3}(`{3,}|~{3,})").match
_backslash = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class Opened:
    """A page as the editor is given it."""

    title: str
    kept: str
    """The body as the service has it, without the repeated title."""
    repeats_title: bool
    text: str


@dataclass(frozen=True)
class Edited:
    """What came back from the editor."""

    markdown: str
    title: str | None
    """The new title, where it was changed."""
    changed: int
    """How many lines the person changed."""
    collateral: int
    """How many further lines will be other than the service has them now."""


def opened(title: str, markdown: str) -> Opened:
    """A page on its way to the editor."""
    title = " ".join(title.split())
    front, body = split_front_matter(markdown)
    heading, rest = _heading(body)
    repeats = heading is not None and _unescaped(heading) == title
    kept = _joined(front, (rest if repeats else body).strip("\n"))
    front, plain = split_front_matter(_plain_tags(kept))
    body = "\n\n".join((f"# {title}", plain.strip("\n"))).rstrip("\n")
    return Opened(title, kept, repeats, _joined(front, body) + "\n")


def edited(page: Opened, text: str) -> Edited | None:
    """What came back, or None where nothing was changed."""
    if _lines(text) == _lines(page.text):
        return None
    title, markdown = _without_title(text.replace("\r\n", "\n"))
    _, given = _without_title(page.text)
    changed = _distance(_lines(given), _lines(markdown))
    collateral = max(0, _distance(_lines(page.kept), _lines(markdown)) - changed)
    if page.repeats_title:
        front, body = split_front_matter(markdown)
        body = body.lstrip("\n")
        markdown = _joined(front, f"# {title or page.title}\n\n{body}".rstrip())
    return Edited(markdown, title if title and title != page.title else None, changed, collateral)


def _without_title(text: str) -> tuple[str | None, str]:
    front, body = split_front_matter(text)
    heading, rest = _heading(body)
    return heading, _joined(front, (body if heading is None else rest).strip("\n"))


def _joined(front: str, body: str) -> str:
    return f"{front}\n\n{body}" if front else body


def _heading(body: str) -> tuple[str | None, str]:
    """The first heading where the text begins with one of the first level, and what follows."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return (first[2:].strip(), rest) if first.startswith("# ") else (None, body)


def _unescaped(text: str) -> str:
    return _backslash.sub(r"\1", text).strip()


def _plain_tags(markdown: str) -> str:
    """Tags without the backslashes that the service puts before them; what stands in a code block stays as it is."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        found = _fence(line)
        if found and not fence:
            fence = found[1]
        elif found and line.strip().startswith(fence):
            fence = ""
        lines.append(line if fence else line.replace("\\{%", "{%").replace("{\\%", "{%").replace("%\\}", "%}"))
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.strip("\n").split("\n")]


def _distance(before: list[str], after: list[str]) -> int:
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > 2000)
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")
