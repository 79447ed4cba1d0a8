"""Detect languages by small words and scripts.

A few dozen of the commonest words are enough evidence for a warning; no model is
needed.
"""

import re
from functools import cache

_WORDS = {
    "en": "the of and to in a is that for it was on are as with his they at be this "
    "have from or had by but not what all were we when your can there an which their "
    "has been would who will more no if she he her you how than them",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine "
    "als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie "
    "einem über einen so zum war haben nur oder aber vor zur bis mehr durch man wurde",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur "
    "ne se il sont avec ce sa ses mais ou elle été cette aux nous on leur ont être fait "
    "était même deux",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más "
    "o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también "
    "fue había era muy hasta desde",
    "it": "di e il la che in a per un del è non le della si con una i da dei sono al come "
    "alla anche più nel ha gli ma lo delle ed o se dal suo questo nella sua tra ai degli "
    "essere stato",
    "pt": "de a que o e do da em um para é com não uma os no se na por mais as dos como "
    "mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só",
    "nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als bij dan "
    "maar door over ze nog hij naar uit tot heeft worden wordt kan meer dit was deze of "
    "hebben geen",
    "sv": "och i att det som en på är av för med den till inte har de om ett han men var "
    "jag sig från vi så kan när år under också efter eller nu sin där vid mot ska",
    "pl": "i w na z do się nie to że jest o od po za jak co ale przez dla są tym był tego "
    "ich oraz która który jego jej tylko może być czy przy",
    "cs": "a v se na je že s z do o to i za by pro ale jsou od jako k po které jeho byl "
    "jsem nebo který už ve při tak při být",
    "tr": "ve bir bu da de için ile çok olarak daha gibi olan kadar sonra en ne var ama "
    "o değil mi her ki ya oldu olduğu",
}

NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "sv": "Swedish",
    "pl": "Polish",
    "cs": "Czech",
    "tr": "Turkish",
}

# Words that no sentence ends with.
_DANGLING = {
    "en": "the a an of and or but from with by because which whose their his my our "
    "your than as at into for is are was were to if when while",
    "de": "der die den dem des ein eine einen einem einer und oder aber von mit für weil "
    "dass wenn im am zum zur bei durch über nach seine ihre",
    "fr": "le la les un une des du de et ou mais à au aux pour par dans que qui sur avec",
    "es": "el la los las un una de del y o pero para por con en que su sus al",
    "it": "il lo la i gli le un una di del della e o ma per con che nel alla",
    "pt": "o a os as um uma de do da e ou mas para por com em que no na",
    "nl": "de het een van en of maar met voor door dat bij naar te",
}

_RANGES = {
    "Latin": "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Arabic": "\u0620-\u064a\u066e-\u06d3\u0750-\u077f",
    "Hebrew": "\u05d0-\u05ea",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Hangul": "\u1100-\u11ff\uac00-\ud7af",
    "Kana": "\u3040-\u30ff",
    "Han": "\u3400-\u4dbf\u4e00-\u9fff",
}
_PATTERNS = {name: re.compile(f"[{points}]") for name, points in _RANGES.items()}

_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "bg", "mk", "be", "kk"), frozenset({"Cyrillic"})),
    "sr": frozenset({"Cyrillic", "Latin"}),
    "el": frozenset({"Greek"}),
    **dict.fromkeys(("ar", "fa", "ur"), frozenset({"Arabic"})),
    "he": frozenset({"Hebrew"}),
    **dict.fromkeys(("hi", "mr", "ne"), frozenset({"Devanagari"})),
    "th": frozenset({"Thai"}),
    "ko": frozenset({"Hangul", "Han"}),
    "ja": frozenset({"Kana", "Han"}),
    "zh": frozenset({"Han"}),
}

_WORD = re.compile(r"[^\W\d_]+")
_MIN_WORDS = 4
_MIN_LETTERS = 5


@cache
def small_words(language: str) -> frozenset[str]:
    """Return a language's commonest words; empty if the language is unknown."""
    return frozenset(_WORDS.get(language, "").split())


@cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for code in _WORDS:
        for word in small_words(code):
            languages[word] = (*languages.get(word, ()), code)
    return languages


@cache
def dangling_words(language: str) -> frozenset[str]:
    """Return words that a finished sentence does not end with.

    Examples
    --------
    >>> "the" in dangling_words("en")
    True
    """
    return frozenset(_DANGLING.get(language, "").split())


def script_of(text: str) -> str:
    """Return the script of most letters of a text.

    It is empty if there are fewer than five letters, or no script has 60% of them.

    Examples
    --------
    >>> script_of("It rains."), script_of("Идёт дождь."), script_of("42!")
    ('Latin', 'Cyrillic', '')
    """
    if text.isascii():  # most texts, and most of the running time
        return "Latin" if len(_PATTERNS["Latin"].findall(text)) >= _MIN_LETTERS else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _PATTERNS.items()}
    if counts["Kana"]:  # Japanese uses both
        counts["Kana"] += counts.pop("Han")
    total = sum(counts.values())
    name = max(counts, key=lambda script: counts[script])
    return name if total >= _MIN_LETTERS and counts[name] >= 0.6 * total else ""


def looks_like(text: str, language: str) -> str | None:
    """Return the different language that a text seems to be in.

    It is a language code or a script's name, ``""`` if the text seems to be in
    `language` (ISO 639-1), and None if the text is too short.
    """
    script = script_of(text)
    if not script:
        return None
    if script not in _SCRIPTS.get(language, frozenset({"Latin"})):
        return script
    words = _WORD.findall(text.lower())
    if script != "Latin" or len(words) < _MIN_WORDS or not small_words(language):
        return "" if script != "Latin" else None
    hits = dict.fromkeys(_WORDS, 0)
    languages = _languages_by_word()
    for word in words:
        for code in languages.get(word, ()):
            hits[code] += 1
    other = max((code for code in hits if code != language), key=lambda c: hits[c])
    # two small words, and more than twice as many as of its language: names have one
    foreign = hits[other] >= 2 and hits[other] > 2 * hits[language]
    return other if foreign else ""
