from __future__ import annotations

import time

from tests.table import each_case

from presscheck.documents.markdown.emoji import emoji_by_name, icon_sign, icon_text, with_emoji


@each_case(
    ("text", "shown"),
    [
        ("Go :rocket:", "Go 🚀"),
        (":house: done :white_check_mark:", "🏠 done ✅"),
        (":unicorn::+1::-1:", "🦄👍👎"),
        (":100: and :1st_place_medal:", "💯 and 🥇"),
        ("10:100:5 and 12:30:45", "10:100:5 and 12:30:45"),
        ("urn:ietf:params:xml", "urn:ietf:params:xml"),
        ("no :such_name: here: or there", "no :such_name: here: or there"),
        ("a:x:rocket:", "a❌rocket:"),
        (":nope:rocket:", ":nope🚀"),
    ],
)
def test_names_between_colons_become_emoji(text: str, shown: str) -> None:
    assert with_emoji(text) == shown


def test_github_names_are_read_as_on_github() -> None:
    names = {"thinking": "🤔", "de": "🇩🇪", "pouting_face": "🙎", "umbrella": "☔", "tada": "🎉"}
    assert {name: emoji_by_name(name) for name in names} == names


def test_icons_are_signs_or_emoji_with_their_name() -> None:
    assert [icon_sign(name) for name in ("check", "rocket", "fire-extinguisher", "brackets-curly")] == [
        "✓",
        "🚀",
        "🧯",
        "",
    ]
    assert icon_text("brackets-curly") == "[brackets-curly]"


def test_long_text_is_read_in_linear_time() -> None:
    started = time.thread_time()
    for piece in (":a", ":", "a:", ":rocket"):
        with_emoji(piece * 50_000)
    assert time.thread_time() - started < 2
