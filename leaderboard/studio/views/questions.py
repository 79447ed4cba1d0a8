"""The questions, the people, and the page that workers would see."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.clickjacking import xframe_options_sameorigin

from crowd.hit_templates.consent import consent_for
from crowd.hit_templates.formats import to_html
from crowd.workers.hit_form import preview
from genie.lib.errors import GenieError
from genie.lib.serving.pages import status_of
from genie.lib.serving.security import POLICY
from genie.lib.typing import Account
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.hidden.preview import Part
from leaderboard.evaluation.services.request import create_request
from leaderboard.studio.forms import AskForm, PeopleForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep
from leaderboard.studio.services.look import Drafted, complete_ask, draft_of
from leaderboard.studio.services.preview import (
    labels_of,
    page_of,
    precision_of,
    price_of,
)
from leaderboard.studio.services.start import request as request_ratings
from leaderboard.studio.services.start import requests_of
from leaderboard.studio.views.access import for_makers, own_draft, page
from leaderboard.submissions.models import Prediction, Submission, Team
from leaderboard.tasks.drafts.ask import Ask
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import bundles

# The hidden test questions of a draft: loaded, drawn, and rolled back.

# The first inputs of a large file are enough, and keep the wait short.
MOST_INPUTS = 300


def hidden_questions(
    material: Material, ask: Ask, *, system: int, by: Account
) -> list[Part]:
    """Draw the questions for one system, or for one and the next, without storing.

    They are drawn again once the task is loaded. A `GenieError` states why no questions
    can be made.
    """
    drafted = draft_of(replace(material, items=material.items[:MOST_INPUTS]), ask)
    if drafted.bundle is None or drafted.problems:
        raise GenieError(" ".join(drafted.problems), code="unusable-task")
    names = list(material.systems)
    names = names[system:] + names[:system]
    with transaction.atomic():
        try:
            task = bundles.import_bundle(drafted.bundle, by=by).task
            systems = [
                _make_submission(task, name, material.systems[name], by=by)
                for name in islice(names, ask.way.n_shown(len(names)))
            ]
            request_ratings(task, systems, by=by)
            subject = [*requests_of(task, systems), systems[0]][0]
            return decide.test_questions(
                decide.require_evaluation(subject, "not-measured")
            )
        finally:
            transaction.set_rollback(True)


def _make_submission(
    task: Task, name: str, outputs: Mapping[str, str], *, by: Account
) -> Submission:
    team, _ = Team.objects.get_or_create(slug=task.slug, defaults={"name": task.slug})
    submission = Submission.objects.create(
        task=task,
        team=team,
        owner_id=by.pk,
        system_name=name,
        file_bytes=0,
        own_state=Submission.State.MEASURED,
    )
    Prediction.objects.bulk_create(
        Prediction(submission=submission, instance=row, text=outputs[row.instance_id])
        for row in task.instances.order_by("position")
    )
    submission.human_evaluation = create_request(
        [submission],
        HumanEvaluation,
        by=by.pk,
        design=task.human.design,
        n_instances=task.sample_size,
    )
    submission.save(update_fields=["human_evaluation"])
    return submission


# The page may be in a frame of this site, and of no other.
_FRAMED = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")


@dataclass(frozen=True)
class Step:
    """A page of questions about the draft; valid answers are stored.

    `then` is the next page, `said` the draft's key for the answers. `form` creates the
    form from the data sent, if any, the stored answers, and the draft's questions;
    `more` returns the rest of the context.
    """

    name: str
    then: str
    said: str
    form: Callable[[Any, Mapping[str, Any], Ask], forms.Form]
    more: Callable[[Draft, Material, Drafted], dict[str, Any]]


def _take_step(request: HttpRequest, pk: int, step: Step) -> HttpResponse:
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    data = request.POST if request.method == "POST" else None
    ask = complete_ask(material, keep.ask_of(draft))
    form = step.form(data, draft.state.get(step.said, {}), ask)
    if form.is_valid():
        keep.keep(draft, **{step.said: form.cleaned_data})
    drafted = draft_of(material, keep.ask_of(draft))
    if form.is_valid() and "on" in request.POST and not drafted.problems:
        return redirect(f"leaderboard:studio-{step.then}", pk=pk)
    context = {
        "form": form,
        "problems": drafted.problems,
        **step.more(draft, material, drafted),
    }
    return page(request, step.name, draft, context, status=status_of(form.errors))


def _beside_questions(
    draft: Draft, _material: Material, drafted: Drafted
) -> dict[str, Any]:
    asked = draft.state.get("asked", {})
    human: Any = drafted.bundle.document["human"] if drafted.bundle else None
    return {
        "instructions": to_html(asked.get("instructions", "")),
        "consent": human and consent_for(human["hit_template"], human).html,
    }


def _beside_people(
    draft: Draft, material: Material, drafted: Drafted
) -> dict[str, Any]:
    written = {"written": keep.written_test(draft)}
    if drafted.bundle is None or drafted.problems:
        return written
    return {
        **written,
        "measured": draft.state.get("measured"),
        "plan": plan_in_figures(material, drafted),
        "figures": labels_of(drafted.bundle, material),
        "precision": precision_of(
            drafted.bundle, material, draft.state.get("measured")
        ),
        "n_all": len(material.items),
    }


_ASK = Step("ask", "people", "asked", AskForm, _beside_questions)
_PEOPLE = Step(
    "people",
    "start",
    "people",
    lambda data, said, _ask: PeopleForm(data, said),
    _beside_people,
)


@for_makers
def ask(request: HttpRequest, pk: int) -> HttpResponse:
    return _take_step(request, pk, _ASK)


@for_makers
def people(request: HttpRequest, pk: int) -> HttpResponse:
    return _take_step(request, pk, _PEOPLE)


@for_makers
def tests(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    n = _number(request.GET.get("system", "")) % len(material.systems)
    context: dict[str, Any] = {
        "systems": list(material.systems),
        "n": n,
        "n_inputs": min(len(material.items), MOST_INPUTS),
        "n_all": len(material.items),
    }
    # A name that no task has: the draft's may be taken by now.
    tried = replace(keep.ask_of(draft), slug=f"{draft.slug[:80]}-preview-{pk}")
    by = cast("Account", request.user)
    try:
        context["parts"] = hidden_questions(material, tried, system=n, by=by)
    except GenieError as error:
        context["problems"] = [error.message]
    return page(request, "tests", draft, context)


@xframe_options_sameorigin
@for_makers
def worker_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one page as workers would see it; answers are explained and not stored."""
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    ask = keep.ask_of(draft)
    request.by_link = ask.volunteers  # type: ignore[attr-defined]
    drafted = draft_of(material, ask) if material else None
    if (
        material is None
        or drafted is None
        or drafted.bundle is None
        or drafted.problems
    ):
        raise Http404("There is no page yet because required fields are missing.")
    n = _number(request.GET.get("n", ""))
    response = preview(request, *page_of(drafted.bundle, material, n))
    response["Content-Security-Policy"] = _FRAMED
    return response


def plan_in_figures(material: Material, drafted: Drafted) -> dict[str, Any] | None:
    if drafted.bundle is None or drafted.problems:
        return None
    human: Any = drafted.bundle.document["human"]
    price = price_of(drafted.bundle, material)
    rated = price.lines[0]
    return {
        "pairs": "comparison" in drafted.bundle.document,
        "n_inputs": human["sample_size"],
        "n_systems": len(material.systems),
        "n_pages": rated.n,
        "per_page": human.get("items_per_page", 1),
        "seconds": human["expected_seconds"],
        "total_seconds": rated.n * human["expected_seconds"],
        "reward_cents": human["reward_cents"],
        "reward_total": rated.cents,
        "price_cents": price.total_cents,
    }


def _number(sent: str) -> int:
    return int(sent) if sent.isdecimal() and len(sent) < 9 else 0
