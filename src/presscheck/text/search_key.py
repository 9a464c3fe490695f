"""Texts as they are compared in searches for names: `jon` finds Jón, and `muller` finds Müller."""

from __future__ import annotations

import unicodedata


def search_key(text: str) -> str:
    """Return a text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
