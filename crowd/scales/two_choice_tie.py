from __future__ import annotations

from crowd.scales.base import Option, Scale
from crowd.scales.two_choice import TwoChoice


class TwoChoiceTie(Scale):
    """Which of two outputs is better, or neither. The rating is that of output A.

    Two-choice questions are put on this scale where their form allows a tie.

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
