from __future__ import annotations

from django.utils.translation import gettext_noop as _

from crowd.scales.base import Option, Scale


class TwoChoice(Scale):
    """Which of two outputs is better; no tie. The rating is that of output A.

    A page sends the slot of the output that was chosen.

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
        Option(1.0, _("A is better"), "1", "A"),
        Option(0.0, _("B is better"), "2", "B"),
    )
    compares = True
