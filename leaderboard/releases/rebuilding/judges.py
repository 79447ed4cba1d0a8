"""Read the judges' answers of a release again, and compute their scores from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from crowd.scales.find import all_scales
from leaderboard.judges.answers import read
from leaderboard.judges.definition import sha256_of, signature
from leaderboard.judges.models import JudgeCall, JudgeLicence
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.published_numbers import Number

_VALID, _INVALID = str(JudgeCall.State.VALID), str(JudgeCall.State.INVALID)
_State = JudgeLicence.State
# run, criterion, submission -> instance -> values
Values = dict[tuple[int, str, int], dict[str, list[float]]]


def judge_numbers(folder: Path) -> Iterator[Number | str]:
    """Compare what stands of judges with what their definitions and answers give."""
    judges = {row["judge"]: row for row in bundle.iter_table(folder, "judges")}
    for row in judges.values():
        yield from _definition(row)
    answers = bundle.Groups(folder, "judge_answers", ("request",))
    calls = bundle.Groups(folder, "judge_calls", ("run",))
    values: Values = defaultdict(lambda: defaultdict(list))
    not_read = 0
    for run in bundle.iter_table(folder, "judge_runs"):
        own = calls.rows(run["run"])
        if not own:
            continue
        yield from _run(run, own, answers)
        for call in own:
            answer = _answer_of(call, answers)
            if run["scale"] is None or (answer and answer["text"] is None):
                not_read += 1
            else:
                yield from _call(run, call, answer)
            _gather(values, run["run"], call)
    if not_read:
        yield (
            "What judges wrote is not in this release: their scores are computed from "
            f"what was read of it ({not_read} answers)."
        )
    yield from _scores(folder, values)
    yield from _licences(folder)


def _definition(row: Record) -> Iterator[Number]:
    """Compute a judge's signature; and its hash, where nothing of it is withheld."""
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


def _call(run: Record, call: Record, answer: Record | None) -> Iterator[Number]:
    """Read an answer again, by the words and the scale that the judge was given."""
    name = f"question {call['call']} of run {run['run']}"
    found: Mapping[str, tuple[float, str]] = {}
    if answer is not None and not answer["refusal"]:
        scale = all_scales()[run["scale"]].in_language(run["language"])
        try:
            found = read(answer["text"], call["criteria"], scale)
        except ValueError:
            found = {}
    state = _VALID if found else _INVALID
    yield Number("judge_calls.jsonl", f"{name}, state", call["state"], state)
    for criterion in sorted({*found, *call["values"]}):
        value, reason = found.get(criterion, (None, ""))
        computed = None if value is None else value * run["factor"]
        subject = f"{name}, {criterion}"
        stated = call["values"].get(criterion)
        yield Number("judge_calls.jsonl", subject, stated, computed)
        told = call["reasons"].get(criterion, "")
        yield Number("judge_calls.jsonl", f"{subject}, reason", told, reason)


def _gather(values: Values, run: int, call: Record) -> None:
    """Keep what counts: of a pair, the second won what the first lost."""
    if call["probe"] or call["state"] != _VALID:
        return
    for criterion, value in call["values"].items():
        first = values[run, criterion, call["submission"]]
        first[call["instance"]].append(value)
        if call["other"] is not None:
            second = values[run, criterion, call["other"]]
            second[call["instance"]].append(1 - value)


def _scores(folder: Path, values: Values) -> Iterator[Number | str]:
    not_tried = 0
    position = bundle.positions(folder)
    for row in bundle.iter_table(folder, "judge_scores"):
        key = row["run"], row["criterion"], row["submission"]
        if not row["whole"]:
            not_tried += 1
            continue
        by_instance = {
            position[instance]: sum(own) / len(own)
            for instance, own in values.get(key, {}).items()
        }
        name = f"{row['metric']} of submission {row['submission']}"
        mean = sum(by_instance.values()) / len(by_instance) if by_instance else None
        yield Number("judge_scores.jsonl", name, row["value"], mean)
        for place, stated in enumerate(row["per_instance"]):
            subject = f"{name}, instance {place}"
            yield Number("judge_scores.jsonl", subject, stated, by_instance.get(place))
    if not_tried:
        yield (
            "Some answers that judges' scores are means of are not in this release "
            f"({not_tried} scores)."
        )


def _licences(folder: Path) -> Iterator[Number | str]:
    """Compare each licence with its reasons, which rest on the ratings of that day."""
    rows = bundle.read_table(folder, "judge_licences")
    for row in rows:
        holds = bool(row["reasons"]) and all(one["holds"] for one in row["reasons"])
        state = _State.LICENSED if holds else _State.REFUSED
        if row["moved"]:
            state = _State.EXPIRED
        name = f"licence of {row['judge']} for {row['criterion']}, run {row['run']}"
        yield Number("judge_licences.jsonl", name, row["state"], str(state))
    if rows:
        yield (
            "A licence rests on the ratings of the day on which it was given: its "
            f"reasons are taken as given, what follows from them is not ({len(rows)})."
        )
