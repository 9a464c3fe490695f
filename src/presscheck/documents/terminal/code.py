"""Renders code blocks with their language and a few colors: keywords, strings, comments.

Each family of languages has one regular expression that never backtracks: untrusted code must not block the screen. The
grammars of a full highlighter cannot guarantee that, and loading them takes longer than rendering a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, remaining_cells, split_cells, width

MARGIN = 2

_QUOTED = r"\"(?:[^\"\\\n]|\\[^\n])*\"?|'(?:[^'\\\n]|\\[^\n])*'?"
_NUMBER = r"(?<![\w.])(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w])"
_WORD = r"[@#]?[A-Za-z_][\w]*(?:-[\w]+)*"


def _family(comment: str, string: str = _QUOTED) -> re.Pattern[str]:
    return re.compile(
        f"(?P<comment>{comment})|(?P<string>{string})|(?P<number>{_NUMBER})|(?P<word>{_WORD})", re.M | re.S
    )


_BRACES = _family(r"//[^\n]*|/\*.*?(?:\*/|\Z)", _QUOTED + r"|`[^`]*(?:`|\Z)")
_HASH = _family(r"(?<![^\s;])#[^\n]*", r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|" + _QUOTED)
_PERCENT = _family(r"%[^\n]*")
_DASHES = _family(r"--[^\n]*|/\*.*?(?:\*/|\Z)")
_JSON = _family(r"//[^\n]*", r"\"(?:[^\"\\\n]|\\[^\n])*\"?")
_MARKUP = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z))|(?P<keyword></?[\w:.-]+|/?>|\?>|<\?[\w-]+)|(?P<string>(?<==)(?:\"[^\"<]*\"|'[^'<]*'))",
    re.S,
)
_DIFFERENCE = re.compile(r"(?P<added>^\+[^\n]*)|(?P<removed>^-[^\n]*)|(?P<comment>^@@[^\n]*)", re.M)

_breaks = re.compile(r"[ ,;(\[{/|&]").finditer
_trailing = re.compile(r"(?<! ) +$", re.M).sub

_FAMILIES = (
    (
        _BRACES,
        "c c++ cpp csharp cs css dart go golang groovy java javascript js jsx kotlin kt objc objective-c objectivec",
    ),
    (_BRACES, "php protobuf rust rs scala scss swift ts tsx typescript yang"),
    (
        _HASH,
        "bash cmake dockerfile elixir fish graphql ini make makefile perl powershell properties py python r rb ruby",
    ),
    (_HASH, "sh shell toml yaml yml zsh hcl terraform"),
    (_PERCENT, "erlang erl latex tex prolog"),
    (_DASHES, "sql haskell lua ada elm"),
    (_JSON, "json json5 jsonc"),
    (_MARKUP, "html xml xsl svg markup vue"),
    (_DIFFERENCE, "diff patch"),
)
_GRAMMARS = {name: grammar for grammar, names in _FAMILIES for name in names.split()}
_WORDS = (
    "abstract and as assert async await base boolean bool break byte case catch char class const "
    "constructor continue def default defer del delete do done double elif else elsif end enum esac "
    "except export extends extension extern false False fi final finally float fn for foreach fun func "
    "function global go guard if impl implements import in include inline instanceof int interface "
    "internal is lambda let local long match mod module mut namespace native new nil None not null "
    "nullptr of operator or out override package pass private protected protocol public raise readonly "
    "receive ref require rescue return self short signed sizeof static string String struct super switch "
    "synchronized template then this throw throws trait transient true True try type typedef typeof "
    "undefined union unless unsigned until use using val var virtual void volatile when where while with "
    "yield container leaf leaf-list list key revision prefix augment choice grouping identity uses "
    "mandatory description typeref SELECT FROM WHERE INSERT INTO UPDATE DELETE JOIN ON AND OR NOT NULL "
    "CREATE TABLE ORDER BY GROUP AS VALUES SET #include #define #import #if #ifdef #ifndef #endif #else "
    "@interface @implementation @end @property @protocol @class"
)
_KEYWORDS = frozenset(_WORDS.split())


class CodeLook(NamedTuple):
    """The appearance of code.

    Args:
        language: the language, as written.
        title: the title.
        is_numbered: whether lines have numbers.
        is_wrapped: whether long lines are wrapped instead of cut off.
        offset: number of cells that are scrolled out on the left, if lines are cut off.
        marked: the numbers of highlighted lines, from 0.
        most_lines: maximum number of lines, or None for all.
        mark: a span without text at the beginning of each line.
    """

    language: str = ""
    title: str = ""
    is_numbered: bool = False
    is_wrapped: bool = True
    offset: int = 0
    marked: frozenset[int] = frozenset()
    most_lines: int | None = None
    mark: Span | None = None


PLAIN = CodeLook()


def code_lines(text: str, columns: int, symbols: Symbols, look: CodeLook = PLAIN) -> list[Line]:
    """Render code as lines of exactly `columns` cells; a wrapped line continues after a marker."""
    clean = _trailing("", sanitize(text, lines=True)).rstrip("\n")
    digits = len(str(clean.count("\n") + 1)) + 1 if look.is_numbered else 0
    inner = remaining_cells(columns, MARGIN + digits)
    margin, digits = (MARGIN, digits) if inner else (0, 0)
    lines: list[Line] = []
    label = _label(sanitize(look.title), sanitize(look.language), columns, symbols)
    if label:
        lines.append(label)
    continued = Span(symbols.continued.ljust(margin)[:margin] + " " * digits, "code quiet")
    for number, spans in enumerate(highlight(clean, look.language.lower())):
        if look.most_lines is not None and number >= look.most_lines:
            break
        is_marked = number in look.marked
        begin = symbols.hint.ljust(margin)[:margin] if is_marked else " " * margin
        first = (Span(begin, "code accent" if is_marked else "code"),) if margin else ()
        if digits:
            first = (*first, Span(f"{number + 1:>{digits - 1}} ", "code quiet"))
        if is_marked:
            spans = [span._replace(style=f"{span.style} strong") for span in spans]
        parts = (
            _folded(spans, inner or columns) if look.is_wrapped else [_cut_out(spans, look.offset, inner or columns)]
        )
        for part_number, part in enumerate(parts):
            before = (first if not part_number else (continued,)) if margin else ()
            lines.append(pad(before + part, columns, "code"))
    return [(look.mark, *line) for line in lines] if look.mark else lines


def widest_line(text: str) -> int:
    """Return the width of the longest line of code."""
    return max(map(cell_len, sanitize(text, lines=True).split("\n")), default=0)


def room_of_code(text: str, columns: int, *, is_numbered: bool) -> int:
    """Return the number of cells that remain for code after its margin and line number."""
    digits = len(str(text.rstrip("\n").count("\n") + 1)) + 1 if is_numbered else 0
    return remaining_cells(columns, MARGIN + digits) or columns


def _cut_out(spans: Sequence[Span], offset: int, columns: int) -> Line:
    """Return the visible part of a line that is scrolled by `offset` cells."""
    if offset:
        head, _ = split_cells("".join(span.text for span in spans), offset)
        _, spans = split_spans(spans, len(head)) if head else ((), spans)
    return cut(tuple(spans), columns)


def _label(title: str, language: str, columns: int, symbols: Symbols) -> Line | None:
    if not title and language in {"", "text", "txt", "none", "plain"}:
        return None
    label = cut((Span("  " + title, "code strong"),), columns, symbols.ellipsis) if title else ()
    right = Span(language + "  ", "code quiet")
    gap = columns - width(label) - width((right,))
    if gap > 0:
        return *label, Span(" " * gap, "code"), right
    return pad(label or cut((right,), columns, symbols.ellipsis), columns, "code")


def highlight(text: str, language: str) -> Iterator[list[Span]]:
    """Yield the styled lines of code."""
    line: list[Span] = []
    for part, style in _styled(text, _GRAMMARS.get(language)):
        first, *others = part.split("\n")
        if first:
            line.append(Span(first, style))
        for other in others:
            yield line
            line = [Span(other, style)] if other else []
    yield line


def _styled(text: str, grammar: re.Pattern[str] | None) -> Iterator[tuple[str, str]]:
    end = 0
    for match in grammar.finditer(text) if grammar else ():
        kind = match.lastgroup or ""
        if kind == "word":
            if match[0] not in _KEYWORDS:
                continue
            kind = "keyword"
        if match.start() > end:
            yield text[end : match.start()], "code"
        yield match[0], f"code {kind}"
        end = match.end()
    if end < len(text):
        yield text[end:], "code"


def _folded(spans: Sequence[Span], columns: int) -> Iterator[Line]:
    """Yield the parts of a long line that fit into the width, broken after words if possible."""
    text = "".join(span.text for span in spans)
    while cell_len(text) > columns:
        head, _ = split_cells(text, columns)
        places = [*_breaks(head, len(head) * 2 // 3)]
        size = places[-1].end() if places else max(len(head), 1)
        first, spans = split_spans(spans, size)
        yield cut(first, columns)
        text = text[size:]
    yield tuple(spans)


def split_spans(spans: Sequence[Span], size: int) -> tuple[Line, Sequence[Span]]:
    """Split spans after `size` characters."""
    for number, (text, style, link) in enumerate(spans):
        if size <= len(text):
            rest = [Span(text[size:], style, link)] if size < len(text) else []
            return (*spans[:number], Span(text[:size], style, link)), (*rest, *spans[number + 1 :])
        size -= len(text)
    return tuple(spans), ()
