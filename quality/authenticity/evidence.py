"""The evidence about one worker, in sentences with their errors. It makes no decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quality.authenticity.stats.colluders import (
    OnTests,
    Pairs,
    agreeing_pairs,
    better_on_tests,
)
from quality.authenticity.stats.likelihood_ratio import (
    Answers,
    Sign,
    Signs,
    assess_authenticity,
)

if TYPE_CHECKING:
    from quality.authenticity.selectors import Noticed

#: Pairs and workers below this adjusted p-value are reported.
LEVEL = 0.05
#: Standard errors of a 95% interval.
_WIDE = 1.96
#: Reading this many times faster than people is implausible.
_LENIENCE = 3


@dataclass(frozen=True)
class Line:
    about: str
    sentence: str
    unusual: bool = False


def crowd_evidence(
    answers: Answers, names: Sequence[str], tests: Sequence[tuple[int, int]], judge: str
) -> Callable[[int], list[Line]]:
    """Weigh a crowd's answers once; return a function that maps a worker to lines.

    Parameters
    ----------
    answers : Answers
        Of the whole crowd, without test questions.
    names : sequence of str
        The workers' pseudonyms, by code.
    tests : sequence of (int, int)
        Test questions right and asked, by code.
    judge : str
        The judge's name; empty if none is configured.
    """
    signs = assess_authenticity(answers)
    right, asked = (
        np.array(column, dtype=np.int64) for column in zip(*tests, strict=True)
    )
    tested = better_on_tests(answers, right, asked)
    pairs = agreeing_pairs(answers)

    def lines_of(who: int) -> list[Line]:
        return [
            _together(signs, who),
            _judge(signs, who, judge),
            _narrow(signs, who),
            _shared_line(signs, who),
            _agreement(tested, signs, who),
            _tests(tested, who, f"{right[who]} of {asked[who]} test questions right"),
            _pairs(pairs, who, names),
        ]

    return lines_of


def _agreement(tested: OnTests, signs: Signs, who: int) -> Line:
    quality = Sign(tested.z, tested.error, signs.narrow.n)
    others = f"; the crowd's median is {np.tanh(tested.centre):.2f}"
    return Line(
        "Agreement with other workers",
        f"The correlation with the other workers' answers is "
        f"{_correlation(quality, who)}{others if np.isfinite(tested.centre) else ''}.",
    )


def _tests(tested: OnTests, who: int, right: str) -> Line:
    about, p = "Test questions against other answers", tested.adjusted[who]
    if not np.isfinite(p):
        rest = "; too few, or too few right, to compare with the other answers."
    elif p < LEVEL:
        rest = (
            ", but the remaining answers follow the texts much less than those of workers who "
            f"were right as often (adjusted p {p:.3f})."
        )
    else:
        rest = (
            f"; that is no better than the other answers support (adjusted p {p:.3f})."
        )
    return Line(about, right + rest, bool(p < LEVEL))


def _together(signs: Signs, who: int) -> Line:
    ratio, error = float(signs.log_ratio[who]), float(signs.error[who])
    low, high = ratio - _WIDE * error, ratio + _WIDE * error
    return Line(
        "Signs of a program, combined",
        f"The answers are {_times(ratio)} as likely from a program as from a person "
        f"(95% interval {_times(low)} to {_times(high)}). The probability is "
        f"{signs.probability[who]:.2f}, if the assumptions hold.",
        bool(signs.unusual[who]),
    )


def _judge(signs: Signs, who: int, judge: str) -> Line:
    about = f"Similarity to {judge}" if judge else "Similarity to a judge"
    if not judge:
        return Line(about, "The task names no judge (`judge` in its [human] table).")
    if not np.isfinite(signs.judge.value[who]):
        return Line(about, "Too few answers to texts that the judge has scored.")
    return Line(
        about,
        f"Given the other workers' answers, the correlation with the judge's is "
        f"{_correlation(signs.judge, who)}; the crowd's center is "
        f"{np.tanh(signs.centres['judge']):.2f}.",
        _is_far(signs.judge, who, signs.centres["judge"], signs.spreads["judge"], 1),
    )


def _narrow(signs: Signs, who: int) -> Line:
    about = "Narrowness"
    value, error = signs.narrow.value[who], signs.narrow.error[who]
    if not np.isfinite(value):
        return Line(about, "Too few answers.")
    apart = value - signs.centres["narrow"]
    # Half a difference of log variances is a difference of log standard deviations.
    shown = [
        np.exp(x / 2) for x in (apart, apart - _WIDE * error, apart + _WIDE * error)
    ]
    return Line(
        about,
        f"Relative to the texts' quality, the answers vary {shown[0]:.2f} times as much as the "
        f"crowd's (95% interval {shown[1]:.2f} to {shown[2]:.2f}). A program's often "
        "vary less than people's.",
        _is_far(
            signs.narrow, who, signs.centres["narrow"], signs.spreads["narrow"], -1
        ),
    )


def _shared_line(signs: Signs, who: int) -> Line:
    about = "Similarity to workers under suspicion"
    if not np.isfinite(signs.shared.value[who]):
        return Line(about, "Too few texts in common with workers under suspicion.")
    return Line(
        about,
        f"Beyond text quality and the judge's scores, the correlation with workers "
        f"under suspicion is {_correlation(signs.shared, who)}; the "
        f"crowd's center is {np.tanh(signs.centres['shared']):.2f}.",
        _is_far(signs.shared, who, signs.centres["shared"], signs.spreads["shared"], 1),
    )


def _pairs(pairs: Pairs, who: int, names: Sequence[str]) -> Line:
    of_them = (pairs.first == who) | (pairs.second == who)
    named = []
    for k in np.flatnonzero(of_them & (pairs.adjusted < LEVEL)):
        other = pairs.second[k] if pairs.first[k] == who else pairs.first[k]
        named.append(
            f"{names[other]} ({pairs.n[k]} texts, correlation {np.tanh(pairs.z[k]):.2f}, "
            f"adjusted p {pairs.adjusted[k]:.3f})"
        )
    n = int(of_them.sum())
    seen = ", ".join(named) if named else "no other worker"
    return Line(
        "Agreement beyond quality, pair by pair",
        f"Compared with {n} workers who answered at least six of the same texts; this "
        f"worker agrees beyond text quality with {seen}. The crowd's median correlation of pairs is "
        f"{np.tanh(pairs.centre):.2f}.",
        bool(named),
    )


def page_evidence(noticed: Noticed) -> list[Line]:
    """Describe the pages' records: time, focus, copies, pastes, the hidden field."""
    return [_time(noticed), _counts(noticed), _canary(noticed)]


def _time(noticed: Noticed) -> Line:
    about = "Time"
    if not noticed.seconds:
        return Line(about, "No page recorded times.")
    middle, low, high = median_interval(noticed.seconds)
    reading = float(np.median(noticed.reading))
    sentence = (
        f"A median of {middle:.1f} seconds per HIT (95% interval {low:.1f} to {high:.1f}, "
        f"{len(noticed.seconds)} HITs); its texts take {reading:.1f} seconds to read"
    )
    if noticed.others_seconds:
        sentence += f", and other workers take {np.median(noticed.others_seconds):.1f}"
    if noticed.first_change:
        sentence += f"; the first answer comes after {np.median(noticed.first_change):.0f} seconds"
    unusual = len(noticed.seconds) >= 5 and high < reading / _LENIENCE
    return Line(about, f"{sentence}.", unusual)


def _counts(noticed: Noticed) -> Line:
    about = "Focus, copies and pastes"
    if not noticed.n_pages:
        return Line(
            about,
            "No page recorded these: JavaScript was off, or a platform showed the page.",
        )
    words = {
        "n_focus_losses": "left the page",
        "n_copies": "copied",
        "n_pastes": "pasted",
        "n_changes": "chose or changed an answer",
    }
    parts = [
        f"{word} {noticed.per_hit[name]:.2f} times per HIT (other workers: "
        f"{noticed.others_per_hit[name]:.2f})"
        for name, word in words.items()
    ]
    unusual = noticed.n_pages >= 5 and any(
        noticed.per_hit[name] > 0.5
        and noticed.per_hit[name] > 4 * noticed.others_per_hit[name]
        for name in ("n_focus_losses", "n_copies", "n_pastes")
    )
    return Line(
        about,
        f"On {noticed.n_pages} pages: {', '.join(parts)}. Dictionaries, phones, "
        f"screen readers and the Tab key also leave a page.",
        unusual,
    )


def _canary(noticed: Noticed) -> Line:
    return Line(
        "Field that only programs find",
        f"A program's word was entered on {noticed.n_canaries} of "
        f"{noticed.n_pages} pages that record it."
        if noticed.n_canaries
        else "Never filled in, or the task does not use it.",
        noticed.n_canaries > 0,
    )


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median and its 95% interval from order statistics.

    References
    ----------
    W. J. Conover, "Practical Nonparametric Statistics" (3rd ed., 1999), section 3.2.

    Examples
    --------
    >>> median_interval([3.0])
    (3.0, 3.0, 3.0)
    >>> median_interval(list(range(1, 101)))
    (50.5, 41.0, 61.0)
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = ordered.size
    reach = _WIDE * np.sqrt(n) / 2
    low = max(int(np.ceil(n / 2 - reach)) - 1, 0)
    high = min(int(np.ceil(n / 2 + reach + 1)) - 1, n - 1)
    return float(np.median(ordered)), float(ordered[low]), float(ordered[high])


def summary(lines_by_pool: Mapping[Any, Sequence[Line]]) -> str:
    lines = [line for some in lines_by_pool.values() for line in some]
    if not lines:
        return ""
    n = sum(line.unusual for line in lines)
    return (
        f"{n} of {len(lines)} pieces of evidence {'is' if n == 1 else 'are'} unusual."
    )


def _correlation(sign: Sign, who: int) -> str:
    z, error = float(sign.value[who]), float(sign.error[who])
    if not np.isfinite(z):
        return "unknown (too few answers)"
    low, high = np.tanh(z - _WIDE * error), np.tanh(z + _WIDE * error)
    return f"{np.tanh(z):.2f} (95% interval {low:.2f} to {high:.2f}, {sign.n[who]} answers)"


def _is_far(sign: Sign, who: int, centre: float, spread: float, side: int) -> bool:
    scale = float(np.hypot(sign.error[who], spread))
    # 2.58 standard deviations: one person in two hundred, on this side
    return bool(side * (sign.value[who] - centre) > 2.58 * scale)


def _times(log_ratio: float) -> str:
    ratio = float(np.exp(np.clip(log_ratio, -9, 9)))
    return f"{ratio:.3g} times"
