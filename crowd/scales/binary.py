from __future__ import annotations

from django.utils.translation import gettext_noop as _

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
    options = (Option(1.0, _("Agree"), "1"), Option(0.0, _("Disagree"), "2"))
