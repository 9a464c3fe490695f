"""Code blocks as HTML."""

from __future__ import annotations

from html import escape

from presscheck.documents.terminal.code import highlight
from presscheck.text.styled_text import Span

DIAGRAM = "mermaid"
"""The language of diagrams. Pages show their source; the script of the site draws them if the service has Mermaid."""
DIAGRAM_CLASS = "code diagram"


def code_html(text: str, language: str, title: str = "", *, is_numbered: bool = False, is_wrapped: bool = False) -> str:
    """Render a code block: highlighted syntax, optional line numbers, and a caption if the block has a title."""
    classes = "code"
    if language.lower() == DIAGRAM:
        classes = DIAGRAM_CLASS if title else f"{DIAGRAM_CLASS} untitled"
        title = title or "Source of a diagram"
    lines = ["".join(map(_coloured, spans)) for spans in highlight(text.rstrip("\n"), language.lower())]
    if is_numbered:
        lines = [f'<span class="line">{line}</span>' for line in lines]
    kind = f'<span class="language">{escape(language)}</span>' if language else ""
    caption = f'<figcaption><span class="name">{escape(title)}</span>{kind}</figcaption>' if title else ""
    classed = f' class="language-{escape(language)}"' if language else ""
    wrapped = " wrapped" if is_wrapped else ""
    written = "\n".join(lines)
    return (
        f'<figure class="{classes}{wrapped}">{caption}<pre tabindex="0"><code{classed}>{written}</code></pre></figure>'
    )


def _coloured(span: Span) -> str:
    words = escape(span.text)
    kind = span.style.removeprefix("code").strip()
    return f'<span class="{kind}">{words}</span>' if kind else words
