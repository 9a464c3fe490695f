"""What the terminal shows instead of inline formulas, emoji, icons, variables and indices."""

from __future__ import annotations

from presscheck.documents.markdown.link_target import LinkTarget
from presscheck.documents.markdown.parser import emoji_by_name
from presscheck.documents.terminal.formulas import formula_text, subscript, superscript
from presscheck.documents.terminal.references import References
from presscheck.documents.terminal.symbols import Symbols

_ICON_NAMES = (
    "check xmark star heart bolt arrow-right arrow-left arrow-up arrow-down plus minus circle square phone "
    "envelope flag gear triangle-exclamation circle-check circle-xmark music sun cloud umbrella snowflake"
)
_ICONS: dict[str, str] = dict(zip(_ICON_NAMES.split(), "✓✗★♥↯→←↑↓+−●■☎✉⚑⚙⚠✓✗♪☀☁☂❄", strict=True))
"""Icons that a single cell of a terminal can show."""


class TerminalWords:
    """Inline words on a terminal.

    Args:
        symbols: the symbols that the page is drawn with.
        references: what the page refers to.
    """

    def __init__(self, symbols: Symbols, references: References) -> None:
        self._symbols, self._references = symbols, references

    @property
    def broken(self) -> str:
        """The sign behind a broken link."""
        return self._symbols.broken

    def target(self, address: str) -> LinkTarget | None:
        """Returns what a link leads to; None if that is not known."""
        return self._references.target(address)

    def formula(self, source: str) -> str:
        """Returns a formula as one line of Unicode; on an ASCII terminal as it is written."""
        return " ".join(source.split()) if self._symbols.is_ascii else formula_text(source)

    def emoji(self, name: str) -> str:
        """Returns the emoji with a name; on an ASCII terminal its name."""
        return f":{name}:" if self._symbols.is_ascii else emoji_by_name(name)

    def icon(self, name: str) -> str:
        """Returns the sign of an icon, or its name in brackets."""
        sign = "" if self._symbols.is_ascii else _ICONS.get(name, "")
        return sign or f"[{name}]"

    def variable(self, expression: str) -> str | None:
        """Returns the value of an expression; None if it is not known."""
        return self._references.variable(expression)

    def index(self, tag: str, text: str) -> str:
        """Returns superscript or subscript text."""
        if self._symbols.is_ascii:
            return f"{'^' if tag == 'sup' else '_'}({text})"
        return superscript(text) if tag == "sup" else subscript(text)
