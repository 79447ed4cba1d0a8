# Languages of WMT's test sets; other codes stay unchanged.
_TWO = {
    **{"ara": "ar", "ben": "bn", "ces": "cs", "dan": "da", "deu": "de", "ell": "el"},
    **{"eng": "en", "spa": "es", "est": "et", "fas": "fa", "fin": "fi", "fra": "fr"},
    **{"guj": "gu", "hau": "ha", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu"},
    **{"isl": "is", "ita": "it", "iku": "iu", "jpn": "ja", "kaz": "kk", "khm": "km"},
    **{"kor": "ko", "lit": "lt", "lav": "lv", "mar": "mr", "nld": "nl", "nor": "no"},
    **{"pol": "pl", "pus": "ps", "por": "pt", "ron": "ro", "rus": "ru", "srp": "sr"},
    **{"swe": "sv", "swa": "sw", "tam": "ta", "tha": "th", "tur": "tr", "ukr": "uk"},
    **{"urd": "ur", "vie": "vi", "xho": "xh", "zho": "zh", "zul": "zu"},
}


def two_letters(code: str) -> str:
    """Return a language code for HTML and screen readers.

    Examples
    --------
    >>> two_letters("deu"), two_letters("de"), two_letters("mlt")
    ('de', 'de', 'mlt')
    """
    return _TWO.get(code.lower(), code)
