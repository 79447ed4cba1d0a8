"""The alternative annotator test of every judge, and judges' agreement with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leaderboard.imports.readers.judgments import Role
from leaderboard.papers.figures import Computed, Figures, Settings, plain
from leaderboard.stats.judges.validation import (
    AlternativeAnnotator,
    Label,
    alternative_annotator_test,
)

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

Labels = dict[str, dict[str, Label]]
EPSILON = 0.2
_FEWEST_PEOPLE = 2


class Judges(Figures):
    slug = "judges"
    layouts = ("alt-test",)
    pooled = True
    title = "Judges that are programs, tested against people"
    names = {
        "annotators": "people",
        "instances": "distinct things labeled",
        "ratings": "people's labels",
        "llms": "judges",
        "winning_rate": "omega: share of people against whom the judge holds",
        "advantage_probability": "rho: how often it fits the others as well, mean",
        "passed": "whether omega is .5 or more",
        "omega_exact": "omega, unrounded",
        "rho_exact": "rho, unrounded",
        "annotators_tested": "people with 30 instances or more",
        "min_p": "smallest p value of a person",
        "max_p": "largest",
        "mean_agreement": "words: mean share of people with the judge's label",
        "pearson_with_mean_human": "numbers: correlation with the mean of two or more",
    }

    @classmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures; the setting `epsilon` is the extra cost of a person."""
        judged = judgments.judged
        said = judgments.rows[judgments.rows["role"] == Role.PREDICTION.value]
        numbers = _are_numbers(judged) and _are_numbers(said)
        people, judges = _labels(judged, numbers), _labels(said, numbers)
        found: Computed = {
            "annotators": float(len(people)),
            "instances": float(len({i for each in people.values() for i in each})),
            "ratings": float(len(judged)),
            "llms": float(len(judges)),
        }
        for name, labels in judges.items():
            test = alternative_annotator_test(
                people,
                labels,
                score="rmse" if numbers else "accuracy",
                epsilon=float(settings.get("epsilon", EPSILON)),
            )
            one = _of_test(test) | _agreement(people, labels, numbers)
            found |= {f"{name}/{figure}": value for figure, value in one.items()}
        return found


def _are_numbers(rows: pd.DataFrame) -> bool:
    return bool(rows["value"].notna().all() and not rows["other"].any())


def _labels(rows: pd.DataFrame, numbers: bool) -> Labels:
    labels: Labels = {}
    what = zip(
        rows["instance"], rows["system"], rows["other"], rows["criterion"], strict=True
    )
    said = rows["value" if numbers else "word"]
    for worker, thing, label in zip(rows["worker"], what, said, strict=True):
        labels.setdefault(worker, {})["\n".join(thing)] = label
    return labels


def _of_test(test: AlternativeAnnotator) -> Computed:
    found: Computed = {
        "winning_rate": test.winning_rate,
        "advantage_probability": test.advantage_probability,
        "omega_exact": test.winning_rate,
        "rho_exact": test.advantage_probability,
        "passed": plain(test.passes),
        "annotators_tested": float(len(test.people)),
    }
    p_values = [one.p_value for one in test.people]
    if p_values:
        found |= {"min_p": min(p_values), "max_p": max(p_values)}
    return found


def _agreement(people: Labels, labels: dict[str, Label], numbers: bool) -> Computed:
    by_thing: dict[str, list[Label]] = {}
    for each in people.values():
        for thing, label in each.items():
            by_thing.setdefault(thing, []).append(label)
    both = [
        (labels[thing], said)
        for thing, said in by_thing.items()
        if thing in labels and len(said) >= _FEWEST_PEOPLE
    ]
    if not both:
        return {}
    if not numbers:
        shares = [np.mean([one == label for one in said]) for label, said in both]
        return {"mean_agreement": float(np.mean(shares))}
    own = np.array([float(label) for label, _ in both])
    means = np.array([np.mean([float(one) for one in said]) for _, said in both])
    if not (own.std() and means.std()):
        return {}
    return {"pearson_with_mean_human": float(np.corrcoef(own, means)[0, 1])}
