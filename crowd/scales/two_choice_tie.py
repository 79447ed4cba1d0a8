from __future__ import annotations

from django.utils.translation import gettext_noop as _

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
    options = (*TwoChoice.options, Option(0.5, _("Neither is better"), "3", "tie"))
    compares = True
