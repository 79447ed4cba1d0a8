"""Answers of people and of language models to the same items, separated by a judge."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from genie_research.authenticity.auroc import auroc
from quality.counts import Floats

Labels = Mapping[str, Mapping[str, str]]
#: Number of batches of one person, model and size.
_MOST_BATCHES = 20


@dataclass(frozen=True)
class DataSet:
    """Labels of people and of models, by name and instance; numbers or categories."""

    name: str
    people: Labels
    models: Labels

    @property
    def numeric(self) -> bool:
        return all(
            _is_number(label)
            for labels in (*self.people.values(), *self.models.values())
            for label in labels.values()
        )


@dataclass(frozen=True)
class Told:
    """How well batches of a model's answers differ from people's, judge by judge.

    The area under the ROC curve by similarity to the judge given the other people's
    answers, for the hardest, the mean and the easiest pair of model and judge; and by
    narrowness, if labels are numbers.
    """

    data_set: str
    n_answers: int
    n_people: int
    n_batches: int
    least: float
    mean: float
    error: float
    most: float
    narrow: float


def read_data_set(folder: Path) -> DataSet:
    """Read `human_annotations.json.gz` and `llm_annotations.json.gz` of a folder."""
    read = []
    for kind in ("human", "llm"):
        with gzip.open(folder / f"{kind}_annotations.json.gz", "rt") as file:
            loaded = json.load(file)
        if not isinstance(loaded, dict):
            raise ValueError(f"{folder.name} has no labels by annotator.")
        read.append(
            {
                who: {instance: str(label) for instance, label in labels.items()}
                for who, labels in loaded.items()
            }
        )
    return DataSet(folder.name, *read)


def told_apart(data: DataSet, n_answers: int, seed: int) -> Told | None:
    """Put each model in each person's place, with another model as judge.

    If labels are numbers the sign is Fisher's z of the partial correlation with the
    judge given the mean of the other people's answers; else the share of the judge's
    labels that were given, less the share of the other people who gave them. None where
    no person has so many answers.
    """
    batches = _batches(data, n_answers, np.random.default_rng([seed, n_answers]))
    if not batches:
        return None
    areas, errors, narrow = [], [], []
    for model in sorted(data.models):
        for judge in sorted(set(data.models) - {model}):
            programs, people = _signs(data, batches, model, judge)
            area, error = auroc(programs, people)
            areas.append(area)
            errors.append(error)
        if data.numeric:
            narrow.append(auroc(*_spreads(data, batches, model))[0])
    return Told(
        data.name,
        n_answers,
        len({person for person, _ in batches}),
        len(batches),
        min(areas),
        float(np.mean(areas)),
        # All pairs of model and judge share the batches, so this is not the error of a
        # mean.
        float(np.mean(errors)),
        max(areas),
        float(np.mean(narrow)) if narrow else float("nan"),
    )


def _batches(
    data: DataSet, n: int, rng: np.random.Generator
) -> list[tuple[str, list[str]]]:
    common = set.intersection(*(set(labels) for labels in data.models.values()))
    found = []
    for person, labels in sorted(data.people.items()):
        others = {i for p, own in data.people.items() if p != person for i in own}
        usable = sorted(set(labels) & common & others)
        order = rng.permutation(len(usable))
        for start in range(0, min(len(usable) // n, _MOST_BATCHES) * n, n):
            found.append((person, [usable[k] for k in order[start : start + n]]))
    return found


def _signs(
    data: DataSet, batches: list[tuple[str, list[str]]], model: str, judge: str
) -> tuple[Floats, Floats]:
    sign = _partial if data.numeric else _matches
    rows = []
    for person, instances in batches:
        others = [
            [o[i] for p, o in data.people.items() if p != person and i in o]
            for i in instances
        ]
        said = [data.models[judge][i] for i in instances]
        rows.append(
            [
                sign([labels[i] for i in instances], said, others)
                for labels in (data.models[model], data.people[person])
            ]
        )
    columns = np.array(rows, dtype=float)
    return columns[:, 0], columns[:, 1]


def _matches(own: list[str], judge: list[str], others: list[list[str]]) -> float:
    expected = [
        sum(label == said for label in labels) / len(labels)
        for said, labels in zip(judge, others, strict=True)
    ]
    return float(np.mean(np.array(own) == np.array(judge)) - np.mean(expected))


def _partial(own: list[str], judge: list[str], others: list[list[str]]) -> float:
    held = np.array([np.mean([float(x) for x in labels]) for labels in others])
    held = held - held.mean()
    rests = []
    for column in (own, judge):
        value = np.array([float(x) for x in column])
        value = value - value.mean()
        square = float(held @ held)
        rests.append(value - held * (float(held @ value) / square if square else 0.0))
    below = float(np.sqrt((rests[0] @ rests[0]) * (rests[1] @ rests[1])))
    return float(rests[0] @ rests[1]) / below if below > 1e-9 else 0.0


def _spreads(
    data: DataSet, batches: list[tuple[str, list[str]]], model: str
) -> tuple[Floats, Floats]:
    spreads = [
        [
            -float(np.var([float(labels[i]) for i in instances]))
            for labels in (data.models[model], data.people[person])
        ]
        for person, instances in batches
    ]
    columns = np.array(spreads)
    return columns[:, 0], columns[:, 1]


def _is_number(label: str) -> bool:
    try:
        return bool(np.isfinite(float(label)))
    except ValueError:
        return False
