"""Facts about judges for cards, methods and releases, kept separate from people."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from leaderboard.boards.selectors.judged import judged_of
from leaderboard.evaluation.selectors.board_ratings import who_ranks
from leaderboard.judges.definition import (
    JOINT,
    MAY_BE_LEFT_OUT,
    PAIRWISE,
    POINTWISE,
    digest,
)
from leaderboard.judges.models import (
    MICROCENTS,
    Judge,
    JudgeAnswer,
    JudgeCall,
    JudgeRun,
)
from leaderboard.judges.selectors.licenses import standing_license
from leaderboard.judges.selectors.told import by_judge, texts_sent_by
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

TITLE = "Judges (programs)"
RANKS = "ranks"
COST = "cost of all its runs on the task, US dollars"


_MODES = {
    POINTWISE: "one output",
    PAIRWISE: "two outputs, in both orders",
    JOINT: "several outputs at once, in both orders",
}


@dataclass(frozen=True)
class JudgedBy:
    """A judge's finished runs on a task.

    `n_changed` counts questions about outputs modified for an audit, which count
    nowhere. `models` are as reported by the endpoint.
    """

    judge: Judge
    runs: list[JudgeRun]
    n: int
    n_invalid: int
    n_changed: int
    models: list[str]
    licenses: dict[str, str]

    @property
    def name(self) -> str:
        kind = "script" if self.judge.is_scripted else "judge"
        return f"{kind} {self.judge}"

    @property
    def prompt_sha256(self) -> str:
        made = self.judge.definition
        return digest([made["system"], made["prompt"]])

    @property
    def dollars(self) -> float:
        """The cost of its runs in all, including other systems."""
        return sum(run.microcents for run in self.runs) / MICROCENTS / 100

    @property
    def days(self) -> str:
        ends = {f"{run.created_at:%Y-%m-%d}" for run in self.runs}
        ends |= {f"{one.finished_at:%Y-%m-%d}" for one in self.runs if one.finished_at}
        return " to ".join(sorted({min(ends), max(ends)}))

    @property
    def sent(self) -> str:
        return texts_sent_by(self.judge, self.runs)

    @property
    def settings(self) -> str:
        made = self.judge.definition
        said = {
            name: "not sent" if made[name] is None else f"{made[name]:g}"
            for name in MAY_BE_LEFT_OUT
        }
        said |= {"k": made["k"], made["limit"]: made["max_tokens"]}
        return ", ".join(f"{name} {value}" for name, value in said.items())


def judged_by(task: Task, submission: Submission | None = None) -> list[JudgedBy]:
    calls = JudgeCall.objects.filter(
        run__task=task, run__state=JudgeRun.State.DONE
    ).order_by()
    if submission is None:
        calls = calls.filter(Q(other=None) | public("other__"), public("submission__"))
    else:
        calls = calls.filter(Q(submission=submission) | Q(other=submission))
    runs = JudgeRun.objects.filter(pk__in=calls.values("run"))
    return [_judged_by(judge, own, calls) for judge, own in by_judge(runs).items()]


def _judged_by(
    judge: Judge, runs: list[JudgeRun], calls: QuerySet[JudgeCall]
) -> JudgedBy:
    own = calls.filter(run__in=runs)
    asked = own.filter(probe="")
    answers = JudgeAnswer.objects.filter(pk__in=own.values("answer")).order_by()
    criteria = dict.fromkeys(name for run in runs for name in run.plan["criteria"])
    return JudgedBy(
        judge=judge,
        runs=runs,
        n=asked.count(),
        n_invalid=asked.filter(state=JudgeCall.State.INVALID).count(),
        n_changed=own.exclude(probe="").count(),
        models=sorted(set(answers.values_list("model", flat=True)) - {""}),
        licenses={name: _licence(judge, runs[0].task, name) for name in criteria},
    )


def _licence(judge: Judge, task: Task, criterion: str) -> str:
    found = standing_license(judge, task, criterion)
    if found is None:
        return "none"
    return f"{found.get_state_display()} on {found.at:%Y-%m-%d}"


def section_of(submission: Submission) -> list[tuple[str, Any]]:
    found = judged_by(submission.task, submission)
    if not found:
        return []
    helped = judged_of(submission.task, [submission.pk]).get(submission.pk, {})
    return [
        (RANKS, who_ranks(submission.task)),
        *(
            (
                f"{name}: mean with licensed judges' help, next to people's alone",
                {
                    "with help": f"{one.helped:.1f}",
                    "people alone": f"{one.plain:.1f}",
                    "labels saved": one.saved,
                    "judges": list(one.judges),
                    "seed": str(one.seed),
                },
            )
            for name, one in helped.items()
        ),
        *((one.name, _parts(one)) for one in found),
    ]


def _parts(one: JudgedBy) -> dict[str, Any]:
    made = one.judge.definition
    return {
        "is": f"{one.judge.what}; its answers are not people's",
        "model": made["model"],
        "answered as": one.models,
        "prompt (SHA-256)": one.prompt_sha256,
        "asked about": _MODES[made["mode"]],
        "scale": made["scale"] or "that of people",
        "settings": one.settings,
        "signature": one.judge.signature,
        "asked on": one.days,
        "questions about this system": one.n,
        "without a valid answer": one.n_invalid,
        "about outputs changed for an audit (not counted)": one.n_changed,
        "sent": one.sent,
        COST: round(one.dollars, 4),
        "licence": one.licenses,
        "system message, verbatim": made["system"],
        "prompt, verbatim": made["prompt"],
    }


def sentences(found: list[JudgedBy]) -> list[str]:
    if not found:
        return []
    said = [
        f"{one.name} ({one.judge.what}, {', '.join(one.models) or 'model not named'}, "
        f"prompt {one.prompt_sha256[:12]}, {one.settings}) answered {one.n:,} "
        f"questions on {one.days}, {one.n_invalid:,} without a valid answer, for "
        f"${one.dollars:,.2f}; license: "
        + ", ".join(f"{name} {words}" for name, words in one.licenses.items())
        for one in found
    ]
    programs = "; ".join(said)
    return [
        f"Judges (programs) also rated the outputs: {programs}",
        who_ranks(found[0].runs[0].task).rstrip("."),
    ]
