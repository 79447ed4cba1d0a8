"""What a person must know of a run: which texts leave the house, how far it is, what it cost."""

from __future__ import annotations

from math import ceil
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count

from leaderboard.judges.models import MICROCENTS, JudgeAnswer, JudgeCall, JudgeRun
from leaderboard.judges.selectors.sheets import task_of
from leaderboard.stats.judges.licence import Licence

State = JudgeCall.State


def leaving(run: JudgeRun) -> list[str]:
    """Say in sentences what is sent where if the run is approved."""
    plan, made = run.plan, run.judge.definition
    if run.judge.scripted:
        where = "Nothing leaves this site: a script of its own judges."
    else:
        host = urlsplit(made["url"]).hostname
        where = f"Goes to {host} ({made['endpoint']}), for the model {made['model']}."
    fields = ", ".join(task_of(run).field_labels.values()) or "none"
    return [
        where,
        f"{len(plan['submissions']):,} systems, {len(plan['instances']):,} instances, "
        f"{run.n_calls:,} questions about {', '.join(plan['criteria'])}.",
        f"Sent of each instance: {fields}, and the outputs; nothing of who made them.",
        _said("Hidden references", run.with_references),
        _said("Outputs that are private or not on the board", run.with_private),
        f"Expected {cents(run.expected_cents)}, at most {cents(run.most_cents)} if no "
        "question has to be asked again.",
    ]


def progress(run: JudgeRun) -> dict[str, Any]:
    """Count a run's questions, what went wrong with them, and its cost."""
    states = run.calls.values_list("state").annotate(n=Count("pk")).order_by("state")
    by_state = dict(states)
    wrong = (
        run.calls.filter(state=State.INVALID)
        .values_list("problem")
        .annotate(n=Count("pk"))
        .order_by("-n", "problem")
    )
    models = (
        JudgeAnswer.objects.filter(pk__in=run.calls.values("answer"))
        .order_by("model", "fingerprint")
        .values_list("model", "fingerprint")
        .distinct()
    )
    return {
        "n": run.n_calls,
        "answered": by_state.get(State.VALID, 0),
        "invalid": by_state.get(State.INVALID, 0),
        "waiting": by_state.get(State.WAITING, 0),
        "problems": [{"problem": problem, "n": n} for problem, n in wrong],
        "models": [" ".join(filter(None, pair)) for pair in models],
        "spent_cents": round(run.microcents / MICROCENTS, 6),
    }


def in_words(licence: Licence) -> str:
    """Write a licence's state and each of its reasons."""
    said = [
        f"{one.name}{'' if one.holds else ', refused'}: {one.words}"
        for one in licence.reasons
    ]
    moved = [f"moved: {one}" for one in licence.moved]
    return f"{licence.state.upper()} ({'; '.join(said + moved)})."


def cents(n: float) -> str:
    """Write an amount in dollars, up to the next cent: what costs something is not $0.00.

    Examples
    --------
    >>> cents(7), cents(0.2)
    ('$0.07', '$0.01')
    """
    return f"${ceil(n) / 100:,.2f}"


def _said(what: str, sent: bool) -> str:
    return f"{what}: {'SENT' if sent else 'not sent'}."
