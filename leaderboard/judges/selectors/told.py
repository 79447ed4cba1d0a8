"""Facts about a run for staff: texts that are sent, progress, cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count, QuerySet

from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.judges.endpoint import endpoints
from leaderboard.judges.models import MICROCENTS, Judge, JudgeCall, JudgeRun
from leaderboard.judges.selectors.requests import BYTES_A_TOKEN

State = JudgeCall.State
_MODEL = ("answer__model", "answer__fingerprint")


def data_sent(run: JudgeRun) -> list[str]:
    plan, made = run.plan, run.judge.definition
    if run.judge.is_scripted:
        where = (
            "Genie sends no data to other servers, because the judge is a script of "
            "this site."
        )
    else:
        host = urlsplit(made["url"]).hostname
        where = f"Sent to {host} ({made['endpoint']}) for the model {made['model']}."
    fields = ", ".join(run.task.field_labels.values()) or "none"
    fields += ", a reference" if plan.get("references") else ""
    return [
        where,
        f"{len(plan['submissions']):,} systems, {len(plan['instances']):,} instances, "
        f"{run.n_calls:,} questions about {', '.join(plan['criteria'])}, in "
        f"{plan.get('n_requests', run.n_calls):,} requests.",
        f"Sent of each instance: {fields}, and the outputs. Their authors are not "
        "sent.",
        *_audit(run),
        _sent_words("Hidden references", run.with_references),
        _sent_words("Outputs that are private or not on the board", run.with_private),
        f"Expected {cents(run.expected_cents)} ({_token_basis(plan)}), at most "
        f"{cents(run.most_cents)} if no question has to be repeated.",
    ]


def address_told(judge: Judge) -> str:
    """Return the host; "" for the operator's own network and unusual addresses."""
    url = urlsplit(judge.definition["url"])
    host = url.hostname or ""
    offered = endpoints().get(judge.definition["endpoint"])
    own = url.scheme != "https" or (offered is not None and offered.private)
    named = "." in host and not host.replace(".", "").isdigit() and ":" not in host
    bare = not (url.username or url.password or url.query or url.fragment)
    return host if named and bare and not own else ""


def texts_sent_by(judge: Judge, runs: Iterable[JudgeRun]) -> str:
    if judge.is_scripted:
        return "nothing, because it is a script of this site"
    runs = list(runs)
    texts = [*runs[0].task.field_labels.values(), "outputs"]
    if any(run.with_references for run in runs):
        texts.append("hidden references")
    elif any(run.plan.get("references") for run in runs):
        texts.append("references")
    host = address_told(judge) or "an undisclosed address"
    return f"{', '.join(texts)}, to {host}, without the authors of the outputs"


def by_judge(runs: QuerySet[JudgeRun]) -> dict[Judge, list[JudgeRun]]:
    found: dict[Judge, list[JudgeRun]] = {}
    for run in runs.select_related("judge", "task").order_by("judge__name", "pk"):
        found.setdefault(run.judge, []).append(run)
    return found


@dataclass(frozen=True)
class Progress:
    run: JudgeRun
    n: int
    answered: int
    invalid: int
    waiting: int
    probes: int
    probes_answered: int
    # `problem` and `n` of each, the most frequent first
    problems: list[dict[str, Any]]
    models: list[str]
    spent_cents: float

    @property
    def texts_sent(self) -> list[str]:
        return data_sent(self.run)


def progress(run: JudgeRun) -> Progress:
    return progress_of([run])[run.pk]


def progress_of(runs: Sequence[JudgeRun]) -> dict[int, Progress]:
    """Count each run's questions, failures and cost; an audit's questions separately.

    Two queries for any number of runs.
    """
    calls = JudgeCall.objects.filter(run__in=runs).order_by()
    counted: dict[int, Counter[tuple[bool, str]]] = defaultdict(Counter)
    problems: dict[int, Counter[str]] = defaultdict(Counter)
    for pk, probe, state, problem, n in calls.values_list(
        "run", "probe", "state", "problem"
    ).annotate(n=Count("pk")):
        counted[pk][not probe, state] += n
        if not probe and state == State.INVALID:
            problems[pk][problem] += n
    models: dict[int, list[str]] = defaultdict(list)
    answered_by = calls.exclude(answer=None).order_by(*_MODEL)
    for pk, *named in answered_by.values_list("run", *_MODEL).distinct():
        models[pk].append(" ".join(filter(None, named)))
    return {
        run.pk: Progress(
            run,
            n=run.n_calls,
            answered=counted[run.pk][True, State.VALID],
            invalid=counted[run.pk][True, State.INVALID],
            waiting=counted[run.pk][True, State.WAITING],
            probes=sum(counted[run.pk][False, state] for state in State),
            probes_answered=counted[run.pk][False, State.VALID],
            problems=[
                {"problem": problem, "n": n}
                for problem, n in sorted(
                    problems[run.pk].items(), key=lambda one: (-one[1], one[0])
                )
            ],
            models=models[run.pk],
            spent_cents=round(run.microcents / MICROCENTS, 6),
        )
        for run in runs
    }


def in_words(row: JudgeLicence) -> str:
    said = [
        f"{one['name']}{'' if one['holds'] else ', refused'}: {one['words']}"
        for one in row.reasons
    ]
    moved = [f"moved: {one}" for one in row.moved]
    return (
        f"{row.at:%Y-%m-%d %H:%M}, {row.criterion}: {row.get_state_display().upper()} "
        f"({'; '.join(moved + said)})."
    )


def cents(n: float) -> str:
    """Format an amount in dollars, rounded up to cents, so that no cost is $0.00.

    Examples
    --------
    >>> cents(7), cents(0.2)
    ('$0.07', '$0.01')
    """
    return f"${ceil(n) / 100:,.2f}"


def _token_basis(plan: Mapping[str, Any]) -> str:
    if n := plan.get("n_measured"):
        return f"{plan['bytes_a_token']:.2f} bytes per token, measured on {n:,} answers"
    return f"{BYTES_A_TOKEN} bytes per token, estimated"


def _audit(run: JudgeRun) -> list[str]:
    probes = run.plan.get("n_probes", 0)
    if not probes:
        return ["No audit by planted commands. Without one, there is no license."]
    return [
        f"Audit: {probes:,} more questions, about outputs that end with a planted "
        "command or harmless words. The answers are used only for the audit."
    ]


def _sent_words(what: str, sent: bool) -> str:
    return f"{what}: {'SENT' if sent else 'not sent'}."
