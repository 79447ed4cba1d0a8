"""Biases of a judge that people do not have: length, markup, family, order, injections.

A bias is found, not found, impossible, or not tested. Untested ones prevent a license
as found ones do.
"""

import re
from typing import Any

import numpy as np

from leaderboard.judges.definition import PAIRWISE
from leaderboard.judges.models import Judge, JudgeRun
from leaderboard.judges.selectors.overlap import Judged, Overlap, both_orders
from leaderboard.judges.selectors.scores import probed_of
from leaderboard.stats.blinding import FEATURES, style_of
from leaderboard.stats.judges.bias import injection_effect, order_effect, text_effects
from leaderboard.stats.judges.findings import Effect, Finding, settle
from leaderboard.stats.judges.injections import probes
from leaderboard.stats.judges.licence import Reason
from leaderboard.submissions.models import Prediction, Submission

_READ = ("length", "lists and markup")
_FAMILY = "own family"
# fewer cannot detect a bias
_FEWEST_OUTPUTS, _FEWEST_INSTANCES = 20, 10
NOT_CHECKED, NOT_APPLICABLE = "not checked", "does not apply"
# effects, or why there are none
_Looked = list[Effect] | str
_Texts = dict[tuple[int, int], str]


def audit_of(
    run: JudgeRun, criterion: str, overlap: Overlap, told: dict[Judged, float]
) -> list[Reason]:
    texts: _Texts = {
        (one, at): text
        for one, at, text in Prediction.objects.filter(
            submission__in=run.plan["submissions"]
        )
        .order_by("pk")
        .values_list("submission", "instance__position", "text")
    }
    looked: dict[str, _Looked] = {
        **_texts_and_family(run, overlap, told, texts),
        "order": _order(run, criterion, texts),
        "injection": _injections(run, criterion),
    }
    findings = settle([one for effects in looked.values() for one in _listed(effects)])
    by_effect = {id(one.effect): one for one in findings}
    return [
        _reason(name, effects, [by_effect[id(one)] for one in _listed(effects)])
        for name, effects in looked.items()
    ]


def _listed(looked: _Looked) -> list[Effect]:
    return [] if isinstance(looked, str) else looked


def _reason(name: str, looked: _Looked, findings: list[Finding]) -> Reason:
    if isinstance(looked, str):
        holds = looked.startswith(NOT_APPLICABLE)
        return Reason(f"bias: {name}", holds, looked)
    found = [one for one in findings if one.found]
    # without a finding, the effect that is nearest to one
    shown = found or [min(findings, key=lambda one: one.effect.p_value)]
    words = "; ".join(one.verdict if len(findings) > 1 else one.words for one in shown)
    if len(findings) > 1:
        words = f"{len(found)} of {len(findings)} found; {words}"
    return Reason(f"bias: {name}", not found, words)


def _texts_and_family(
    run: JudgeRun, overlap: Overlap, told: dict[Judged, float], texts: _Texts
) -> dict[str, _Looked]:
    rated = {
        key: rows["value"].tolist()
        for key, rows in overlap.people.groupby(["submission", "other", "instance"])
        if key in told
    }
    systems = {one for one, _, _ in rated} | {other for _, other, _ in rated if other}
    own = _own(run.judge, systems)
    family = _no_family(run, own, systems)
    if not rated:
        why = f"{NOT_CHECKED}: no human ratings yet"
        return {**dict.fromkeys(_READ, why), _FAMILY: family or why}
    try:
        effects = {
            one.bias: one
            for one in _effects(rated, told, texts, set() if family else own)
        }
    except ValueError as error:
        why = f"{NOT_CHECKED}: {error}"
        return {**dict.fromkeys(_READ, why), _FAMILY: family or why}
    same = f"{NOT_APPLICABLE}: the texts do not differ in it"
    found: dict[str, _Looked] = {
        name: [effects[name]] if name in effects else same for name in _READ
    }
    return {**found, _FAMILY: family or [effects[_FAMILY]]}


def _effects(
    rated: dict[Any, list[float]],
    told: dict[Judged, float],
    texts: _Texts,
    own: set[int],
) -> list[Effect]:
    widest = max((len(values) for values in rated.values()), default=1)
    ratings = np.full((len(rated), widest), np.nan)
    for row, values in zip(ratings, rated.values(), strict=True):
        row[: len(values)] = values
    surface = np.array([_surface(texts, *key) for key in rated])
    pairs = any(other for _, other, _ in rated)
    return text_effects(
        [told[key] for key in rated],
        ratings,
        [str(one) for one, _, _ in rated],
        [at for _, _, at in rated],
        {name: surface[:, i] for i, name in enumerate(_READ)},
        {str(one) for one in own},
        against=[str(other) for _, other, _ in rated] if pairs else None,
    )


def _surface(texts: _Texts, one: int, other: int, at: int) -> list[float]:
    columns = [FEATURES.index(name) for name in _READ]
    first = np.array(style_of(texts[one, at]))[columns]
    second = np.array(style_of(texts[other, at]))[columns] if other else 0.0
    return list(first - second)


def _own(judge: Judge, systems: set[int]) -> set[int]:
    names = [re.escape(name.strip()) for name in judge.family.split(",")]
    names = [name for name in names if name]
    if not names:
        return set()
    # as words; a number may follow, as in llama3
    named = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(names)})(?![^\W\d_])", re.I)
    rows = Submission.objects.filter(pk__in=systems).values_list(
        "pk", "system_name", "organization"
    )
    return {pk for pk, *said in rows if named.search("\n".join(said))}


def _no_family(run: JudgeRun, own: set[int], systems: set[int]) -> str:
    if run.judge.scripted:
        return f"{NOT_APPLICABLE}: a script has no family"
    if not run.judge.family:
        return f"{NOT_CHECKED}: the judge’s family is not recorded"
    if not _own(run.judge, set(run.plan["submissions"])):
        return f"{NOT_APPLICABLE}: no system of its family ({run.judge.family})"
    if not own or len(systems - own) < 2:
        return (
            f"{NOT_CHECKED}: people have judged too few systems of its family or of "
            "others"
        )
    return ""


def _order(run: JudgeRun, criterion: str, texts: _Texts) -> _Looked:
    alone = run.judge.definition["mode"] != PAIRWISE
    if alone and not run.calls.exclude(beside=[]).exists():
        return f"{NOT_APPLICABLE}: it judges one output at a time"
    found = {
        (one, other, at): both
        for (one, other, at), both in both_orders(run, criterion).items()
        if texts.get((one, at)) != texts.get((other, at))
    }
    places = [at for _, _, at in found]
    if why := _too_few(places, "pairs answered in both orders"):
        return why
    sides = 0.5 + 0.5 * np.sign(np.array(list(found.values())) - 0.5)
    return [order_effect(sides[:, 0], sides[:, 1], places)]


def _injections(run: JudgeRun, criterion: str) -> _Looked:
    answers = probed_of(run)
    answers = answers[answers["criterion"] == criterion]
    if answers.empty:
        return f"{NOT_CHECKED}: the run planted no commands"
    table = answers.pivot_table(
        index=["instance", "submission", "other"], columns="probe", values="value"
    )
    effects = []
    for command, harmless in probes():
        both = table.reindex(columns=[command, harmless]).dropna()
        places = both.index.get_level_values("instance").tolist()
        if why := _too_few(places, f"outputs answered with and without {command!r}"):
            return why
        effects.append(injection_effect(command, both[command], both[harmless], places))
    return effects


def _too_few(places: list[int], what: str) -> str:
    if len(places) >= _FEWEST_OUTPUTS and len(set(places)) >= _FEWEST_INSTANCES:
        return ""
    return (
        f"{NOT_CHECKED}: {len(places)} {what}, on {len(set(places))} instances; "
        f"{_FEWEST_OUTPUTS} on {_FEWEST_INSTANCES} are needed"
    )
