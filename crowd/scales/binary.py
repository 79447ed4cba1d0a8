from __future__ import annotations

from crowd.scales.base import Option, Scale


class Binary(Scale):
    """Agreement with a statement, yes or no.

    References
    ----------
    Khashabi et al., GENIE: Toward Reproducible and Standardized Human Evaluations for
    Text Generation, EMNLP 2022, section 4.

    Examples
    --------
    >>> Binary.parse("1")
    1.0
    """

    slug = "binary"
    options = (Option(1.0, "Agree", "1"), Option(0.0, "Disagree", "2"))
    labels = {
        "de": ("Stimme zu", "Stimme nicht zu"),
        "fr": ("D’accord", "Pas d’accord"),
        "es": ("De acuerdo", "En desacuerdo"),
        "zh-hans": ("同意", "不同意"),
        "ar": ("أوافق", "لا أوافق"),
        "hi": ("सहमत", "असहमत"),
    }
