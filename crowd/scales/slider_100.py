from __future__ import annotations

from crowd.scales.base import Scale


class Slider100(Scale):
    """A continuous rating from 0 to 100 with nothing preselected.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel, Continuous Measurement Scales in Human Evaluation
    of Machine Translation, LAW 2013, section 3.

    Examples
    --------
    >>> Slider100.parse("62.5")
    62.5
    """

    slug = "slider-100"
    minimum = 0.0
    maximum = 100.0
    binary_threshold = 50.0
    slider = True
    ends = ("not at all", "completely")
    labels = {
        "de": ("gar nicht", "vollständig"),
        "fr": ("pas du tout", "entièrement"),
        "es": ("nada en absoluto", "por completo"),
        "zh-hans": ("完全没有", "完全"),
        "ar": ("لا شيء إطلاقًا", "بالكامل"),
        "hi": ("बिल्कुल नहीं", "पूरी तरह"),
    }
