"""Languages of spaces: their own names, and the direction of their script."""

from __future__ import annotations

RIGHT_TO_LEFT = frozenset(("ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "dv", "ckb"))
"""Languages that are written from right to left."""
_NAMES = {
    "ar": "العربية",
    "bg": "Български",
    "bn": "বাংলা",
    "ca": "Català",
    "cs": "Čeština",
    "da": "Dansk",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "en": "English",
    "es": "Español",
    "et": "Eesti",
    "eu": "Euskara",
    "fa": "فارسی",
    "fi": "Suomi",
    "fr": "Français",
    "gl": "Galego",
    "he": "עברית",
    "hi": "हिन्दी",
    "hr": "Hrvatski",
    "hu": "Magyar",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "lt": "Lietuvių",
    "lv": "Latviešu",
    "ms": "Bahasa Melayu",
    "nb": "Norsk bokmål",
    "nl": "Nederlands",
    "no": "Norsk",
    "pl": "Polski",
    "pt": "Português",
    "pt-br": "Português (Brasil)",
    "ro": "Română",
    "ru": "Русский",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "sr": "Српски",
    "sv": "Svenska",
    "ta": "தமிழ்",
    "th": "ไทย",
    "tr": "Türkçe",
    "uk": "Українська",
    "ur": "اردو",
    "vi": "Tiếng Việt",
    "zh": "中文",
    "zh-hans": "简体中文",
    "zh-hant": "繁體中文",
    "zh-cn": "简体中文",
    "zh-tw": "繁體中文",
}


def language_name(language: str) -> str:
    """Return the name of a language in that language, such as `Deutsch` for `de`, or an empty string."""
    code = language.replace("_", "-").lower()
    return _NAMES.get(code) or _NAMES.get(code.partition("-")[0], "")


def is_right_to_left(language: str) -> bool:
    """Return whether a language is written from right to left."""
    return language.partition("-")[0].lower() in RIGHT_TO_LEFT
