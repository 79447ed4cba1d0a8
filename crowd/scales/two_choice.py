from __future__ import annotations

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
