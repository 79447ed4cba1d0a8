"""Judges in a release: definitions, finished runs, answers, licenses.

Only questions about systems in the release, and never who decided. While test questions
are in use, questions and answers are left out: they reveal which instances are rated.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.db.models import QuerySet

from genie.lib.errors import GenieError
from leaderboard.boards.selectors.judged import judged_of
from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.judges.models import (
    MICROCENTS,
    Judge,
    JudgeAnswer,
    JudgeCall,
    JudgeMetric,
    JudgeRun,
)
from leaderboard.judges.selectors.licenses import standing_license
from leaderboard.judges.selectors.pages import REFERENCE
from leaderboard.judges.selectors.requests import requests_of
from leaderboard.judges.selectors.shown import public_runs
from leaderboard.judges.selectors.told import address_told
from leaderboard.metric_board.models import OutsideScores
from leaderboard.releases.bundle import Record, in_batches
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import errors_asked

JUDGES = (
    *("judge", "name", "version", "kind", "signature", "sha256", "definition"),
    *("input_price", "output_price", "made"),
)
RUNS = (
    *("run", "judge", "occasion", "mode", "design", "scale", "language", "factor"),
    *("errors", "ratios", "criteria"),
    *("n_calls", "n_answered", "n_invalid", "models", "sent_to", "fields_sent"),
    *("with_references", "expected_cents", "most_cents", "approved_cents"),
    *("spent_cents", "asked_on", "approved_on", "finished_on"),
)
CALLS = (
    *("run", "call", "submission", "other", "beside", "instance", "criteria", "part"),
    *("sample", "probe", "state", "attempts", "problem", "values", "reasons", "marks"),
    "request",
)
ANSWERS = (
    *("request", "judge", "text", "refusal", "model", "fingerprint"),
    *("input_tokens", "output_tokens", "seconds", "on"),
)
SCORES = ("run", "criterion", "metric", "submission", "value", "whole", "per_instance")
LICENSES = (
    *("judge", "run", "criterion", "state", "standing", "reasons", "facts"),
    *("moved", "on"),
)
HELPED = (
    *("submission", "criterion", "judges", "mean", "low", "high", "plain_mean"),
    *("plain_low", "plain_high", "explained", "labels_saved", "n_people", "n_judge"),
    "seed",
)
_AT_ONCE = 500
_SYSTEMS = ("submission", "other", "beside")
Rows = Iterator[Record]


def finished_runs(task: Task, shown: Collection[int]) -> list[int]:
    calls = JudgeCall.objects.filter(
        run__task=task, run__state=JudgeRun.State.DONE, submission__in=shown
    )
    return sorted(set(calls.order_by().values_list("run", flat=True).distinct()))


class Judged:
    """Tables of judges' runs about the `shown` systems, whose outputs are public.

    `texts` says whether judges' texts are included, which may quote what they were
    sent.
    """

    def __init__(
        self, runs: Sequence[int], shown: Collection[int], *, answers: bool, texts: bool
    ) -> None:
        rows = JudgeRun.objects.filter(pk__in=runs).select_related("judge", "task")
        self._runs, self._shown = list(rows.order_by("pk")), shown
        self._answers, self._texts = answers, texts
        self._found: dict[int, list[int]] = {}

    def tables(self) -> Iterator[tuple[str, Sequence[str], Rows]]:
        yield "judges", JUDGES, self._judges()
        yield "judge_runs", RUNS, map(self._run, self._runs)
        yield "judge_scores", SCORES, self._scores()
        yield "judge_licences", LICENSES, self._licences()
        yield "judge_help", HELPED, self._helped_means()
        if self._answers:
            yield "judge_calls", CALLS, self._calls()
            yield "judge_answers", ANSWERS, self._texts_of_answers()

    def _judges(self) -> Rows:
        judges = Judge.objects.filter(runs__in=self._runs).distinct()
        for judge in judges.order_by("name", "pk"):
            # an address in an internal network is not disclosed
            url = judge.definition["url"] if address_told(judge) else None
            yield {
                "judge": str(judge),
                "name": judge.name,
                "version": judge.version,
                "kind": judge.what,
                "signature": judge.signature,
                "sha256": judge.sha256,
                "definition": {**judge.definition, "url": url},
                "input_price": float(judge.input_price),
                "output_price": float(judge.output_price),
                "made": f"{judge.created_at:%Y-%m-%d}",
            }

    def _run(self, run: JudgeRun) -> Record:
        states: Counter[str] = Counter()
        models: set[str] = set()
        for some in self._some(run):
            for probe, state, model in some.values_list(
                "probe", "state", "answer__model"
            ):
                states[state] += not probe
                models |= {model} - {None}
        return {
            "run": run.pk,
            "judge": str(run.judge),
            "occasion": run.occasion,
            "mode": run.judge.definition["mode"],
            **_how(run),
            "ratios": bool(run.plan.get("ratios")),
            "criteria": run.plan["criteria"],
            "n_calls": states.total(),
            "n_answered": states[JudgeCall.State.VALID],
            "n_invalid": states[JudgeCall.State.INVALID],
            "models": sorted(models),
            "sent_to": address_told(run.judge) or "not told",
            "fields_sent": list(run.task.field_labels.values()),
            "with_references": run.with_references,
            "expected_cents": run.expected_cents,
            "most_cents": run.most_cents,
            "approved_cents": run.approved_cents,
            "spent_cents": run.microcents / MICROCENTS,
            "asked_on": f"{run.created_at:%Y-%m-%d}",
            "approved_on": f"{run.decided_at:%Y-%m-%d}" if run.decided_at else None,
            "finished_on": f"{run.finished_at:%Y-%m-%d}" if run.finished_at else None,
        }

    def _own(self, run: JudgeRun) -> list[int]:
        if run.pk not in self._found:
            shown = {*self._shown, REFERENCE, None}
            of = run.calls.order_by("pk").values_list("pk", *_SYSTEMS)
            self._found[run.pk] = [
                pk
                for pk, one, other, beside in of.iterator(chunk_size=_AT_ONCE)
                if {one, other, *beside} <= shown
            ]
        return self._found[run.pk]

    def _some(self, run: JudgeRun) -> Iterator[QuerySet[JudgeCall]]:
        for some in in_batches(self._own(run), _AT_ONCE):
            yield run.calls.filter(pk__in=some).order_by("pk")

    def _writes(self, run: JudgeRun) -> bool:
        return self._texts and not run.with_references

    def _calls(self) -> Rows:
        for run in self._runs:
            parts, writes = _parts(run), self._writes(run)
            for some in self._some(run):
                for call in some.select_related("instance", "answer"):
                    yield _call(call, parts, writes=writes)

    def _texts_of_answers(self) -> Rows:
        told: set[int] = set()
        for run in self._runs:
            writes = self._writes(run)
            for some in self._some(run):
                used = set(some.values_list("answer", flat=True)) - told - {None}
                told |= used
                for row in JudgeAnswer.objects.filter(pk__in=used).order_by("pk"):
                    yield {
                        "request": row.request_sha256,
                        "judge": str(run.judge),
                        "text": row.text if writes else None,
                        "refusal": row.refusal if writes else None,
                        "model": row.model,
                        "fingerprint": row.fingerprint,
                        "input_tokens": row.input_tokens,
                        "output_tokens": row.output_tokens,
                        "seconds": row.seconds,
                        "on": f"{row.created_at:%Y-%m-%d}",
                    }

    def _scores(self) -> Rows:
        on_board = JudgeMetric.objects.filter(
            run__in=self._runs, metric__withdrawn_at=None
        ).exclude(metric__published_at=None)
        for row in on_board.select_related("metric", "run__judge").order_by("pk"):
            hidden = self._beside_hidden(row.run)
            scores = OutsideScores.objects.filter(
                metric=row.metric, submission__in=self._shown
            )
            for score in scores.order_by("submission"):
                yield {
                    "run": row.run_id,
                    "criterion": row.criterion,
                    "metric": row.metric.name,
                    "submission": score.submission_id,
                    "value": score.value,
                    "whole": self._answers and score.submission_id not in hidden,
                    "per_instance": score.per_instance if self._answers else [],
                }

    def _beside_hidden(self, run: JudgeRun) -> set[int]:
        shown = {*self._shown, REFERENCE, None}
        return {
            pk
            for pair in run.calls.values_list(*_SYSTEMS).iterator(chunk_size=_AT_ONCE)
            if not (of := {pair[0], pair[1], *pair[2]}) <= shown
            for pk in of
        }

    def _helped_means(self) -> Rows:
        for pk, own in judged_of(self._runs[0].task, self._shown).items():
            for criterion, one in own.items():
                yield {
                    **{
                        name: getattr(one, name)
                        for name in HELPED
                        if hasattr(one, name)
                    },
                    **one.helped.flat("mean"),
                    **one.plain.flat("plain_mean", "plain_low", "plain_high"),
                    "submission": pk,
                    "criterion": criterion,
                    "judges": list(one.judges),
                }

    def _licences(self) -> Rows:
        # results from private outputs are for staff, as on the task's page of judges
        rows = JudgeLicence.objects.filter(
            run__in=public_runs(self._runs)
        ).select_related("run__judge", "run__task")
        for row in rows.order_by("pk"):
            yield {
                "judge": str(row.run.judge),
                "run": row.run_id,
                "criterion": row.criterion,
                "state": row.state,
                "standing": standing_license(row.run.judge, row.run.task, row.criterion)
                == row,
                "reasons": row.reasons,
                "facts": row.facts,
                "moved": row.moved,
                "on": f"{row.at:%Y-%m-%d}",
            }


def _call(
    call: JudgeCall, parts: Sequence[Mapping[str, str]], *, writes: bool
) -> Record:
    marks = call.marks if writes else [{**one, "reason": None} for one in call.marks]
    return {
        "run": call.run_id,
        "call": call.pk,
        "submission": call.submission_id,
        "other": call.other_id,
        "beside": call.beside,
        "instance": call.instance.instance_id,
        # a design may derive others from marked errors
        "criteria": list(parts[call.part] if call.part < len(parts) else call.values),
        "part": call.part,
        "sample": call.sample,
        "probe": call.probe,
        "state": call.state,
        "attempts": call.n_attempts,
        "problem": call.problem if writes else call.problem.partition(":")[0],
        "values": call.values,
        "reasons": call.reasons if writes else None,
        "marks": marks,
        "request": call.answer.request_sha256 if call.answer else None,
    }


def _how(run: JudgeRun) -> Record:
    try:
        asked = requests_of(run)
    except GenieError:
        return dict.fromkeys(("design", "scale", "language", "factor", "errors"))
    marks = asked.design.marks_errors
    return {
        "design": asked.design.slug,
        "scale": asked.scale.slug,
        "language": asked.human.language,
        "factor": asked.rating(1.0),
        "errors": dict(errors_asked(asked.human)) if marks else None,
    }


def _parts(run: JudgeRun) -> list[dict[str, str]]:
    try:
        return requests_of(run).parts
    except GenieError:
        return []
