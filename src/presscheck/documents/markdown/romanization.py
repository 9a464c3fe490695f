"""Latin letters for other letters in anchors, as the platform writes them: `安装` becomes `an zhuang`.

The platform romanizes Greek, Cyrillic and Arabic letters, Chinese characters and Japanese syllables. It drops other
scripts, such as Korean and Hindi, and Chinese characters in Japanese text.
"""

from __future__ import annotations

import re
import unicodedata

_LETTERS = """
ä=ae ö=oe ü=ue …=... ц=c щ=sh ю=yu я=ya ё=yo є=ye ћ=c џ=dz ь= ъ= ή=i η=i υ=y ύ=y ϋ=y ΰ=y φ=f χ=x ξ=ks β=v
أ=a ا=a ع=a ى=a ء=a إ=i آ=aa ؤ=u ئ=e ة=h ذ=th ض=dh غ=gh ژ=zh ک=k
"""
_OVERRIDES = {pair[0]: pair[2:] for pair in _LETTERS.split()}
"""Letters that the platform romanizes differently than Unidecode."""
_SYLLABLES = {"ジ": "ji", "フ": "fu", "ヂ": "ji", "ヅ": "zu", "ヲ": "o"}
_SCRIPTS = ("LATIN ", "GREEK ", "CYRILLIC ", "ARABIC ")
_chinese = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_japanese = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc]+")
_SMALL = {**dict(zip("ァィゥェォ", "aiueo", strict=True)), "ャ": "ya", "ュ": "yu", "ョ": "yo"}


def romanize(text: str) -> str:
    """Return a text in lower case with Latin letters and spaces for all characters outside ASCII."""
    if text.isascii():
        return text
    is_japanese = bool(_japanese.search(text))
    text = _japanese.sub(lambda match: _syllables(match[0]), text)
    text = _chinese.sub(lambda match: "" if is_japanese else f" {_letters(match[0])} ", text)
    return "".join([sign if sign.isascii() else _latin(sign) for sign in text])


def _latin(sign: str) -> str:
    if sign in _OVERRIDES:
        return _OVERRIDES[sign]
    category = unicodedata.category(sign)
    if category[0] == "L" and unicodedata.name(sign, "").startswith(_SCRIPTS):
        return _letters(sign)
    return "" if category in ("Mn", "Mc", "Cf") else " "


def _letters(sign: str) -> str:
    # importing takes 3 ms, so only for a heading in another script
    from unidecode import unidecode

    return "".join([letter for letter in unidecode(sign).lower() if letter.isalnum()])


def _syllables(text: str) -> str:
    """Return Japanese syllables in Hepburn romanization; the platform drops long vowels."""
    roman = last = ""
    for sign in text:
        kana = chr(ord(sign) + 0x60) if sign < "\u30a1" else sign
        if kana == "ー":
            roman = roman[:-1]
        elif kana in _SMALL and roman:
            stem = f"{roman[:-1]}w" if last == "ウ" else roman[:-1]
            roman = stem + _SMALL[kana].lstrip("y" if stem.endswith(("sh", "ch", "j")) else "")
        elif kana != "ッ":
            syllable = _SYLLABLES.get(kana) or _letters(kana)
            roman += syllable[:1] * (last == "ッ") + syllable
        last = kana
    return roman
