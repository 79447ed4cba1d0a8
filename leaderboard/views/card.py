"""The evaluation card of a submission, as page and files."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.exports.card import WRITERS, paragraph, said
from leaderboard.models import Submission
from leaderboard.selectors.campaigns import campaigns_of, evaluation_of
from leaderboard.selectors.card import Card, card
from leaderboard.selectors.heds import Answered, heds
from leaderboard.selectors.heds_questions import VERSION
from leaderboard.selectors.worker_figures import worker_figures
from leaderboard.views.submission import seen_by


def card_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the card, with its files."""
    found, made, sheet = _card(request, pk)
    context = {
        "here": "tasks",
        "submission": found,
        "task": found.task,
        "sections": [
            (title, [(key, said(value), _parts(value)) for key, value in lines])
            for title, lines in made.items()
            if lines
        ],
        "paragraph": paragraph(made),
        "sheet": sheet,
        "version": VERSION,
        "forms": list(WRITERS),
    }
    return render(request, "leaderboard/card.html", context)


def _parts(value: Any) -> list[tuple[str, str]]:
    """Give what a line says of several things one by one."""
    if not isinstance(value, dict):
        return []
    return [(name.replace("_", " "), said(part)) for name, part in value.items()]


def card_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """Give the card as a file."""
    if form not in WRITERS:
        raise Http404
    found, made, sheet = _card(request, pk)
    content_type, write = WRITERS[form]
    address = request.build_absolute_uri(f"/submissions/{found.pk}/card/")
    response = HttpResponse(write(made, sheet, address), content_type=content_type)
    name = f"evaluation-card-{found.pk}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _card(request: HttpRequest, pk: int) -> tuple[Submission, Card, list[Answered]]:
    """Give the card to those who may see the scores: the team sooner than others."""
    found, view = seen_by(request, pk)
    evaluation = evaluation_of(found)
    told = found.published_at or view.inner
    taken_back = found.state == Submission.State.WITHDRAWN and not view.inner
    if evaluation is None or not told or taken_back:
        raise Http404
    team = found.team.name if view.identity else "anonymous"
    figures = worker_figures(campaigns_of(evaluation))
    site = request.build_absolute_uri("/").rstrip("/")
    return (
        found,
        card(found, evaluation, figures, team=team),
        heds(found, evaluation, figures, site),
    )
