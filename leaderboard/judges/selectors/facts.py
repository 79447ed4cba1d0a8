"""The facts behind a license: the judge, the question and the crowd."""

import re
from typing import Any

from django.db.models import QuerySet

from crowd.hits.models import ELSEWHERE
from crowd.platforms.base import kind_of
from crowd.workers.services import requirements
from crowd.workers.services.requirements import of_pool
from genie.lib.errors import GenieError
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
)
from leaderboard.judges.definition import digest
from leaderboard.judges.models import JudgeCall, JudgeRun
from leaderboard.judges.prompt import labels
from leaderboard.judges.selectors.pages import human_of, shape_of
from leaderboard.judges.selectors.requests import outputs_of, request_for, requests_of
from leaderboard.judges.selectors.told import progress
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import stated_requirements as stated

MODEL, _REQUEST = "model", "request"
# Parts of a page's form that do not affect ratings, or are separate facts.
_APART = {"instructions", "consent", "undo_seconds"}
# Number of a run's answers checked until one can be asked again.
_LOOKED_AT = 20
_SHOWN = 60


def facts_of(run: JudgeRun, criterion: str) -> dict[str, str]:
    """Return the facts behind a license of this run, in words.

    Long texts appear as their first words and hash. `judge` never changes, because a
    new definition is a different judge; `request` is the whole prompt without texts.
    """
    facts = {
        MODEL: ", ".join(progress(run).models) or "not said",
        "judge": run.judge.signature,
    }
    try:
        return {**facts, **_question_facts(run, criterion), **_crowd(run)}
    except GenieError as error:
        # the task's present design or scale is not one for judges
        return {**facts, "criterion": error.message}


def changed_facts(given_on: dict[str, str], now: dict[str, str]) -> list[str]:
    names = [name for name, was in given_on.items() if now.get(name) != was]
    # a hash is shown only if nothing else tells what has changed
    named = [name for name in names if name != _REQUEST] or names
    return [
        f"{name}: {given_on[name]}, now {now.get(name, 'not said')}" for name in named
    ]


def is_asked_so(run: JudgeRun, criterion: str) -> bool:
    """Check, by one request's hash, whether the question would be the same today."""
    try:
        asked = requests_of(run)
    except GenieError:
        return False
    parts = [i for i, part in enumerate(asked.parts) if criterion in part]
    answered = run.calls.filter(part__in=parts, probe="", state=JudgeCall.State.VALID)
    calls = answered.select_related("instance", "answer").order_by("pk")[:_LOOKED_AT]
    outputs = outputs_of(
        run.task, calls, references=run.with_references, private=run.with_private
    )
    for call in calls:
        last = call.n_attempts - 1
        try:
            request = asked.request(call, outputs, attempt=last, occasion=run.occasion)
        except KeyError:
            continue  # it may no longer be sent
        return call.answer is not None and (
            call.answer.request_sha256 == request.sha256
        )
    return bool(parts)


def _question_facts(run: JudgeRun, criterion: str) -> dict[str, str]:
    asked = requests_of(run)
    part = next((one for one in asked.parts if criterion in one), {})
    shape = shape_of(asked.human, asked.design, {})
    body = request_for(
        run.judge, asked.instructions, part, [], asked.scale, shape=shape
    ).body
    options = " / ".join(labels(asked.scale)) if asked.scale.options else ""
    ends = f"{asked.scale.minimum:g} to {asked.scale.maximum:g}"
    return {
        "criterion": part.get(criterion, "not asked about"),
        "scale": f"{asked.scale.slug}: {options or ends}",
        "instructions": _digest_words(asked.instructions),
        _REQUEST: digest(body)[:12],
    }


def _crowd(run: JudgeRun) -> dict[str, str]:
    human = human_of(run.judge, run.task)
    wanted = [*of_pool(run.task.slug), *requirements.read(stated(human))]
    required = sorted({str(one) for one in wanted if one.demands})
    if human.qualification_test is not None:
        required.append("qualification test of the task")
    settings = human.form(human.criteria)
    shown = {name: settings[name] for name in settings if name not in _APART}
    form = digest([shown, human.design])[:12]
    return {
        "crowd": (
            "people elsewhere" if run.task.imported else kind_of(human.platform).title
        ),
        "requirements": "; ".join(required) or "none",
        "HIT template": f"{human.hit_template}, form {form}",
    }


def _digest_words(text: str) -> str:
    first = " ".join(re.sub(r"[#*_`]+", "", text).split())
    first = first if len(first) <= _SHOWN else f"{first[:_SHOWN].rstrip()}…"
    return f"“{first}” ({digest(text)[:12]})"


def asked_as_now(
    task: Task, criterion: str, evaluations: QuerySet[HumanEvaluation]
) -> QuerySet[HumanEvaluation]:
    """Exclude evaluations with a different crowd or wording of the criterion.

    Campaigns do not store which requirements their workers met, so changed requirements
    do not exclude them; imported ratings count as they are.
    """
    settings = task.configuration
    configs: list[Any] = [settings.human, settings.comparison, settings.joint]
    as_now = {
        (one.platform, one.criteria[criterion])
        for one in configs
        if criterion in one.criteria
    }
    rows = EvaluationCampaign.objects.filter(evaluation__in=evaluations).select_related(
        "campaign__hit_type"
    )
    otherwise = {
        row.evaluation_id
        for row in rows.exclude(campaign__platform=ELSEWHERE)
        if (wording := row.campaign.hit_type.criteria.get(criterion)) is not None
        and (row.campaign.platform, wording) not in as_now
    }
    return evaluations.exclude(pk__in=otherwise)
