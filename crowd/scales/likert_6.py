from __future__ import annotations

from django.utils.translation import gettext_noop as _

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
        Option(1.0, _("1 – very bad"), "1"),
        Option(2.0, _("2 – bad"), "2"),
        Option(3.0, _("3 – rather bad"), "3"),
        Option(4.0, _("4 – rather good"), "4"),
        Option(5.0, _("5 – good"), "5"),
        Option(6.0, _("6 – very good"), "6"),
    )
    binary_threshold = 3.5
