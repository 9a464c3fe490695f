"""The signs on the screens: each has one meaning everywhere.

A sign is a single cell wide. Bars, arrows of folds and of sorting, and the bullets of lists are not in the table.
"""

from __future__ import annotations

SIGNS = {
    "✓": "yes: approved; met, valid, sent or done",
    "✗": "no: changes requested; not met, invalid or failed",
    "⚠": "a warning",
    "◷": "pending: a requested review, an unsent change, a running job",
    "✎": "a draft of yours, or a comment that your pending review holds",
    "•": "marked",
    "◆": "new activity",
    "☑": "viewed",
    "●": "open: a thread; public, live or on; the profile in use",
    "○": "closed: a resolved thread; unlisted, a draft of a site, or off; another profile",
    "↻": "outdated: made for an older revision",
    "¶": "the text of a review",
    "§": "a finding of a prose check",
    "┃": "a thread; with a number, open comments",
    "↓": "main has new changes",
    "!": "conflict with main",
    "+": "added",
    "−": "deleted",
    "~": "edited",
    "±": "changed, not saved",
    "–": "none, or no",
    "?": "unknown",
    "★": "bookmarked",
    "⊘": "muted",
    "◉": "followed",
    "□": "done: hidden until there is new activity",
    "◔": "snoozed: hidden until its time",
    "▤": "a collection",
    "▢": "a space without an emoji",
    "▣": "a space with an icon of its own",
    "⌂": "a site",
    "■": "locked",
    "◌": "anyone with a share link",
    "◍": "visitors sign in",
    "◦": "published in a collection",
    "◇": "another visibility",
    "⇄": "Git sync",
}
"""The meaning of each sign."""


def legend(signs: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a sign and its meaning, for the list of keys."""
    return tuple((sign, SIGNS[sign]) for sign in signs)
