"""Parse the judges' answers of a release again, and recompute their scores."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean, geometric_mean

from crowd.hit_templates.form import read_errors
from crowd.hits.selectors import SPANS
from crowd.scales.base import all_scales
from leaderboard.designs.base import SLOTS, all_designs
from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.judges.answers import Said, read
from leaderboard.judges.definition import sha256_of, signature
from leaderboard.judges.models import JudgeCall
from leaderboard.judges.selectors.pages import about, place_of
from leaderboard.judges.shape import Shape
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.published_numbers import Number
from leaderboard.stats.judges.injections import plant_probe

_VALID, _INVALID = str(JudgeCall.State.VALID), str(JudgeCall.State.INVALID)
_State = JudgeLicence.State
Texts = Callable[[int, str], str]
Average = Callable[[Sequence[float]], float]
# run, criterion, submission -> instance -> values
Values = dict[tuple[int, str, int], dict[str, list[float]]]


def judge_numbers(folder: Path) -> Iterator[Number | str]:
    judges = {row["judge"]: row for row in bundle.iter_table(folder, "judges")}
    for row in judges.values():
        yield from _definition(row)
    answers = bundle.Groups(folder, "judge_answers", ("request",))
    calls = bundle.Groups(folder, "judge_calls", ("run",))
    values: Values = defaultdict(lambda: defaultdict(list))
    average: dict[int, Average] = {}
    not_read = 0
    texts = _texts_in(folder)
    for run in bundle.iter_table(folder, "judge_runs"):
        average[run["run"]] = geometric_mean if run["ratios"] else fmean
        own = calls.rows(run["run"])
        if not own:
            continue
        yield from _run(run, own, answers)
        for call in own:
            answer = _answer_of(call, answers)
            if run["scale"] is None or (answer and answer["text"] is None):
                not_read += 1
            else:
                yield from _call(run, call, answer, texts)
            _gather(values, run["run"], call)
    if not_read:
        yield (
            "Judges' full answers are not in this release. Their scores are computed "
            f"from the extracted values ({not_read} answers)."
        )
    yield from _scores(folder, values, average)
    yield from _licences(folder)
    if helped := bundle.count_rows(folder, "judge_help"):
        yield f"Means with judges' help were not recomputed ({helped})."


def _definition(row: Record) -> Iterator[Number]:
    name, made = f"{row['kind']} {row['judge']}", row["definition"]
    given = str(row["sha256"])
    if made["url"] is not None:
        given = sha256_of(row["name"], row["version"], made)
        yield Number("judges.jsonl", f"{name}, sha256", row["sha256"], given)
    head, mark, _ = signature(row["name"], row["version"], made).partition("|sha256:")
    said = f"{head}{mark}{given[:12]}"
    yield Number("judges.jsonl", f"{name}, signature", row["signature"], said)


def _answer_of(call: Record, answers: bundle.Groups) -> Record | None:
    found = answers.rows(call["request"]) if call["request"] else []
    return found[0] if found else None


def _run(run: Record, calls: list[Record], answers: bundle.Groups) -> Iterator[Number]:
    usable = [call for call in calls if not call["probe"]]
    models = sorted(
        {found["model"] for call in calls if (found := _answer_of(call, answers))}
    )
    numbers: dict[str, int | str] = {
        "n_calls": len(usable),
        "n_answered": sum(call["state"] == _VALID for call in usable),
        "n_invalid": sum(call["state"] == _INVALID for call in usable),
        "models": ", ".join(models),
    }
    for name, computed in numbers.items():
        stated = ", ".join(run[name]) if name == "models" else run[name]
        subject = f"run {run['run']} of {run['judge']}, {name}"
        yield Number("judge_runs.jsonl", subject, stated, computed)


def _call(
    run: Record, call: Record, answer: Record | None, texts: Texts
) -> Iterator[Number | str]:
    name = f"question {call['call']} of run {run['run']}"
    found = None
    if answer is not None and not answer["refusal"]:
        with suppress(ValueError):
            found = _read_answer(run, call, answer["text"], texts)
    state = _VALID if found else _INVALID
    yield Number("judge_calls.jsonl", f"{name}, state", call["state"], state)
    found = found or Said({})
    for criterion in sorted({*found.values, *call["values"]}):
        subject = f"{name}, {criterion}"
        values = call["values"].get(criterion), found.values.get(criterion)
        yield Number("judge_calls.jsonl", subject, *values)
        reasons = call["reasons"].get(criterion), found.reasons.get(criterion)
        yield Number("judge_calls.jsonl", f"{subject}, reason", *reasons)
    marks = json.dumps(call["marks"]), json.dumps(found.marks or [])
    yield Number("judge_calls.jsonl", f"{name}, marks", *marks)


def _read_answer(run: Record, call: Record, text: str, texts: Texts) -> Said:
    design = all_designs()[run["design"]]
    scale = all_scales()[run["scale"]].in_language(run["language"])
    order = call["beside"] or [call["submission"]]
    slots = () if scale.compares or not call["beside"] else tuple(SLOTS[: len(order)])
    asked = JudgeCall(submission_id=call["submission"], beside=call["beside"])
    shape, outputs = Shape(slots), {}
    if run["errors"] is not None:
        shape = Shape(slots, read_errors(run["errors"]))
        shown = [texts(pk, call["instance"]) for pk in order]
        own = place_of(asked)
        shown[own] = plant_probe(shown[own], call["probe"])
        outputs = dict(zip(slots or [""], shown, strict=False))
    found = about(asked, read(text, call["criteria"], scale, shape, outputs), slots)
    values = {name: value * run["factor"] for name, value in found.values.items()}
    if found.marks is not None:
        values |= design.values_beside({SPANS: found.marks})
    return replace(found, values=values)


def _texts_in(folder: Path) -> Texts:
    """Look outputs up, a system at a time; KeyError if one is not in the release."""
    rows = bundle.Groups(folder, "predictions", ["submission"])

    @lru_cache(maxsize=8)
    def texts_of(submission: int) -> dict[str, str]:
        return {row["instance"]: row["text"] for row in rows.rows(submission)}

    return lambda submission, instance: texts_of(submission)[instance]


def _gather(values: Values, run: int, call: Record) -> None:
    if call["probe"] or call["state"] != _VALID:
        return
    for criterion, value in call["values"].items():
        values[run, criterion, call["submission"]][call["instance"]].append(value)
        if call["other"] is not None:
            values[run, criterion, call["other"]][call["instance"]].append(1 - value)


def _scores(
    folder: Path, values: Values, average: Mapping[int, Average]
) -> Iterator[Number | str]:
    not_tried = 0
    position = bundle.positions(folder)
    for row in bundle.iter_table(folder, "judge_scores"):
        key = row["run"], row["criterion"], row["submission"]
        if not row["whole"]:
            not_tried += 1
            continue
        by_instance = {
            position[instance]: average[row["run"]](own)
            for instance, own in values.get(key, {}).items()
        }
        name = f"{row['metric']} of submission {row['submission']}"
        means = list(by_instance.values())
        mean = average[row["run"]](means) if means else None
        yield Number("judge_scores.jsonl", name, row["value"], mean)
        for place, stated in enumerate(row["per_instance"]):
            subject = f"{name}, instance {place}"
            yield Number("judge_scores.jsonl", subject, stated, by_instance.get(place))
    if not_tried:
        yield (
            f"Some answers behind judges' scores are not in this release ({not_tried} "
            "scores)."
        )


def _licences(folder: Path) -> Iterator[Number | str]:
    """Compare each license with its reasons, which depend on the ratings of that day."""
    rows = bundle.read_table(folder, "judge_licences")
    for row in rows:
        holds = bool(row["reasons"]) and all(one["holds"] for one in row["reasons"])
        state = _State.LICENSED if holds else _State.REFUSED
        if row["moved"]:
            state = _State.EXPIRED
        name = f"license of {row['judge']} for {row['criterion']}, run {row['run']}"
        yield Number("judge_licences.jsonl", name, row["state"], str(state))
    if rows:
        yield (
            "A license depends on the ratings of its day. Its reasons were not "
            f"recomputed, but the decision was ({len(rows)})."
        )
