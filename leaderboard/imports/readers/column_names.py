"""Parse the column names of wide tables: `1_red_fluency`, `Q12_sysA_item3_quality`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from genie.lib.errors import GenieError

#: The parts of a pattern; `{}` is a part without meaning.
PARTS = ("system", "instance", "criterion")
_FIELD = re.compile(r"\{(\w*)(\*?)\}")
_SEPARATORS = "_-.:|/ "
_CUT = re.compile(rf"[{re.escape(_SEPARATORS)}]+")
_MOST = 200  # characters of a pattern
_QUESTION = re.compile(r"q(id)?\d+", re.IGNORECASE)
_SYSTEM = re.compile(r"(sys|system|model|mod|output|out)[\w]*", re.IGNORECASE)
_INSTANCE = re.compile(
    r"(item|instance|seg|segment|sent|sentence|doc|ex|example|text|input|story|page|i|s|t)?\d+",
    re.IGNORECASE,
)
_CRITERIA = frozenset(
    [
        "accuracy",
        "adequacy",
        "appropriateness",
        "clarity",
        "coherence",
        "consistency",
        "correctness",
        "engagement",
        "engaging",
        "faithfulness",
        "factuality",
        "fluency",
        "grammar",
        "grammaticality",
        "helpfulness",
        "humanness",
        "informativeness",
        "interestingness",
        "likability",
        "meaning",
        "naturalness",
        "overall",
        "preference",
        "quality",
        "readability",
        "relevance",
        "safety",
        "sense",
        "style",
        "usefulness",
        "understandability",
        "nat",
        "inf",
        "qual",
        "flu",
        "ade",
        "adq",
        "coh",
        "con",
        "rel",
    ]
)
# Fewer columns of one form may be chance.
_FEW = 4


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern such as `{instance}_{system}_{criterion}` as an expression.

    `PARTS` are in braces. A part does not contain the marks that separate parts in the
    pattern, unless a star follows its name: `{system*}`. The error is "bad-pattern".
    """
    names = [name for name, _ in _FIELD.findall(pattern) if name]
    unknown = set(names) - set(PARTS)
    if len(pattern) > _MOST or unknown or len(names) > len(set(names)):
        raise GenieError(
            f"A pattern has {{system}}, {{instance}} and {{criterion}}, each at most once, "
            f"and {{}}; {pattern[:60]!r} has not.",
            code="bad-pattern",
        )
    if "system" not in names:
        raise GenieError(
            "The pattern has no {system}: nothing can be compared.", code="bad-pattern"
        )
    literals = _FIELD.sub("", pattern)
    marks = "".join(sorted({mark for mark in literals if mark in _SEPARATORS}))
    one = rf"[^{re.escape(marks)}]+" if marks else ".+"
    parts, end = [], 0
    for match in _FIELD.finditer(pattern):
        parts.append(re.escape(pattern[end : match.start()]))
        inner = ".+?" if match[2] else one
        parts.append(f"(?P<{match[1]}>{inner})" if match[1] else f"(?:{inner})")
        end = match.end()
    return re.compile("".join(parts) + re.escape(pattern[end:]))


def guessed(columns: Sequence[str]) -> str:
    """Guess the pattern of most columns; "" if there is none."""
    shapes = Counter(_shape(column) for column in columns)
    for shape, n in shapes.most_common(3):
        if n < _FEW or len(shape) not in (2, 3, 4):
            continue
        alike = [column for column in columns if _shape(column) == shape]
        names = _named([_tokens(column) for column in alike])
        if names:
            fields = ["{" + names.get(k, "") + "}" for k in range(len(shape))]
            pattern = "".join(a + b for a, b in zip(shape, fields, strict=True))
            return pattern
    return ""


def _tokens(column: str) -> list[str]:
    return _CUT.split(column.strip())


def _shape(column: str) -> tuple[str, ...]:
    return ("", *_CUT.findall(column.strip()))


def _named(rows: Sequence[Sequence[str]]) -> Mapping[int, str]:
    columns = dict(enumerate(zip(*rows, strict=True)))
    for k, tokens in list(columns.items()):
        # the number of a question in the questionnaire
        numbered = all(_QUESTION.fullmatch(token) for token in tokens)
        if numbered and len(columns) > 2:
            del columns[k]
    names: dict[int, str] = {}
    kinds = (
        ("criterion", _is_criterion),
        ("instance", _is_instance),
        ("system", _is_system),
    )
    for name, fits in kinds:
        best = max(
            (k for k in columns if k not in names),
            key=lambda k: (
                sum(map(fits, columns[k])) / len(columns[k]),
                k == max(columns),
            ),
            default=None,
        )
        n = 0 if best is None else sum(map(fits, columns[best]))
        # criteria have many names, of which one that is known is enough
        if best is not None and n * (20 if name == "criterion" else 2) > len(
            columns[best]
        ):
            names[best] = name
    if not names:
        return {}  # any table has columns of two words
    for name in ("instance", "system", "criterion"):
        left = [k for k in columns if k not in names]
        if name not in names.values() and left:
            # there are more instances than systems, and criteria come last
            pick = max if name == "instance" else min
            chosen = pick(left, key=lambda k: len(set(columns[k])))
            names[left[-1] if name == "criterion" else chosen] = name
    where = {name: k for k, name in names.items()}
    if "system" not in where or len(set(columns[where["system"]])) < 2:
        return {}
    meant = set(zip(*(columns[k] for k in sorted(names)), strict=True))
    return names if len(meant) == len(rows) else {}


def _is_criterion(token: str) -> bool:
    return token.lower() in _CRITERIA


def _is_instance(token: str) -> bool:
    return _INSTANCE.fullmatch(token) is not None


def _is_system(token: str) -> bool:
    return _SYSTEM.fullmatch(token) is not None
