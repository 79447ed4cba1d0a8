from __future__ import annotations

from crowd.scales.base import Scale


class MQM(Scale):
    """A score that is counted from marked errors: 0 without any, lower with each.

    Nothing is asked beside the marks. What an error takes off, its severity and category
    say; there is no lower end.

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL, section 3.2.

    Examples
    --------
    >>> MQM.parse("-5.1")
    -5.1
    """

    slug = "mqm"
    # the weight of a text that is no translation at all; sums may go beyond
    minimum = -25.0
    maximum = 0.0
    # good: less than one major error
    binary_threshold = -5.0
    counted = True

    @classmethod
    def parse(cls, raw: str) -> float:
        """Take a sum of penalties, however low."""
        try:
            number = float(raw.strip())
        except ValueError:
            raise cls._refusal(raw) from None
        if not float("-inf") < number <= cls.maximum:
            raise cls._refusal(raw)
        return number + 0.0
