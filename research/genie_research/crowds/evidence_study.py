"""Which evidence finds careless workers: a comparison of models."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genie_research.authenticity.auroc import auroc
from genie_research.crowds.campaign import CampaignPlan, Outcome, run_campaign
from genie_research.crowds.dawid_skene import dawid_skene
from genie_research.crowds.mace import mace
from genie_research.crowds.people import CrowdPlan, draw_crowd
from genie_research.crowds.straight import constant_answers, repeated_answers
from quality.counts import Floats, Ints
from quality.detection.stats.assess import AssessOptions, assess_workers
from quality.detection.stats.workers.answers import NO_YES, as_levels

_KINDS = ("lazy", "random", "adversarial", "copying")
#: Workers with fewer ratings are left out of the comparison.
_LEAST = 10


@dataclass(frozen=True)
class EvidenceCell:
    """How well one kind of evidence finds careless workers.

    Attributes
    ----------
    areas : tuple of float
        Area under the curve against careful workers: lazy, random, adversarial,
        copying, all of them; NaN without any.
    """

    evidence: str
    areas: tuple[float, ...]


def evidence_study(plan: CrowdPlan, *, n_tasks: int, seed: int) -> list[EvidenceCell]:
    """Compare models on campaigns in which no worker is stopped.

    Returns
    -------
    list of EvidenceCell
        Dawid and Skene and MACE treat an instance's outputs as one item (each output
        is rated once) and ratings as two labels, above the middle or not.

    Examples
    --------
    >>> cells = evidence_study(CrowdPlan(0.4, n_instances=80), n_tasks=1, seed=1)
    >>> [cell.evidence for cell in cells][:3]
    ['tests alone', 'mixed residuals', 'tests and residuals']
    """
    if n_tasks < 1:
        raise ValueError("At least one task is needed.")
    scores: dict[str, list[Floats]] = {}
    kinds = []
    for task in range(n_tasks):
        rng = np.random.default_rng([seed, task])
        crowd = draw_crowd(plan, rng)
        outcome = run_campaign(crowd, CampaignPlan("none"), rng)
        busy = np.bincount(outcome.worker, minlength=plan.n_workers) >= _LEAST
        kinds.append(crowd.kind[busy])
        for name, score in _scores(outcome, plan, [seed, task]).items():
            scores.setdefault(name, []).append(score[busy])
    kind = np.concatenate(kinds)
    return [
        EvidenceCell(name, _areas(np.concatenate(parts), kind))
        for name, parts in scores.items()
    ]


def _scores(
    outcome: Outcome, plan: CrowdPlan, seed: Sequence[int]
) -> dict[str, Floats]:
    n, rated = plan.n_workers, outcome.rated
    options = AssessOptions(guesses=NO_YES)
    parts = assess_workers(n, outcome.asked, rated, options=options, seed=0).parts
    level, places = as_levels(rated.value)
    present, worker = np.unique(rated.worker, return_inverse=True)
    _, item = np.unique(rated.instance, return_inverse=True)
    label = (places[level] > 0.5).astype(np.int64)
    informed, competence = np.zeros(n), np.zeros(n)
    informed[present] = dawid_skene(item, worker, label, smoothing=0.5).informed
    start = int(np.random.default_rng(seed).integers(2**31))
    competence[present] = mace(item, worker, label, seed=start).competence
    return {
        "tests alone": parts["tests"],
        "mixed residuals": parts["ratings"],
        "tests and residuals": parts["tests"] + parts["ratings"],
        "Dawid and Skene": -informed,
        "MACE": -competence,
        "repeated answers": np.abs(repeated_answers(rated.worker, level, n)),
        "two levels only": constant_answers(rated.worker, level, n),
    }


def _areas(score: Floats, kind: Ints) -> tuple[float, ...]:
    honest = kind == 0
    careless = [kind == number + 1 for number in range(len(_KINDS))]
    return tuple(auroc(score[who], score[honest])[0] for who in [*careless, ~honest])


def evidence_table(cells: Sequence[EvidenceCell]) -> str:
    """Write the cells as lines of text.

    Examples
    --------
    >>> print(evidence_table([EvidenceCell("MACE", (0.5, 0.75, 1.0, 0.25, 0.6))]))
    area under the curve    lazy  random  adversarial  copying   all
    MACE                     .50     .75         1.00      .25   .60
    """
    lines = ["area under the curve    lazy  random  adversarial  copying   all"]
    for cell in cells:
        shown = [f"{area:.2f}".removeprefix("0") for area in cell.areas]
        lines.append(
            f"{cell.evidence:22}{shown[0]:>6}{shown[1]:>8}{shown[2]:>13}"
            f"{shown[3]:>9}{shown[4]:>6}"
        )
    return "\n".join(lines)
