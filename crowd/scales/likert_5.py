from __future__ import annotations

from django.utils.translation import gettext_noop as _

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
        Option(1.0, _("Strongly agree"), "5"),
        Option(0.75, _("Agree"), "4"),
        Option(0.5, _("Neutral"), "3"),
        Option(0.25, _("Disagree"), "2"),
        Option(0.0, _("Strongly disagree"), "1"),
    )
