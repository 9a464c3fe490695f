"""Hostile strings for any field: they attack the terminal, the app, the layout or the reader.

Tests put each string of `HOSTILE` into a field and search the output with `ACTS`, which finds all characters that must
never reach a terminal, except line ends.
"""

import re

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"

ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200d-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]"
)
"""Control characters, bidirectional controls, invisible characters, and emoji joiners and modifiers. The zero-width
non-joiner is allowed: some languages need it."""

_finals = "@ABCDEFGHJKLMPSTXZ`abcdefghilmnpqrstux"
_csi = [f"{prefix}{parameters}{final}" for final in _finals for prefix in (ESC + "[", "\x9b") for parameters in ("2",)]
_modes = [
    f"{ESC}[?{mode}{final}"
    for mode in (1, 5, 7, 25, 47, 1000, 1002, 1003, 1004, 1006, 1049, 2004, 2026, 2031, 2048)
    for final in "hl"
]
_reports = [ESC + "[" + x for x in ("c", ">c", "=c", "5n", "6n", "?6n", "14t", "18t", "20t", "21t", "?u", ">q", "!p")]
_osc = [
    f"{start}{payload}{end}"
    for start in (ESC + "]", "\x9d")
    for end in (BEL, ST, "\x9c", "")
    for payload in (
        "0;owned",
        "2;owned",
        "4;1;?",
        "8;;https://evil.example",
        "9;notice",
        "10;?",
        "52;c;b3duZWQ=",
        "52;c;?",
        "777;notify;a;b",
        "1337;File=inline=1:AAAA",
    )
]
_strings = [
    f"{start}{payload}{end}"
    for start in (ESC + "P", ESC + "_", ESC + "^", ESC + "X", ESC + "k", "\x90", "\x9f", "\x9e", "\x98")
    for payload in ("q#0;2;0;0;0#0~~@@", "+q544e", "Gf=100,a=T;AAAA", f"tmux;{ESC}{ESC}]52;c;b3duZWQ={BEL}")
    for end in (ST, "\x9c", "")
]
_escapes = [ESC + x for x in "c78DEHMNOZ=>lmno|}~#"] + [ESC + x for x in ("(0", ")B", "*0", "%G", "#8", " F", "[", "")]
_controls = [f"a{chr(code)}b" for code in (*range(0x20), *range(0x7F, 0xA0))]
_tricks = [
    "safe\rowned",
    "abc\b\b\bxyz",
    f"{ESC}{ESC}[31m[31m",
    f"{ESC}[3\n1m",
    f"{ESC}[{'9' * 500}C",
    f"{ESC}[{';' * 500}m",
    f"{ESC}]{ESC}]0;x{BEL}{BEL}",
    "\x00" * 50,
    "one\r\ntwo\nthree\rfour\x0bfive\x0csix\x85seven\u2028eight\u2029nine",
    "tab\tafter\ttab",
]
_bidi = [
    f"user{chr(code)}nimda{end}"
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
    for end in ("", "\u202c\u2069")
]
_invisible = [
    f"a{chr(code)}b"
    for code in (
        *(0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x180B, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F),
        *(0x2060, 0x2061, 0x2064, 0x2065, 0x206A, 0x206F, 0x2800, 0x3000, 0x3164, 0xFE00, 0xFE0E, 0xFE0F, 0xFEFF),
        *(0xFFA0, 0xFFF0, 0xFFF9, 0xFFFB, 0xFFFE, 0xFDD0, 0xD800, 0xDFFF, 0xE000, 0x1D173, 0xE0001, 0xE0041, 0xE007F),
        *(0xE0100, 0xE01EF, 0xF0000, 0x10FFFF),
    )
]
_columns = [
    "\u0301lone mark",
    "space \u0301mark",
    "z" + "\u0300\u0301\u0302\u0303" * 40,
    "\u20e3\u20dd\ufe0f",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "\U0001f3fd",
    "\u2764\ufe0f\u200d\U0001f525",
    "1\ufe0f\u20e3",
    "\U0001f1e9\U0001f1ea",
    "\U0001f1e9",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\u65e5\u672c\u8a9e" * 20,
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e2\u05d1\u05e8\u05d9\u05ea abc",
    "\u0e01\u0e33\u0e49\u0e4d",
    "\u0915\u094d\u0937\u093f\u0902",
    "\u1100\u1161\u11a8\u1161",
    "\ufdfd" * 4,
    "x" * 5000,
    "\u200d" * 100 + "x",
    "\ufe0f" * 100,
]
_markup = [
    *(
        "[red]red[/red]",
        "[/]",
        "[/foo]",
        "[bold",
        "[@click=app.quit]quit[/]",
        "[@click=app.bell()]x",
        "\\[red]",
        "[[a]]",
    ),
    *("[link=https://evil.example]x[/link]", f"[link=https://a{ESC}]0;t{BEL}]x[/link]", '{"b": [true]}', "[$error]x"),
    *(
        "[on red]x",
        "[not a tag]",
        "[1]",
        "[ ]",
        "[x]",
        ":warning:",
        ":smile:",
        "{0}{a}",
        "%s%n",
        "${HOME}",
        "`id`",
        "$(id)",
    ),
    *(
        "<script>alert(1)</script>",
        "<a href='javascript:x'>y</a>",
        "[x](javascript:alert(1))",
        "![x](file:///etc/passwd)",
    ),
    *(
        "../../etc/passwd",
        "a/b\\c:d*e?f",
        "CON",
        "-rf",
        "'; DROP TABLE spaces; --",
        "\ufeffbom",
        "&#27;[31m",
        "&#x9b;31m",
    ),
    *(
        "{% hint %}",
        "{% endtabs %}",
        "| a | b |",
        "# not a heading",
        "```",
        "---",
        "***",
        "[a]: javascript:x",
        "<!--",
        "<![CDATA[",
    ),
]
_addresses = [
    "https://\u0430\u0440\u0440\u04cf\u0435.com/login",
    "https://google.com\u2024evil.example",
    "https://google.com@evil.example/",
    "https://good.example\\@evil.example/",
    "https://\u202egpj.exe/",
    "java\u200bscript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,<script>x</script>",
    "file:///etc/passwd",
    "https://a.example/\x1b]0;t\x07",
    "http://[::1",
    "https://a.example:99999/",
    "ssh://-oProxyCommand=id/",
]

HOSTILE: list[str] = [
    *(*_csi, *_modes, *_reports, *_osc, *_strings, *_escapes, *_controls, *_tricks),
    *(*_bidi, *_invisible, *_columns, *_markup, *_addresses),
]
"""All hostile strings, as a service could send them."""
