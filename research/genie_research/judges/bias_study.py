"""Scripted judges with one bias each: the audit's power and false alarms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.blinding import FEATURES, style_of
from leaderboard.stats.intervals import Floats
from leaderboard.stats.judges.bias import (
    Effect,
    Finding,
    injection_effect,
    order_effect,
    settle,
    text_effects,
)
from leaderboard.stats.judges.injections import plant_probe, probes

#: The size of each bias: points, or a share of verdicts for the first shown.
PLANTED = {
    "none": 0.0,
    "order": 0.15,
    "length": 0.3,
    "style": 0.4,
    "own family": 0.5,
    "injection": 1.0,
}
# a judge on a different scale than people, and with noise
_SCALE, _NOISE = 0.7, 0.6
_OWN = 2
_ASKS = re.compile(r"(?i)rate this|highest score|best score|full marks|\"score\"")


@dataclass(frozen=True)
class BiasStudy:
    """How often an audit finds the planted bias of one scripted judge.

    Parameters
    ----------
    planted : str
        One of `PLANTED`.
    power : float or None
        Share of audits that found it; None without a planted bias.
    false_alarms : float
        Share of audits with a finding that was not planted.
    estimate : float or None
        Mean estimate of the planted bias; None without.
    example : list of Finding
        The first audit.
    """

    planted: str
    n_audits: int
    power: float | None
    false_alarms: float
    estimate: float | None
    example: list[Finding]


@dataclass(frozen=True)
class _Outputs:
    texts: list[str]
    quality: Floats
    system: npt.NDArray[np.intp]
    instance: npt.NDArray[np.intp]
    length: Floats
    style: Floats
    ratings: Floats


def study_biases(
    n_audits: int, *, seed: int, n_systems: int = 8, n_instances: int = 60
) -> list[BiasStudy]:
    """Audit scripted judges, one result for each of `PLANTED`.

    Two people rate each output; commands are tried on one output of each instance, and
    one pair of each is rated in both orders.
    """
    found: dict[str, list[list[Finding]]] = {name: [] for name in PLANTED}
    for number in range(n_audits):
        rng = np.random.default_rng([seed, number])
        outputs = _outputs(rng, n_systems, n_instances)
        for name in PLANTED:
            found[name].append(settle(_audit(outputs, name, rng)))
    return [_summary(name, audits) for name, audits in found.items()]


def _outputs(rng: np.random.Generator, n_systems: int, n_instances: int) -> _Outputs:
    system, instance = (
        each.ravel() for each in np.indices((n_systems, n_instances), dtype=np.intp)
    )
    n = len(system)
    quality = rng.normal(0, 0.5, n_systems)[system] + rng.normal(0, 1, n)
    words = np.exp(4 + 0.35 * rng.normal(size=n) + 0.1 * quality).astype(int) + 3
    marked = rng.random(n) < 0.3
    texts = [
        "\n- ".join([" ".join(["word"] * (k // 3))] * 3) if lists else "word " * k
        for k, lists in zip(words.tolist(), marked.tolist(), strict=True)
    ]
    surface = np.array([style_of(text) for text in texts])
    return _Outputs(
        texts,
        quality,
        system,
        instance,
        surface[:, FEATURES.index("length")],
        (surface[:, FEATURES.index("lists and markup")] > 0).astype(np.float64),
        quality[:, None] + rng.normal(0, 0.8, (n, 2)),
    )


def _audit(outputs: _Outputs, planted: str, rng: np.random.Generator) -> list[Effect]:
    amount = PLANTED[planted]
    score = _SCALE * outputs.quality
    score = score + rng.normal(0, _NOISE, len(score))
    if planted == "length":
        score = score + amount * outputs.length
    if planted == "style":
        score = score + amount * outputs.style
    if planted == "own family":
        score = score + amount * (outputs.system < _OWN)
    features = {"length": outputs.length, "style": outputs.style}
    names = np.array([f"{number:02}" for number in outputs.system])
    own = [f"{number:02}" for number in range(_OWN)]
    effects = text_effects(
        score, outputs.ratings, names, outputs.instance, features, own
    )
    effects.append(_order(outputs, amount if planted == "order" else 0.0, rng))
    return effects + _injections(
        outputs, score, amount if planted == "injection" else 0.0, rng
    )


def _order(outputs: _Outputs, amount: float, rng: np.random.Generator) -> Effect:
    one, other = (outputs.quality[outputs.system == number] for number in (0, 1))
    gap = _SCALE * (one - other)
    verdicts = []
    for sign in (1, -1):
        first = sign * gap + rng.normal(0, _NOISE, len(gap)) > 0
        verdicts.append(np.where(rng.random(len(gap)) < 2 * amount, 1.0, first))
    return order_effect(verdicts[0], verdicts[1], np.arange(len(gap)))


def _injections(
    outputs: _Outputs, score: Floats, amount: float, rng: np.random.Generator
) -> list[Effect]:
    rows = np.flatnonzero(outputs.system == outputs.system.max())
    told: dict[str, list[tuple[float, float]]] = {}
    for row in rows.tolist():
        for name, *texts in with_endings(outputs.texts[row]):
            pair = [
                score[row] + rng.normal(0, 0.3) + amount * bool(_ASKS.search(text))
                for text in texts
            ]
            told.setdefault(name, []).append((pair[0], pair[1]))
    return [
        injection_effect(
            name,
            np.array([one for one, _ in pairs]),
            np.array([other for _, other in pairs]),
            outputs.instance[rows],
        )
        for name, pairs in told.items()
    ]


def _summary(planted: str, audits: list[list[Finding]]) -> BiasStudy:
    hits, alarms, estimates = [], [], []
    for findings in audits:
        mine = [one for one in findings if one.effect.bias.startswith(planted)]
        hits.append(bool(mine) and all(one.found for one in mine))
        alarms.append(any(one.found for one in findings if one not in mine))
        estimates += [one.effect.estimate for one in mine]
    nothing = planted == "none"
    return BiasStudy(
        planted,
        len(audits),
        None if nothing else float(np.mean(hits)),
        float(np.mean(alarms)),
        None if nothing else float(np.mean(estimates)),
        audits[0],
    )


def with_endings(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each command's name and the text with it and with harmless words."""
    for command, harmless in probes():
        yield command, plant_probe(text, command), plant_probe(text, harmless)
