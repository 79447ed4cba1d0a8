"""The language of texts, by their script or their most frequent words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

_SCRIPTS = {
    **{"CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "THAI": "th"},
    **{"GREEK": "el", "HEBREW": "he", "GEORGIAN": "ka", "ARMENIAN": "hy", "LAO": "lo"},
    **{"BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te", "GUJARATI": "gu", "KHMER": "km"},
    **{"KANNADA": "kn", "MALAYALAM": "ml", "GURMUKHI": "pa", "SINHALA": "si"},
}
# Of languages that share a script: words that one text in ten words has.
_WORDS = {
    "en": "the and of to a in is that it for with was are this not what about on be",
    "de": "der die das und ist nicht ein eine mit von zu den auf für im es sich was wie",
    "fr": "le la les et est un une des dans pas que pour du qui au sur il elle ce",
    "es": "el la los las y es un una que en del por con para no se qué su al",
    "pt": "o os as e é um uma que em do da não por com para se no na ao",
    "it": "il lo la gli e è un una che di del della non per con si sono nel anche",
    "nl": "de het een en is van dat niet in op te met voor zijn er aan ook wat",
    "sv": "och att det är en ett som på inte för med av den jag har till i",
    "da": "og at det er en et som på ikke for med af den jeg har til i der",
    "no": "og å det er en et som på ikke for med av den jeg har til i",
    "fi": "ja on ei se että hän oli mutta kun niin joka myös ovat mitä sen",
    "is": "og að er í það sem ekki á við hann var til með fyrir um en",
    "pl": "i w na nie się z do jest to że co jak po ale dla od przez",
    "cs": "a se na je že v to ne s z do o jak ale pro by jsou jsem také",
    "sk": "a sa na je že v to nie s z do o ako ale pre by sú som tiež",
    "hr": "i je u da se na za su od nije što s kao ali koji bi to",
    "sl": "in je v da se na za so ni pa z kot ali ki bi to kaj",
    "hu": "a az és hogy nem egy is van ez de volt meg csak mi kell",
    "ro": "și de la în a nu este cu un o pe care că din mai sunt",
    "et": "ja on ei et see oli ka kui ta mis aga oma seda ning",
    "lv": "un ir no ka ar par uz kas bet nav tas arī lai pie vai",
    "lt": "ir yra kad į su ne iš tai kaip bet už buvo apie jis o",
    "tr": "ve bir bu da de için ile ne çok mi olarak daha gibi var değil",
    "vi": "là và của có không được cho một trong các người với đã này",
    "id": "yang dan di itu dengan untuk tidak ini dari dalam adalah akan pada ke",
    "ru": "и в не на что с как это он по из но к у я для от был",
    "uk": "і в не на що з як це він та до у я для від але був є",
    "bg": "и в не на че с да се е за от са по но като това",
    "ar": "في من على إلى أن هذا ما لا عن مع هو التي كان هذه",
    "fa": "در به از که و این را با است برای آن یک می شود",
    "ur": "کے میں ہے کی اور کا سے کو نے یہ پر ہیں نہیں",
    "hi": "है के में की और का को से पर ने यह हैं नहीं क्या",
    "mr": "आहे आणि च्या मध्ये या ते तो हे आहेत नाही काय एक",
}
_ONE = re.compile(r"[^\s\d.,;:!?…\"'’“”„«»()\[\]<>{}|/\\=+*#_।؟،-]+")
_LOOKED_AT = 200
_FREQUENT = {name: words.split() for name, words in _WORDS.items()}
_N_LANGUAGES = Counter(word for words in _FREQUENT.values() for word in words)


def language_of(texts: Sequence[str]) -> str:
    """Guess the language of texts together; empty if they are short or mixed."""
    text = " ".join(one[:_LOOKED_AT] for one in texts[:_LOOKED_AT]).lower()
    letters = [one for one in text if one.isalpha()]
    names = (unicodedata.name(one, "").partition(" ")[0] for one in letters)
    scripts = Counter(_SCRIPTS.get(name, "") for name in names)
    # Japanese has Chinese characters, too
    kana = scripts.pop("ja", 0)
    scripts["zh"] += kana
    script, n = max(scripts.items(), key=itemgetter(1))
    if script and 2 * n > len(letters):
        return "ja" if script == "zh" and 10 * kana > n else script
    words = Counter(_ONE.findall(text))
    weights = {
        name: sum(words[word] / _N_LANGUAGES[word] for word in frequent)
        for name, frequent in _FREQUENT.items()
    }
    (first, most), (_, second) = sorted(weights.items(), key=itemgetter(1))[:-3:-1]
    clear = most >= max(2, words.total() / 12) and most > 1.5 * second
    return first if clear else ""
