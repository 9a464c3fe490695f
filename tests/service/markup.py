"""A checker for mistakes in the HTML of a page, a subset of those that `html-validate` reports."""

from __future__ import annotations

from html.parser import HTMLParser

from typing_extensions import override

_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_INTERACTIVE = frozenset(("a", "button", "input", "select", "summary", "textarea"))
_WITHOUT_BLOCKS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "summary"))
_BLOCK_NAMES = "article aside details div dl figure footer form header main nav ol p pre section table ul"
_BLOCKS = frozenset(_BLOCK_NAMES.split())


def markup_mistakes(html: str) -> list[str]:
    """Return the mistakes in a page, each with its line and column."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    mistakes = [] if html.lstrip().startswith("<!DOCTYPE html>") else ["doctype"]
    return mistakes + reader.mistakes + [f"<{tag}> is not closed" for tag in reader.around]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.mistakes: list[str] = []
        self.around: list[str] = []
        self._ids: set[str] = set()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if len(values) < len(attrs):
            self._report(f"<{tag}> has an attribute twice")
        if (name := values.get("id")) is not None:
            if not name or any(map(str.isspace, name)) or name in self._ids:
                self._report(f"id {name!r} is empty, has a space or is used twice")
            if name.startswith("~"):
                self._report(f"id {name!r} begins with a sign")
            self._ids.add(name)
        if tag == "button" and "type" not in values:
            self._report("<button> has no type")
        if tag == "th" and "scope" not in values:
            self._report("<th> has no scope")
        if tag == "img" and "alt" not in values:
            self._report("<img> has no alternative")
        if tag == "html" and "style" in values:
            self._report("<html> has a style")
        if tag in _INTERACTIVE and (outer := _INTERACTIVE & {*self.around}):
            self._report(f"<{tag}> is in <{min(outer)}>")
        if tag in _BLOCKS and self.around and self.around[-1] in _WITHOUT_BLOCKS:
            self._report(f"<{tag}> is in <{self.around[-1]}>")
        if tag not in _VOID:
            self.around.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.around.pop()

    @override
    def handle_endtag(self, tag: str) -> None:
        if self.around[-1:] == [tag]:
            self.around.pop()
        else:
            self._report(f"</{tag}> closes {self.around[-1:] or 'nothing'}")

    def _report(self, mistake: str) -> None:
        line, column = self.getpos()
        self.mistakes.append(f"{line}:{column} {mistake}")
