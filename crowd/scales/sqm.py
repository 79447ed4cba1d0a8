from __future__ import annotations

from crowd.scales.slider_100 import Slider100


class SQM(Slider100):
    """A continuous rating from 0 to 100 with seven points, 0 to 6, on the line.

    The points are those of the scalar quality metric; the words are ours.

    References
    ----------
    Kocmi et al. (2022), Findings of the 2022 Conference on Machine Translation (WMT22),
    section on DA+SQM.

    Examples
    --------
    >>> len(SQM.ticks), SQM.parse("83.3")
    (7, 83.3)
    """

    slug = "sqm"
    ticks = (
        "None of the meaning is there",
        "",
        "Some of the meaning is there; important parts are missing or wrong",
        "",
        "Most of the meaning is there, with few language mistakes",
        "",
        "All of the meaning is there, without language mistakes",
    )
    labels = {
        "de": (
            "Nichts von der Bedeutung ist da",
            "",
            "Ein Teil der Bedeutung ist da; Wichtiges fehlt oder ist falsch",
            "",
            "Das meiste der Bedeutung ist da, mit wenigen Sprachfehlern",
            "",
            "Die ganze Bedeutung ist da, ohne Sprachfehler",
        ),
        "fr": (
            "Rien du sens n’est rendu",
            "",
            "Une partie du sens est rendue ; des éléments importants manquent ou sont faux",
            "",
            "L’essentiel du sens est rendu, avec peu de fautes de langue",
            "",
            "Tout le sens est rendu, sans faute de langue",
        ),
        "es": (
            "No se conserva nada del significado",
            "",
            "Se conserva parte del significado; faltan partes importantes o son erróneas",
            "",
            "Se conserva la mayor parte del significado, con pocos errores de lengua",
            "",
            "Se conserva todo el significado, sin errores de lengua",
        ),
        "zh-hans": (
            "完全没有保留原意",
            "",
            "保留了部分原意；重要内容缺失或有误",
            "",
            "保留了大部分原意，语言错误很少",
            "",
            "完整保留原意，没有语言错误",
        ),
        "ar": (
            "لم يبقَ شيء من المعنى",
            "",
            "بقي بعض المعنى؛ أجزاء مهمة ناقصة أو خاطئة",
            "",
            "بقي معظم المعنى مع أخطاء لغوية قليلة",
            "",
            "بقي المعنى كاملًا بلا أخطاء لغوية",
        ),
        "hi": (
            "अर्थ का कुछ भी नहीं बचा",
            "",
            "अर्थ का कुछ भाग बचा है; महत्वपूर्ण बातें छूटी हैं या ग़लत हैं",
            "",
            "अर्थ का अधिकांश भाग बचा है, भाषा की थोड़ी ग़लतियाँ हैं",
            "",
            "पूरा अर्थ बचा है, भाषा की कोई ग़लती नहीं",
        ),
    }
