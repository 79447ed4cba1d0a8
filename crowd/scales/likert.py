"""Likert scales: labeled or numbered steps from bad to good."""

from crowd.scales.base import Option, Scale


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
