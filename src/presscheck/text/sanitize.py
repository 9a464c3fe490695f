"""Sanitizes untrusted text for the terminal: no control characters, no escape sequences, no change of width.

Readable text remains visible, so that reviewers see what readers will see: a control character becomes a visible symbol
(`␛`, `␇`), and the rest of its sequence remains as plain letters. Characters without width (bidirectional controls,
tags, variation selectors) are dropped, because they can make two different texts look equal. Terminals disagree about
the width of toned and flag emoji, so these are split into their parts. Markup is not interpreted. Sanitizing twice has
the same result as once.

A joiner is removed unless it changes how the text looks:

| character | stays | why |
|---|---|---|
| U+200D joiner | in the emoji sequences of Unicode | without it 👩‍👩‍👧‍👦 is four people |
| | not after a narrow emoji (❤, 🏳) without U+FE0F | terminals disagree about the width |
| | not between other emoji | terminals may draw only the first of two |
| | between a virama and a letter of the same script | Sinhala, Hindi and others spell conjuncts with it |
| | before a virama: Sinhala, and ra in Bengali and Kannada | it selects another conjunct |
| | after a virama that ends one of six Malayalam letters | older spelling of the chillu letters |
| | not elsewhere | invisible: two different words would look equal |
| U+FE0F selector | after a narrow emoji that begins a sequence (❤️‍🔥, 🏳️‍🌈) | gives the sequence two cells |
| | not elsewhere | terminals disagree about the width |
| U+200C non-joiner | between two Arabic letters that would join | Persian, Kurdish and others spell words with it |
| | between a virama and a letter of the same script | keeps two Indic letters apart |
| | not elsewhere | invisible: two different words would look equal |

Some terminals give a joiner a cell, or do not join emoji; `show_joiners` sets which of these characters the terminal
can show.

Rich counts no cell for the character after a joiner. That is right for emoji, but terminals draw the letter after a
joiner in a cell of its own. `sanitize` doubles a joiner beside letters, so that Rich counts the next letter; the second
joiner is not written to the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from urllib.parse import SplitResult, quote, unquote, urlsplit

from rich.cells import get_character_cell_size

TAB_WIDTH = 4
MAX_COMBINING_MARKS = 4
"""Maximum number of combining marks on a letter: no language needs more, and more would paint over other lines."""
_OTHER_PROGRAMS = frozenset(("tel", "sms", "ftp", "ftps", "slack", "vscode", "geo", "magnet", "irc", "ircs"))
LINK_SCHEMES = _OTHER_PROGRAMS | {"http", "https", "mailto"}
"""The allowed URL schemes of links in pages."""
MOST_DECODINGS = 3
"""Number of times that a mail link is percent-decoded; if it is encoded more often, it is refused."""

NON_JOINER, JOINER, COLORED = "\u200c", "\u200d", "\ufe0f"
"""The zero-width joiners, and the selector of the colored form of an emoji."""
_shown_joiners = {NON_JOINER}

_VIRAMA = 9
"""The canonical combining class of viramas."""
_CARRIER = "◌"
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"

_authority = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//([^/?#\\]*)|mailto:([^?]*)", re.IGNORECASE).match
_label = re.compile(r"(?<![^.:\[\]])[^.:\[\]]*[^\x00-\x7f][^.:\[\]]*")
_line_end = re.compile("\r\n|[\n\v\f\x85\u2028\u2029]")

_is_invisible = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]"
).match
"""Matches invisible characters that are not format characters: fillers, variation selectors, skin tones, tags."""


_PEOPLE = "🏃🏄🏊👮👯👰👱👳👷💁💂💆💇🙅🙆🙇🙋🙍🙎🚣🚴🚵🚶🤦🤵🤷🤸🤹🤼🤽🤾🦸🦹🧍🧎🧏🧔🧖🧗🧘🧙🧚🧛🧜🧝🧞🧟"
"""Emoji that a sign of gender may follow."""
_JOINING = (
    "\u0620\u0626\u0628\u062a-\u062e\u0633-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2"
    "\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff"
)
"""Arabic letters that join the next letter (dual-joining in Unicode's ArabicShaping.txt)."""
_ARABIC = "\u0620\u0622-\u064a\u066e-\u0673\u0675-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06fc\u06ff"
_VIRAMAS = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_COLORED_SEQUENCES = (
    f"❤{COLORED}{JOINER}[🔥🩹]|🏳{COLORED}{JOINER}[🌈⚧]|👁{COLORED}{JOINER}🗨|⛓{COLORED}{JOINER}💥"
    f"|[🕵🏋🏌⛹]{COLORED}{JOINER}[♀♂]"
)
"""Emoji sequences that begin with a narrow emoji."""
_joiners = re.compile(
    # in this order, so that the longest sequence of a person is found first
    f"(?:[👨👩🧑](?:{JOINER}❤(?:{JOINER}💋)?)?(?:{JOINER}[👨👩🧑👦👧🧒👶]){{1,3}}|[👩🧑]{JOINER}🤝{JOINER}[👨👩🧑]"
    f"|[👨👩🧑]{JOINER}[⚕⚖✈🌾🍳🍼🎄🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯🦰🦱🦲🦳🦼🦽]|[{_PEOPLE}]{JOINER}[♀♂]"
    f"|🐕{JOINER}🦺|[🐈🐦]{JOINER}⬛|🐦{JOINER}🔥|🐻{JOINER}❄|🍋{JOINER}🟩|🍄{JOINER}🟫|😮{JOINER}💨|😵{JOINER}💫|😶{JOINER}🌫"
    f"|🙂{JOINER}[↔↕]|🏴{JOINER}☠)"
    f"|[{_JOINING}][\u064b-\u065f\u0670]*{NON_JOINER}(?=[{_ARABIC}])"
    f"|[{_VIRAMAS}](?:{NON_JOINER}|{JOINER}+)(?=[\u0904-\u0df4])"
    f"|[\u0d9a-\u0dc6]{JOINER}+(?=\u0dca[\u0d9a-\u0dc6])|\u09b0{JOINER}+(?=\u09cd[\u0995-\u09df])"
    f"|\u0cb0{JOINER}+(?=\u0ccd[\u0c95-\u0cb9])|[\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d{JOINER}+"
    f"|{_COLORED_SEQUENCES}|[{NON_JOINER}{JOINER}{COLORED}]"
)
"""Matches the sequences that the table above allows, and each joiner and selector outside of them."""
_loose_selectors = re.compile(f"(?<![❤🏳👁⛓🕵🏋🏌⛹]){COLORED}|{COLORED}(?!{JOINER}[🔥🩹🌈⚧🗨💥♀♂])")
"""Matches selectors that cannot be part of a sequence that the table above allows."""
_without_joiners = {ord(character): None for character in (NON_JOINER, JOINER, COLORED)}


def show_joiners(joiners: str) -> None:
    """Set the joiners that the terminal shows without a cell; initially only the non-joiner.

    `COLORED` stands for emoji sequences that begin with a narrow emoji.
    """
    _shown_joiners.clear()
    _shown_joiners.update(joiners)


@cache
def _ordinary() -> re.Pattern[str]:
    """Return the pattern of texts that `sanitize` returns unchanged. Compiling takes 3 ms."""
    return re.compile(
        "[ -~\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u27ff"
        "\u2900-\u2bff\u3001-\u3029\u3030-\u3098\u309b-\u3163\u3190-\u9fff\uac00-\ud7a3\uff01-\uff9f"
        "\U0001f300-\U0001f3fa\U0001f400-\U0001faff]*"
    )


def is_ordinary(text: str) -> bool:
    """Return whether `sanitize` returns a text unchanged.

    Loops over all words of a page use this function to call `sanitize` only where it is needed.
    """
    return text.isprintable() if text.isascii() else _ordinary().fullmatch(text) is not None


def sanitize(text: str, *, lines: bool = False) -> str:
    """Return text that is safe to display. Line ends are preserved if `lines` is true, otherwise they become spaces."""
    if is_ordinary(text):
        return text
    if lines:
        return "\n".join([_one_line(line) for line in _line_end.split(text)])
    return _one_line(_line_end.sub(" ", text))


def readable(text: str) -> str:
    """Sanitize a text, but keep its tabs and line ends."""
    return "\t".join(sanitize(part, lines=True) for part in text.split("\t"))


def display_url(url: str) -> str:
    """Return a URL that is safe to display.

    Non-ASCII labels of the host become punycode, and unprintable characters are escaped.
    """
    host = _host(url)
    displayed = url if host.isascii() else url.replace(host, _punycode(host), 1)
    return "".join([part if _is_clean(part) else quote(part, errors="replace") for part in displayed])


def is_safe_url(url: str) -> bool:
    """Return whether a URL may be opened: a web URL, or a mail link without attachment.

    A URL with characters that could mislead the user, such as control characters, may not be opened.
    """
    parts = _parts(url)
    if parts and parts.scheme == "mailto":
        return "@" in parts.path and not _has_attachment(parts)
    return parts is not None and parts.scheme in {"http", "https"} and bool(parts.hostname)


def is_safe_link(url: str) -> bool:
    """Return whether a page may link to a URL: it may be opened, or it is for another program, such as `tel:`."""
    parts = _parts(url)
    is_for_program = parts and parts.scheme in _OTHER_PROGRAMS and bool(parts.netloc or parts.path or parts.query)
    return bool(is_for_program) or is_safe_url(url)


def _parts(url: str) -> SplitResult | None:
    """Split a URL. Return None if it is malformed, or has spaces, backslashes or characters that `sanitize` changes."""
    if not url.isprintable() or " " in url or "\\" in url or sanitize(url) != url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _has_attachment(parts: SplitResult) -> bool:
    """Return whether a mail link may name a file, which some mail programs would attach.

    A link that is still encoded after `MOST_DECODINGS` decodings counts as having an attachment.
    """
    text = f"{parts.path}?{parts.query}#{parts.fragment}"
    for _ in range(MOST_DECODINGS):
        text = unquote(text)
    return "%" in text or "attach" in sanitize(text).partition("?")[2].lower()


class _Symbols(dict[int, str]):
    """The display text of each character by its code point, computed on first use."""

    def __missing__(self, code: int) -> str:
        symbol = _symbol(code)
        if len(self) < 4096:
            self[code] = symbol
        return symbol


_symbols = _Symbols()


def _symbol(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return chr(code - 0x1F1E6 + ord("A"))
    if code in _without_joiners:
        return chr(code)
    if _is_invisible(chr(code)):
        return ""
    category = unicodedata.category(chr(code))
    if category == "Cf":
        return ""
    if category == "Zs" or code == 0x2800:
        return "  " if code == 0x3000 else " "
    if category in {"Cc", "Cs", "Co"} or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return _UNKNOWN
    return chr(code)


def _one_line(line: str) -> str:
    displayed = line.expandtabs(TAB_WIDTH).translate(_symbols)
    if COLORED in displayed:
        displayed = _loose_selectors.sub("", displayed)
    if NON_JOINER in displayed or JOINER in displayed:
        displayed = _joiners.sub(_shown, displayed)
    return displayed if is_ordinary(displayed) else _carry_marks(displayed)


def _shown(match: re.Match[str]) -> str:
    """Return the text of a match of `_joiners`, without joiners if the terminal cannot show one of them.

    A joiner that stays at the end is doubled, for the reason at the top of this module.
    """
    text = match[0]
    plain = text.translate(_without_joiners)
    if not plain or not _shown_joiners.issuperset(set(text) - set(plain)) or not _is_one_script(match):
        return plain
    return text.rstrip(JOINER) + 2 * JOINER if text[-1] == JOINER else text


def _is_one_script(match: re.Match[str]) -> bool:
    """Return whether the joiner at the end of a match may stay.

    After a single virama, it may only stay before a letter of the same script. Any other joiner may stay.
    """
    base = match[0].rstrip(NON_JOINER + JOINER)
    if base == match[0] or unicodedata.combining(base[-1]) != _VIRAMA or len(base) > 1:
        return True
    letter = match.string[match.end()]
    # the blocks of Indic scripts have 128 characters each
    return letter.isalpha() and ord(base) >> 7 == ord(letter) >> 7


def _carry_marks(line: str) -> str:
    """Insert a carrier before combining marks that follow a space, and drop marks above the limit."""
    parts: list[str] = []
    marks, before = 0, " "
    for character in line:
        if get_character_cell_size(character):
            marks = 0
        else:
            marks += 1
            if marks > MAX_COMBINING_MARKS:
                continue
            if before == " ":
                parts.append(_CARRIER)
        parts.append(character)
        before = character
    return "".join(parts)


def _is_clean(character: str) -> bool:
    return character != " " and sanitize("x" + character) == "x" + character


def _host(url: str) -> str:
    match = _authority(url)
    return (match[1] or match[2] or "").rpartition("@")[2] if match else ""


def _punycode(host: str) -> str:
    """Return a host in punycode. As in browsers, an ideographic full stop counts as a dot."""
    return _label.sub(_encoded, unicodedata.normalize("NFKC", host).casefold().replace("。", "."))


def _encoded(label: re.Match[str]) -> str:
    return "xn--" + label[0].encode("punycode", "replace").decode("ascii", "replace")
