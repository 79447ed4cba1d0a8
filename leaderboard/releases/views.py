import json
from typing import Any
from zipfile import ZipFile

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import conditional_page

from genie.lib.serving.caches import computed_once
from genie.lib.serving.pages import file_named
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.boards.views.submission import visible_submission
from leaderboard.evaluation.selectors.ranked_scores import sample_is_public
from leaderboard.evaluation.selectors.system_ratings import campaigns_of, evaluation_of
from leaderboard.evaluation.selectors.worker_figures import worker_figures
from leaderboard.releases import croissant
from leaderboard.releases.exports import WRITERS, in_words, paragraph
from leaderboard.releases.models import Release
from leaderboard.releases.selectors.card import Card, card
from leaderboard.releases.selectors.heds import VERSION, Answered, heds
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors import absolute


def card_page(request: HttpRequest, pk: int) -> HttpResponse:
    submission, sections, sheet = _card(request, pk)
    context = {
        "here": "tasks",
        "submission": submission,
        "task": submission.task,
        "sections": [
            (title, [(key, in_words(value), _parts(value)) for key, value in lines])
            for title, lines in sections.items()
            if lines
        ],
        "paragraph": paragraph(sections),
        "n_open": sum(answer.open for answer in sheet),
        "sheet": sheet,
        "version": VERSION,
        "forms": list(WRITERS),
    }
    return render(request, "leaderboard/releases/card.html", context)


def _parts(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return []
    return [(name.replace("_", " "), in_words(part)) for name, part in value.items()]


@conditional_page
def card_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    if form not in WRITERS:
        raise Http404
    submission, sections, sheet = _card(request, pk)
    content_type, write = WRITERS[form]
    address = absolute("leaderboard:card", submission.pk)
    name = f"evaluation-card-{submission.pk}.{form}"
    return file_named(name, write(sections, sheet, address), content_type)


def newest_croissant(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the newest release's Croissant metadata with its archive's checksum."""
    task = get_object_or_404(Task, slug=slug)
    ready = Release.objects.filter(task=task, state=Release.State.DONE)
    release = ready.order_by("-finished_at", "-pk").first()
    if release is None:
        raise Http404("There is no release of this task yet.")
    try:
        with release.file.open("rb") as file, ZipFile(file) as archive:
            found = json.loads(archive.read(f"{task.slug}/{croissant.FILE}"))
    except (FileNotFoundError, KeyError):
        raise Http404("The newest release has no such metadata.") from None
    found["description"] += (
        f" The archive has the SHA-256 {release.sha256} and {release.n_bytes} bytes. "
        "Ask this site's operator for it."
    )
    return JsonResponse(found, content_type="application/ld+json")


def _card(request: HttpRequest, pk: int) -> tuple[Submission, Card, list[Answered]]:
    """Return the card to viewers of the scores: earlier to the team than to others."""
    submission, view = visible_submission(request, pk)
    evaluation = evaluation_of(submission)
    scores_shown = submission.published_at or view.inner
    taken_back = submission.is_withdrawn and not view.inner
    if evaluation is None or not scores_shown or taken_back:
        raise Http404
    team = submission.team.name if view.identity else "anonymous"

    # asked each time: a kept card must not disclose it once a campaign has started
    seed_is_public = sample_is_public(submission.task)

    def fill() -> tuple[Card, list[Answered]]:
        if submission.task.imported:  # three parts name their source
            prefetch_related_objects([submission.task], "imports")
        figures = worker_figures(campaigns_of(evaluation))
        # a file outlives the host of the request
        site = absolute("leaderboard:home").rstrip("/")
        scores = list(evaluation.current_scores.order_by("pk"))
        return (
            card(
                submission,
                evaluation,
                figures,
                scores,
                team=team,
                seed_is_public=seed_is_public,
            ),
            heds(submission, evaluation, figures, scores, site),
        )

    # edits of a short board or of a private system leave no trace in the version
    about = [
        f"{name} {value}"
        for one in (submission, submission.task)
        for name, value in vars(one).items()
        if not name.startswith("_")
    ]
    key = state(submission.task).key("card", team, f"{seed_is_public}", *about)
    return submission, *computed_once(key, fill, KEPT_SECONDS)
