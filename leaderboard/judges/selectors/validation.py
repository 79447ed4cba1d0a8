"""Validation of a judge by people's ratings of the same outputs, for one criterion.

The audit looks for biases that people do not have: length, markup, family, order,
injections. A bias is found, not found, impossible, or not tested; untested ones prevent
a license as found ones do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import QuerySet

from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.judges.definition import JOINT, PAIRWISE, digest
from leaderboard.judges.models import JudgeMetric, JudgeRun
from leaderboard.judges.selectors.facts import asked_as_now
from leaderboard.judges.selectors.scores import answers_of, averages
from leaderboard.metric_board.selectors.snapshot import STATISTICS, shown_board
from leaderboard.stats.blinding import FEATURES, style_of
from leaderboard.stats.judges.bias import (
    Effect,
    Finding,
    injection_effect,
    order_effect,
    settle,
    text_effects,
)
from leaderboard.stats.judges.injections import probes
from leaderboard.stats.judges.validation import (
    FEWEST_INSTANCES,
    Labels,
    Reason,
    drift,
    validate,
)
from leaderboard.submissions.models import Prediction, Submission

if TYPE_CHECKING:
    import pandas as pd

# what a crowd worker costs more than a judge (Calderon et al. 2025, section 3)
_EPSILON = 0.1
_SEED = 0
# the reason that has the number of people
PEOPLE = "people"
# a person has no soft pairwise accuracy: their few ratings do not give a certainty
_ON_BOARD = ("pairwise-accuracy", "calibrated")
# a system, the one compared with it (0: none), and the position of the instance
Judged = tuple[int, int, int]
_AT = ["submission", "other", "instance"]
_LABELS = {0.0: "second", 0.5: "tie", 1.0: "first"}
_READ = ("length", "lists and markup")
_FAMILY = "own family"
# fewer cannot detect a bias
_FEWEST_OUTPUTS, _FEWEST_INSTANCES = 20, 10
NOT_CHECKED, NOT_APPLICABLE = "not checked", "does not apply"
# effects, or why there are none
_Looked = list[Effect] | str


def validation_of(run: JudgeRun, criterion: str) -> list[Reason]:
    """Check a judge against people; a license needs all of the reasons to hold."""
    if run.judge.definition["mode"] == JOINT:
        why = (
            "it saw several outputs at once, but licenses are only for single outputs "
            "or pairs"
        )
        return [Reason(PEOPLE, False, why)]
    found = Validation(run, criterion)
    overlap, audit = found.overlap, found.audit()
    try:
        fit = validate(
            overlap.by_person(),
            overlap.labels(found.scores),
            score=overlap.score,
            epsilon=_EPSILON,
            seed=_SEED,
        )
    except ValueError as error:
        why = f"{error} Checked: {overlap.words}."
        return [Reason(PEOPLE, False, why), *audit]
    people = Reason(PEOPLE, True, f"{overlap.words}, of {overlap.n_people:,} people")
    return [people, *fit, *audit, *_on_board(run, criterion)]


def drift_between(given: JudgeRun, later: JudgeRun, criterion: str) -> Reason | None:
    """Check whether a judge's fit to people has changed; None with too little data."""
    then = Validation(given, criterion)
    before = then.overlap.labels(then.scores)
    now = then.overlap.labels(Validation(later, criterion).scores)
    shared = sorted(key for key in before if key in now)
    try:
        return drift(
            then.overlap.by_person(),
            {key: now[key] for key in shared},
            {key: before[key] for key in shared},
            score=then.overlap.score,
            seed=_SEED,
        )
    except ValueError:
        return None


def _on_board(run: JudgeRun, criterion: str) -> list[Reason]:
    board: Any = shown_board(run.task, criterion)
    # of several runs of a judge, the newest is shown there
    rows = JudgeMetric.objects.filter(run__judge=run.judge, run__task=run.task)
    own = rows.filter(criterion=criterion).values_list("metric", flat=True)
    lines = [one for one in board.lines if one.outside_pk in own] if board.board else []
    if not lines or board.person is None:
        return [
            Reason(
                "metric board",
                False,
                "no outputs yet that both the judge and a person rated",
            )
        ]
    reasons = []
    for name in _ON_BOARD:
        judge, beside = lines[0].cells.get(name), board.person.cells.get(name)
        if judge is None or beside is None or judge.value is None or beside.low is None:
            words, holds = "not defined for the judge and a person", False
        else:
            words = (
                f"{judge.value:.3f}; a person {beside.value:.3f}, from {beside.low:.3f}"
            )
            holds = judge.value >= beside.low
        reasons.append(Reason(STATISTICS[name].label.lower(), holds, words))
    return reasons


@dataclass(frozen=True)
class Overlap:
    """People's ratings, or their choices between two outputs, one per row.

    `people` has `submission`, `other` (0: rated alone), `instance`, `worker` and
    `value`: a choice is 1 for `submission`, .5 on a tie, and each pair of systems has
    one fixed order.
    """

    people: pd.DataFrame
    pairs: bool
    words: str

    @property
    def n_people(self) -> int:
        return int(self.people["worker"].nunique())

    @property
    def score(self) -> str:
        return "accuracy" if self.pairs else "rmse"

    def by_person(self) -> dict[str, Labels]:
        return {
            str(worker): self.labels(_means(rows))
            for worker, rows in self.people.groupby("worker")
        }

    def labels(self, values: dict[Judged, float]) -> Labels:
        return {
            f"{one}/{other}/{at}": _LABELS[_side(value)] if self.pairs else value
            for (one, other, at), value in values.items()
        }


@dataclass(frozen=True)
class Validation:
    """A run's answers about one criterion, and people's ratings beside them."""

    run: JudgeRun
    criterion: str

    @cached_property
    def _answers(self) -> pd.DataFrame:
        answers = answers_of(self.run, probes=True)
        return answers[answers["criterion"] == self.criterion]

    @property
    def answers(self) -> pd.DataFrame:
        return self._answers[self._answers["probe"] == ""]

    @property
    def of_pairs(self) -> bool:
        return bool(self.run.judge.definition["mode"] == PAIRWISE)

    @cached_property
    def overlap(self) -> Overlap:
        """People's ratings of the run's outputs, asked in the present way.

        Programs' answers are left out. For a judge of pairs these are people's own
        choices between the same two outputs, if 30 pairs have those of two people.
        Otherwise they are derived from ratings of both outputs.
        """
        about = HumanEvaluation.objects.filter(
            systems__submission__in=self.run.plan["submissions"], simulated=False
        )
        asked = asked_as_now(self.run.task, self.criterion, about)
        if not self.of_pairs:
            alone = self._ratings(
                asked.filter(pk__in=HumanEvaluation.objects.of_systems())
            )
            words = "their ratings of the same outputs"
            return Overlap(alone.assign(other=0), False, words)
        chosen = _pairs(
            self._ratings(asked.filter(pk__in=Comparison.objects.all())), ["item"]
        )
        direct = Overlap(chosen, True, "their choices between the same two outputs")
        if _n_shared(chosen) >= FEWEST_INSTANCES:
            return direct
        rated = self._ratings(asked.filter(comparison=None))
        # a page that shows several systems has a separate scale
        page = rated["evaluation"].isin(
            asked.filter(pk__in=JointEvaluation.objects.all()).values_list("pk")
        )
        rated = rated.assign(page=rated["evaluation"].where(page, 0))
        turned = _each_once(_pairs(rated, ["page", "instance"]))
        if _n_shared(turned) <= _n_shared(chosen):
            return direct
        return Overlap(turned, True, "their ratings of both outputs, taken as choices")

    def _ratings(self, evaluations: QuerySet[HumanEvaluation]) -> pd.DataFrame:
        pks = sorted(set(evaluations.values_list("pk", flat=True)))
        ratings = system_ratings_of(pks)
        mine = ratings["submission"].isin(self.run.plan["submissions"])
        ratings = ratings[mine & (ratings["criterion"] == self.criterion)]
        numbers = ("evaluation", "item", "submission", "instance", "worker")
        return ratings.astype(dict.fromkeys(numbers, int))

    @cached_property
    def scores(self) -> dict[Judged, float]:
        """The samples' mean for each output or pair that the judge answered.

        For a pair: the preference for the system with the smaller key, only if both
        orders were answered.
        """
        if not self.of_pairs:
            means = averages(self.run, self.answers)
            return {
                (one, 0, at): x for one, row in means.items() for at, x in row.items()
            }
        both = self.both_orders
        return {key: (ahead + 1 - behind) / 2 for key, (ahead, behind) in both.items()}

    @cached_property
    def both_orders(self) -> dict[Judged, tuple[float, float]]:
        """Preferences for the first output in both orders of a pair.

        If outputs are compared with a reference, that is the other one of the pair.
        """
        if self.of_pairs:
            first = _means(self.answers)
            return {
                (one, other, at): (value, first[other, one, at])
                for (one, other, at), value in first.items()
                if one < other and (other, one, at) in first
            }
        placed = [_means(self.answers[self.answers["place"] == at]) for at in (0, 1)]
        shared = sorted(set(placed[0]) & set(placed[1]))
        return {key: (placed[0][key], 1 - placed[1][key]) for key in shared}

    @cached_property
    def texts(self) -> dict[tuple[int, int], str]:
        rows = Prediction.objects.filter(submission__in=self.run.plan["submissions"])
        listed = rows.values_list("submission", "instance__position", "text")
        return {(one, at): text for one, at, text in listed.order_by("pk")}

    def audit(self) -> list[Reason]:
        looked: dict[str, _Looked] = {
            **self._texts_and_family(),
            "order": self._order(),
            "injection": self._injections(),
        }
        every = [one for effects in looked.values() for one in _effects_in(effects)]
        by_effect = {id(one.effect): one for one in settle(every)}
        return [
            _reason(name, effects, [by_effect[id(one)] for one in _effects_in(effects)])
            for name, effects in looked.items()
        ]

    def _texts_and_family(self) -> dict[str, _Looked]:
        rated = {
            _key(key): rows["value"].tolist()
            for key, rows in self.overlap.people.groupby(_AT)
            if key in self.scores
        }
        systems = {one for one, _, _ in rated} | {other for _, other, _ in rated}
        family, own = self._family(systems - {0})
        why = "no human ratings yet"
        if rated:
            try:
                found = self._effects(rated, own)
            except ValueError as error:
                why = str(error)
            else:
                effects = {one.bias: one for one in found}
                same = f"{NOT_APPLICABLE}: the texts do not differ in this"
                looked: dict[str, _Looked] = {
                    name: [effects[name]] if name in effects else same for name in _READ
                }
                return {**looked, _FAMILY: family or [effects[_FAMILY]]}
        why = f"{NOT_CHECKED}: {why}"
        return {**dict.fromkeys(_READ, why), _FAMILY: family or why}

    def _effects(self, rated: dict[Judged, list[float]], own: set[int]) -> list[Effect]:
        widest = max(len(values) for values in rated.values())
        ratings = np.full((len(rated), widest), np.nan)
        for row, values in zip(ratings, rated.values(), strict=True):
            row[: len(values)] = values
        surface = np.array([self._surface(*key) for key in rated])
        return text_effects(
            [self.scores[key] for key in rated],
            ratings,
            [str(one) for one, _, _ in rated],
            [at for _, _, at in rated],
            {name: surface[:, i] for i, name in enumerate(_READ)},
            {str(one) for one in own},
            against=[str(two) for _, two, _ in rated] if self.of_pairs else None,
        )

    def _surface(self, one: int, other: int, at: int) -> list[float]:
        columns = [FEATURES.index(name) for name in _READ]
        first = np.array(style_of(self.texts[one, at]))[columns]
        second = np.array(style_of(self.texts[other, at]))[columns] if other else 0.0
        return list(first - second)

    def _family(self, systems: set[int]) -> tuple[str, set[int]]:
        judge, planned = self.run.judge, self.run.plan["submissions"]
        names = [re.escape(name.strip()) for name in judge.family.split(",")]
        if judge.is_scripted:
            return f"{NOT_APPLICABLE}: a script has no family", set()
        if not any(names):
            return f"{NOT_CHECKED}: the judge’s family is not recorded", set()
        # as words; a number may follow, as in llama3
        named = re.compile(
            rf"(?<![^\W\d_])(?:{'|'.join(filter(None, names))})(?![^\W\d_])", re.I
        )
        rows = Submission.objects.filter(pk__in={*planned, *systems}).values_list(
            "pk", "system_name", "organization"
        )
        own = {pk for pk, *said in rows if named.search("\n".join(said))}
        if not own & set(planned):
            why = f"{NOT_APPLICABLE}: no system of its family ({judge.family})"
            return why, set()
        if not own & systems or len(systems - own) < 2:
            why = "people have rated too few systems inside or outside its family"
            return f"{NOT_CHECKED}: {why}", set()
        return "", own & systems

    def _order(self) -> _Looked:
        if not self.of_pairs and (self.answers["place"] < 0).all():
            return f"{NOT_APPLICABLE}: it rates one output at a time"
        found = {
            (one, other, at): both
            for (one, other, at), both in self.both_orders.items()
            if self.texts.get((one, at)) != self.texts.get((other, at))
        }
        places = [at for _, _, at in found]
        if why := _too_few(places, "pairs answered in both orders"):
            return why
        sides = 0.5 + 0.5 * np.sign(np.array(list(found.values())) - 0.5)
        return [order_effect(sides[:, 0], sides[:, 1], places)]

    def _injections(self) -> _Looked:
        answers = self._answers[self._answers["probe"] != ""]
        if answers.empty:
            return f"{NOT_CHECKED}: the run planted no commands"
        table = answers.pivot_table(index=_AT, columns="probe", values="value")
        effects = []
        for command, harmless in probes():
            both = table.reindex(columns=[command, harmless]).dropna()
            places = both.index.get_level_values("instance").tolist()
            if why := _too_few(
                places, f"outputs answered with and without {command!r}"
            ):
                return why
            effects.append(
                injection_effect(command, both[command], both[harmless], places)
            )
        return effects


def _means(rows: pd.DataFrame) -> dict[Judged, float]:
    means = rows.groupby(_AT)["value"].mean()
    return {_key(key): float(value) for key, value in means.items()}


def _key(found: Any) -> Judged:
    one, other, at = found
    return int(one), int(other), int(at)


def _side(value: float) -> float:
    return 0.5 + 0.5 * float(np.sign(value - 0.5))


def _pairs(ratings: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    on = list(dict.fromkeys([*by, "instance", "worker"]))
    means = ratings.groupby([*on, "submission"])["value"].mean().reset_index()
    both = means.merge(means, on=on, suffixes=("", "_other"))
    both = both[both["submission"] < both["submission_other"]]
    value = 0.5 + 0.5 * np.sign(both["value"] - both["value_other"])
    return both.assign(other=both["submission_other"], value=value)[
        [*_AT, "worker", "value"]
    ]


def _each_once(pairs: pd.DataFrame) -> pd.DataFrame:
    """Keep disjoint pairs, so that no output counts twice; most raters first."""
    sizes = {_key(key): int(n) for key, n in pairs.groupby(_AT).size().items()}
    taken: set[tuple[int, int]] = set()
    kept = set()
    for pair in sorted(sizes, key=lambda pair: (-sizes[pair], digest([*pair]))):
        one, other, at = pair
        if not {(one, at), (other, at)} & taken:
            taken |= {(one, at), (other, at)}
            kept.add(pair)
    keys = zip(*(pairs[name] for name in _AT), strict=True)
    return pairs[np.array([key in kept for key in keys], dtype=bool)]


def _n_shared(pairs: pd.DataFrame) -> int:
    return int((pairs.groupby(_AT)["worker"].nunique() > 1).sum())


def _effects_in(looked: _Looked) -> list[Effect]:
    return [] if isinstance(looked, str) else looked


def _reason(name: str, looked: _Looked, findings: list[Finding]) -> Reason:
    if isinstance(looked, str):
        return Reason(f"bias: {name}", looked.startswith(NOT_APPLICABLE), looked)
    found = [one for one in findings if one.found]
    # without a finding, the effect that is nearest to one
    shown = found or [min(findings, key=lambda one: one.effect.p_value)]
    words = "; ".join(one.verdict if len(findings) > 1 else one.words for one in shown)
    if len(findings) > 1:
        words = f"{len(found)} of {len(findings)} found; {words}"
    return Reason(f"bias: {name}", not found, words)


def _too_few(places: list[int], what: str) -> str:
    if len(places) >= _FEWEST_OUTPUTS and len(set(places)) >= _FEWEST_INSTANCES:
        return ""
    return (
        f"{NOT_CHECKED}: {len(places)} {what}, on {len(set(places))} instances; "
        f"{_FEWEST_OUTPUTS} on {_FEWEST_INSTANCES} are needed"
    )
