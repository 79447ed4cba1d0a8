"""Names of languages: two letters on pages (BCP 47), for three in files of WMT."""

from __future__ import annotations

# Languages of WMT's test sets; others stay as they are named.
_THREE = {
    **{"ar": "ara", "bn": "ben", "cs": "ces", "da": "dan", "de": "deu", "el": "ell"},
    **{"en": "eng", "es": "spa", "et": "est", "fa": "fas", "fi": "fin", "fr": "fra"},
    **{"gu": "guj", "ha": "hau", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun"},
    **{"is": "isl", "it": "ita", "iu": "iku", "ja": "jpn", "kk": "kaz", "km": "khm"},
    **{"ko": "kor", "lt": "lit", "lv": "lav", "mr": "mar", "nl": "nld", "no": "nor"},
    **{"pl": "pol", "ps": "pus", "pt": "por", "ro": "ron", "ru": "rus", "sr": "srp"},
    **{"sv": "swe", "sw": "swa", "ta": "tam", "th": "tha", "tr": "tur", "uk": "ukr"},
    **{"ur": "urd", "vi": "vie", "xh": "xho", "zh": "zho", "zu": "zul"},
}
_TWO = {three: two for two, three in _THREE.items()}


def two_letters(code: str) -> str:
    """Name a language as HTML and screen readers know it.

    Examples
    --------
    >>> two_letters("deu"), two_letters("de"), two_letters("mlt")
    ('de', 'de', 'mlt')
    """
    return _TWO.get(code.lower(), code)
