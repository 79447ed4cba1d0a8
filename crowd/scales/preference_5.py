from __future__ import annotations

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
        Option(1.0, "Strongly prefer A", "1"),
        Option(0.75, "Prefer A", "2"),
        Option(0.5, "No preference", "3"),
        Option(0.25, "Prefer B", "4"),
        Option(0.0, "Strongly prefer B", "5"),
    )
    compares = True
