"""The sequences that set the clipboard of the user's machine through the terminal (OSC 52)."""

from __future__ import annotations

import base64
from collections.abc import Mapping

CHUNK = 240
"""Maximum characters of a sequence that screen forwards."""


def clipboard_sequence(text: str, environment: Mapping[str, str]) -> str:
    """Return the sequence that copies a text.

    Inside tmux and screen, a second sequence is for the outer terminal. Tmux handles the first one with `set-clipboard
    on`, and forwards the second with `allow-passthrough on`.
    """
    plain = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    terminal = environment.get("TERM", "")
    if environment.get("TMUX") or terminal.startswith("tmux"):
        return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environment.get("STY") or terminal.startswith("screen"):
        return plain + "".join(f"\x1bP{plain[at : at + CHUNK]}\x1b\\" for at in range(0, len(plain), CHUNK))
    return plain
