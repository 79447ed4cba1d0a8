from __future__ import annotations

from crowd.scales.base import Option, Scale


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
