from __future__ import annotations

from django.utils.translation import gettext_noop as _

from crowd.scales.base import Option, Scale


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
        Option(1.0, _("Strongly prefer A"), "1"),
        Option(0.75, _("Prefer A"), "2"),
        Option(0.5, _("No preference"), "3"),
        Option(0.25, _("Prefer B"), "4"),
        Option(0.0, _("Strongly prefer B"), "5"),
    )
    compares = True
