"""Scales of few options: agreement, preference, and choice between two outputs."""

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


class Preference5(Scale):
    """Preference between two outputs in five steps. The rating is that of output A.

    References
    ----------
    Khashabi et al., GENIE: Toward Reproducible and Standardized Human Evaluations for
    Text Generation, EMNLP 2022, figure 4 d.

    Examples
    --------
    >>> Preference5.parse("0.5")
    0.5
    """

    slug = "preference-5"
    options = (
        Option(1.0, "Strongly prefer A", "1"),
        Option(0.75, "Prefer A", "2"),
        Option(0.5, "No preference", "3"),
        Option(0.25, "Prefer B", "4"),
        Option(0.0, "Strongly prefer B", "5"),
    )
    labels = {
        "de": (
            *("Ziehe A deutlich vor", "Ziehe A vor", "Keine Präferenz"),
            *("Ziehe B vor", "Ziehe B deutlich vor"),
        ),
        "fr": (
            *("Nette préférence pour A", "Préférence pour A", "Pas de préférence"),
            *("Préférence pour B", "Nette préférence pour B"),
        ),
        "es": (
            *("Prefiero claramente A", "Prefiero A", "Sin preferencia"),
            *("Prefiero B", "Prefiero claramente B"),
        ),
        "zh-hans": (
            *("明显更喜欢 A", "更喜欢 A", "没有偏好", "更喜欢 B", "明显更喜欢 B"),
        ),
        "ar": (
            *("أفضّل A بشدة", "أفضّل A", "لا أفضّل أيًّا منهما"),
            *("أفضّل B", "أفضّل B بشدة"),
        ),
        "hi": (
            *("A कहीं बेहतर है", "A बेहतर है", "दोनों बराबर हैं"),
            *("B बेहतर है", "B कहीं बेहतर है"),
        ),
    }
    compares = True


class TwoChoice(Scale):
    """Which of two outputs is better; no tie. The rating is that of output A.

    A page sends the slot of the chosen output.

    References
    ----------
    Thorleiksdóttir et al., Dynamic Human Evaluation for Relative Model Comparisons,
    LREC 2022, section 3.

    Examples
    --------
    >>> [(option.label, option.value) for option in TwoChoice.options]
    [('A is better', 1.0), ('B is better', 0.0)]
    >>> TwoChoice.parse("B")
    0.0
    """

    slug = "two-choice"
    options = (
        Option(1.0, "A is better", "1", "A"),
        Option(0.0, "B is better", "2", "B"),
    )
    labels = {
        "de": ("A ist besser", "B ist besser"),
        "fr": ("A est meilleur", "B est meilleur"),
        "es": ("A es mejor", "B es mejor"),
        "zh-hans": ("A 更好", "B 更好"),
        "ar": ("A أفضل", "B أفضل"),
        "hi": ("A बेहतर है", "B बेहतर है"),
    }
    compares = True


class TwoChoiceTie(Scale):
    """Which of two outputs is better, or neither. The rating is that of output A.

    Two-choice questions use this scale if their form allows a tie.

    References
    ----------
    Novikova, Dušek and Rieser, RankME: Reliable Human Ratings for Natural Language
    Generation, NAACL 2018, section 5 (wins, losses and ties).

    Examples
    --------
    >>> TwoChoiceTie.parse("tie")
    0.5
    """

    slug = "two-choice-tie"
    options = (*TwoChoice.options, Option(0.5, "Neither is better", "3", "tie"))
    labels = {
        "de": (*TwoChoice.labels["de"], "Keiner ist besser"),
        "fr": (*TwoChoice.labels["fr"], "Aucun n’est meilleur"),
        "es": (*TwoChoice.labels["es"], "Ninguno es mejor"),
        "zh-hans": (*TwoChoice.labels["zh-hans"], "不分高下"),
        "ar": (*TwoChoice.labels["ar"], "كلاهما متساويان"),
        "hi": (*TwoChoice.labels["hi"], "कोई भी बेहतर नहीं है"),
    }
    compares = True
