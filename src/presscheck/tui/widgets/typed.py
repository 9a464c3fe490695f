"""One line to type in, on the raised ground of a sheet; it does not blink."""

from __future__ import annotations

from textual.widgets import Input


class Typed(Input):
    """A line of text."""

    DEFAULT_CSS = """
    Typed, Typed:focus {
        border: none; height: 1; padding: 0 1; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%;
    }
    Typed > .input--placeholder { color: $ink-quiet; }
    """
    takes_text = True

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(value=value, placeholder=placeholder, select_on_focus=False, compact=True, id=id)
        self.cursor_blink = False
