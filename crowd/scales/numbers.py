"""Scales of numbers: sliders, magnitudes and penalties of marked errors."""

from typing import ClassVar

from crowd.scales.base import Option, Scale


class Magnitude(Scale):
    """How many times as good as a reference output with the value 100.

    The worker enters any positive number; the rating is its ratio to 100, or to the
    item's value of its reference output.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 3.

    Examples
    --------
    >>> Magnitude.parse("250")
    2.5
    """

    slug = "magnitude"
    ANCHOR: ClassVar[float] = 100.0
    minimum = 0.01
    maximum = 1_000_000.0
    step = 0.01
    binary_threshold = 1.0
    relative = True

    @classmethod
    def rating(cls, number: float) -> float:
        """Return the ratio of the worker's number to 100.

        Examples
        --------
        >>> Magnitude.rating(50)
        0.5
        """
        return number / cls.ANCHOR


class MQM(Scale):
    """A score computed from marked errors: 0 without any, lower with each.

    Workers only mark errors. The penalty of an error depends on its severity and
    category; there is no minimum.

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL, section 3.2.

    Examples
    --------
    >>> MQM.parse("-5.1")
    -5.1
    """

    slug = "mqm"
    # The weight of a text that is no translation at all; sums may be lower.
    minimum = -25.0
    maximum = 0.0
    # good: less than one major error
    binary_threshold = -5.0
    counted = True

    @classmethod
    def parse(cls, raw: str) -> float:
        """Accept a sum of penalties, however low."""
        try:
            number = float(raw.strip())
        except ValueError:
            raise cls._refusal(raw) from None
        if not float("-inf") < number <= cls.maximum:
            raise cls._refusal(raw)
        return number + 0.0


class Slider100(Scale):
    """A continuous rating from 0 to 100 without a preselected value.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel, Continuous Measurement Scales in Human Evaluation
    of Machine Translation, LAW 2013, section 3.

    Examples
    --------
    >>> Slider100.parse("62.5")
    62.5
    """

    slug = "slider-100"
    minimum = 0.0
    maximum = 100.0
    binary_threshold = 50.0
    slider = True
    ends = ("not at all", "completely")
    labels = {
        "de": ("gar nicht", "vollständig"),
        "fr": ("pas du tout", "entièrement"),
        "es": ("nada en absoluto", "por completo"),
        "zh-hans": ("完全没有", "完全"),
        "ar": ("لا شيء إطلاقًا", "بالكامل"),
        "hi": ("बिल्कुल नहीं", "पूरी तरह"),
    }


class SQM(Slider100):
    """A continuous rating from 0 to 100 with seven points, 0 to 6, on the line.

    The points are those of the scalar quality metric; the words are ours.

    References
    ----------
    Kocmi et al. (2022), Findings of the 2022 Conference on Machine Translation (WMT22),
    section on DA+SQM.

    Examples
    --------
    >>> len(SQM.ticks), SQM.parse("83.3")
    (7, 83.3)
    """

    slug = "sqm"
    ticks = (
        "None of the meaning is there",
        "",
        "Some of the meaning is there; important parts are missing or wrong",
        "",
        "Most of the meaning is there, with few language mistakes",
        "",
        "All of the meaning is there, without language mistakes",
    )
    labels = {
        "de": (
            "Nichts von der Bedeutung ist da",
            "",
            "Ein Teil der Bedeutung ist da; Wichtiges fehlt oder ist falsch",
            "",
            "Das meiste der Bedeutung ist da, mit wenigen Sprachfehlern",
            "",
            "Die ganze Bedeutung ist da, ohne Sprachfehler",
        ),
        "fr": (
            "Rien du sens n’est rendu",
            "",
            "Une partie du sens est rendue ; des éléments importants manquent ou sont faux",
            "",
            "L’essentiel du sens est rendu, avec peu de fautes de langue",
            "",
            "Tout le sens est rendu, sans faute de langue",
        ),
        "es": (
            "No se conserva nada del significado",
            "",
            "Se conserva parte del significado; faltan partes importantes o son erróneas",
            "",
            "Se conserva la mayor parte del significado, con pocos errores de lengua",
            "",
            "Se conserva todo el significado, sin errores de lengua",
        ),
        "zh-hans": (
            "完全没有保留原意",
            "",
            "保留了部分原意；重要内容缺失或有误",
            "",
            "保留了大部分原意，语言错误很少",
            "",
            "完整保留原意，没有语言错误",
        ),
        "ar": (
            "لم يبقَ شيء من المعنى",
            "",
            "بقي بعض المعنى؛ أجزاء مهمة ناقصة أو خاطئة",
            "",
            "بقي معظم المعنى مع أخطاء لغوية قليلة",
            "",
            "بقي المعنى كاملًا بلا أخطاء لغوية",
        ),
        "hi": (
            "अर्थ का कुछ भी नहीं बचा",
            "",
            "अर्थ का कुछ भाग बचा है; महत्वपूर्ण बातें छूटी हैं या ग़लत हैं",
            "",
            "अर्थ का अधिकांश भाग बचा है, भाषा की थोड़ी ग़लतियाँ हैं",
            "",
            "पूरा अर्थ बचा है, भाषा की कोई ग़लती नहीं",
        ),
    }


# Likert scales: labeled or numbered steps from bad to good.
class Likert5(Scale):
    """Agreement with a statement in five steps, 1 to 0 in quarters.

    References
    ----------
    Khashabi et al., GENIE: Toward Reproducible and Standardized Human Evaluations for
    Text Generation, EMNLP 2022, section 4.

    Examples
    --------
    >>> [option.value for option in Likert5.options]
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """

    slug = "likert-5"
    options = (
        Option(1.0, "Strongly agree", "5"),
        Option(0.75, "Agree", "4"),
        Option(0.5, "Neutral", "3"),
        Option(0.25, "Disagree", "2"),
        Option(0.0, "Strongly disagree", "1"),
    )
    labels = {
        "de": (
            *("Stimme voll zu", "Stimme eher zu", "Teils, teils"),
            *("Stimme eher nicht zu", "Stimme gar nicht zu"),
        ),
        "fr": (
            *("Tout à fait d’accord", "D’accord", "Ni d’accord ni pas d’accord"),
            *("Pas d’accord", "Pas du tout d’accord"),
        ),
        "es": (
            *("Totalmente de acuerdo", "De acuerdo"),
            "Ni de acuerdo ni en desacuerdo",
            *("En desacuerdo", "Totalmente en desacuerdo"),
        ),
        "zh-hans": ("非常同意", "同意", "中立", "不同意", "非常不同意"),
        "ar": ("أوافق بشدة", "أوافق", "محايد", "لا أوافق", "لا أوافق بشدة"),
        "hi": (
            *("पूरी तरह सहमत", "सहमत", "न सहमत, न असहमत"),
            *("असहमत", "पूरी तरह असहमत"),
        ),
    }


class Likert6(Scale):
    """Six numbered steps from very bad to very good, without a middle.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 3.

    Examples
    --------
    >>> Likert6.parse("6"), Likert6.binary_threshold
    (6.0, 3.5)
    """

    slug = "likert-6"
    options = (
        Option(1.0, "1 – very bad", "1"),
        Option(2.0, "2 – bad", "2"),
        Option(3.0, "3 – rather bad", "3"),
        Option(4.0, "4 – rather good", "4"),
        Option(5.0, "5 – good", "5"),
        Option(6.0, "6 – very good", "6"),
    )
    labels = {
        "de": (
            *("1 – sehr schlecht", "2 – schlecht", "3 – eher schlecht"),
            *("4 – eher gut", "5 – gut", "6 – sehr gut"),
        ),
        "fr": (
            *("1 – très mauvais", "2 – mauvais", "3 – plutôt mauvais"),
            *("4 – plutôt bon", "5 – bon", "6 – très bon"),
        ),
        "es": (
            *("1 – muy malo", "2 – malo", "3 – más bien malo"),
            *("4 – más bien bueno", "5 – bueno", "6 – muy bueno"),
        ),
        "zh-hans": (
            *("1 – 很差", "2 – 差", "3 – 较差", "4 – 较好", "5 – 好", "6 – 很好"),
        ),
        "ar": (
            *("1 – سيئ جدًا", "2 – سيئ", "3 – أقرب إلى السيئ"),
            *("4 – أقرب إلى الجيد", "5 – جيد", "6 – جيد جدًا"),
        ),
        "hi": (
            *("1 – बहुत ख़राब", "2 – ख़राब", "3 – कुछ ख़राब"),
            *("4 – कुछ अच्छा", "5 – अच्छा", "6 – बहुत अच्छा"),
        ),
    }
    binary_threshold = 3.5
