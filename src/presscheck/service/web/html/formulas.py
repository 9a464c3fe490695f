"""LaTeX formulas as MathML.

The converter trusts its input and copies texts, links and styles without escaping. So its result is serialized here,
with known elements and attributes only and with escaped text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST, MOST = 2_000, 20_000
"""Maximum number of characters of one formula, and of all formulas of a page; further formulas remain source code. A
formula of 2,000 characters takes about 10 ms.
"""
_NAMES = (
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub "
    "msubsup msup mtable mtd mtext mtr munder munderover none"
)
_ELEMENTS = frozenset(_NAMES.split())
_ATTRIBUTES = {
    "accent": re.compile("true|false").fullmatch,
    "accentunder": re.compile("true|false").fullmatch,
    "columnalign": re.compile("(?:(?:left|center|right) ?){1,40}").fullmatch,
    "columnlines": re.compile("(?:(?:none|solid|dashed) ?){1,40}").fullmatch,
    "columnspacing": re.compile(r"(?:-?\d{1,2}(?:\.\d{1,4})?em ?){1,40}").fullmatch,
    "display": re.compile("inline|block").fullmatch,
    "displaystyle": re.compile("true|false").fullmatch,
    "fence": re.compile("true|false").fullmatch,
    "form": re.compile("prefix|infix|postfix").fullmatch,
    "linethickness": re.compile("0|thin|medium|thick").fullmatch,
    "mathcolor": re.compile("#[0-9a-fA-F]{3,6}|[a-zA-Z]{1,20}").fullmatch,
    "mathvariant": re.compile("[a-z-]{1,40}").fullmatch,
    "maxsize": re.compile(r"\d(?:\.\d{1,4})?em").fullmatch,
    "minsize": re.compile(r"\d(?:\.\d{1,4})?em").fullmatch,
    "movablelimits": re.compile("true|false").fullmatch,
    "notation": re.compile("[a-z ]{1,60}").fullmatch,
    "rowlines": re.compile("(?:(?:none|solid|dashed) ?){1,40}").fullmatch,
    "rowspacing": re.compile(r"(?:-?\d{1,2}(?:\.\d{1,4})?em ?){1,40}").fullmatch,
    "scriptlevel": re.compile(r"[+-]?\d").fullmatch,
    "separator": re.compile("true|false").fullmatch,
    "stretchy": re.compile("true|false").fullmatch,
    "width": re.compile(r"-?\d{1,2}(?:\.\d{1,4})?em").fullmatch,
}
"""The allowed attributes, with patterns for their values."""


_formula = re.compile(r'<(code|pre) class="formula">([^<]*)</\1>')


def with_formulas(html: str) -> str:
    """Replace the formulas of a page by MathML. A formula that is too long or cannot be converted is not changed.

    Args:
        html: the page, where each formula is source code in an element with the class `formula`.
    """
    if 'class="formula"' not in html:
        return html
    room = MOST

    def converted(match: re.Match[str]) -> str:
        nonlocal room
        latex = unescape(match[2])
        room -= len(latex)
        is_short = room >= 0 and len(latex) <= LONGEST
        return (_math(latex, "block" if match[1] == "pre" else "inline") if is_short else "") or match[0]

    return _formula.sub(converted, html)


def _math(latex: str, display: str) -> str:
    """Return a formula as MathML, or an empty string if it cannot be converted."""
    from latex2mathml.converter import convert_to_element  # takes 100 ms to import, so only for pages with formulas

    try:
        return "".join(_written(convert_to_element(latex, display=display)))
    except Exception:  # the errors of the converter have no common base
        return ""


def _written(element: Element) -> Iterator[str]:
    """Yield the parts of the markup of an element; an unknown element is replaced by its content."""
    name = element.tag.rpartition("}")[2]
    if name in _ELEMENTS:
        attributes = (
            f' {key}="{escape(value)}"'
            for key, value in element.attrib.items()
            if key in _ATTRIBUTES and _ATTRIBUTES[key](value)
        )
        yield f"<{name}{''.join(attributes)}>"
    yield escape(unescape(element.text or ""))
    for child in element:
        yield from _written(child)
        yield escape(unescape(child.tail or ""))
    if name in _ELEMENTS:
        yield f"</{name}>"
