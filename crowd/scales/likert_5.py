from __future__ import annotations

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
