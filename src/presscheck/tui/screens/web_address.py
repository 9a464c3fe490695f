"""Web addresses: opened in the browser, or copied if no browser can be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.config.browser_tab import is_in_browser
from presscheck.text.sanitize import display_url, is_safe_link, is_safe_url
from presscheck.text.styled_text import Span, wrap
from presscheck.tui.external_programs import is_remote, open_in_browser

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext

BESIDE_NOTICE = 12
"""Cells of the footer that are reserved for the key of the help."""


def open_address(app: AppContext, url: str) -> None:
    """Open an address in the browser. If that is not possible, copy the address and show it.

    The footer shows the copied address; an address that is too long for the footer gets a screen.
    """
    if not is_safe_link(url):
        app.notify(f"not opened, this is not an address that pages may link to: {display_url(url)}")
        return
    if is_in_browser() and is_safe_url(url):
        app.open_url(url)
        app.notify(f"opened, unless the browser blocks it: {display_url(url)}")
        return
    if is_remote() or not is_safe_url(url) or not open_in_browser(url):
        # the terminal copies, which works over SSH; if the terminal cannot copy, the user can select the address
        app.copy_to_clipboard(url)
        message, columns = f"copied: {display_url(url)}", app.screen.size.width
        if len(message) > columns - BESIDE_NOTICE:
            _show_address(app, display_url(url), max(columns - 4, 20))
        else:
            app.notify(message)
    else:
        app.notify(f"opened: {display_url(url)}")


def _show_address(app: AppContext, address: str, columns: int) -> None:
    """Open a screen with an address that is too long for the footer."""
    from presscheck.tui.screens.text_screen import TextScreen  # 1 ms, only for a long address

    lines = [(Span(address[at : at + columns], "link"),) for at in range(0, len(address), columns)]
    note = "If your terminal does not let programs copy, select the lines and join them to one address."
    app.push_screen(TextScreen("Address, copied", [(), *lines, (), *wrap([Span(note, "quiet")], columns)]))
