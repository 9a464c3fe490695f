"""What a link leads to, as far as it is known where a page is drawn."""

from __future__ import annotations

from typing import NamedTuple


class LinkTarget(NamedTuple):
    """The title of what a link leads to, and whether there is no such page or file."""

    title: str = ""
    is_broken: bool = False
