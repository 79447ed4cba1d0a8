from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.safestring import SafeString

from crowd.hit_templates.form import CHECKBOXES
from crowd.scales.find import all_scales
from leaderboard.boards.charts import difference
from leaderboard.boards.selectors.evidence import MetricLine
from leaderboard.boards.selectors.output_sorting import (
    POSITION,
    RATING,
    Arranged,
    Wish,
    arranged,
    choices,
    read_wish,
)
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.ratings_beside import MarkedError, marked_errors
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    Output,
    output,
    outputs_page,
    predictions_at,
    rivals,
    texts_at,
)

REFERENCE = "reference"
# Limit of outputs per page; each escaped character may take six bytes.
MOST_CHARACTERS = 120_000


@dataclass(frozen=True)
class Shown:
    output: Output
    rating: float | None
    value: float | None
    # the criterion in words, and the count of each answer
    said: list[tuple[str, list[tuple[str, int]]]]
    boxes: list[str]
    errors: Sequence[MarkedError] = ()
    other: str | None = None
    # the address of the whole text, if this is its beginning
    whole_query: str = ""
    ours_marked: SafeString | None = None
    other_marked: SafeString | None = None


@dataclass(frozen=True)
class Header:
    label: str
    query: str
    sorted: str = ""


def outputs_context(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    metrics: Sequence[MetricLine],
) -> dict[str, Any]:
    """Return the outputs' context; ratings only if `evaluation` is given."""
    orders = choices(metrics, judged=evaluation is not None)
    parameters = request.GET
    wish = read_wish(parameters, [key for key, _ in orders])
    headline = metrics[0].words.slug if metrics else ""
    arrangement = arranged(submission, evaluation, wish, headline)
    only = [one for one in arrangement.positions if str(one) == parameters.get("only")]
    page = outputs_page(only or arrangement.positions, parameters.get("page"))
    others = rivals(submission, request.user)
    against = _against(submission, others, parameters.get("against", ""))
    kept = {"against": _key(against)} if against else {}
    kept |= {"open": "1"} if parameters.get("open") == "1" else {}
    query = wish.query() | kept
    metric = metric_words(arrangement.metric).label if arrangement.metric else ""
    errors = marked_errors(evaluation, list(page)) if evaluation else {}
    return {
        "page": page,
        "outputs": [
            replace(one, errors=errors.get(one.output.position, ()))
            for one in _shown(
                submission, list(page), arrangement, against, _answers(evaluation)
            )
        ],
        "wish": wish,
        "orders": orders,
        "others": others,
        "against": against,
        "against_key": _key(against),
        "metric": metric,
        "headers": _headers(wish, kept, arrangement, metric),
        "opened": "open" in kept,
        "outputs_query": f"{urlencode(query)}&" if query else "",
        "open_query": urlencode(wish.query() | kept | {"open": "1"}),
        "closed_query": urlencode({k: v for k, v in query.items() if k != "open"}),
    }


def _headers(
    wish: Wish, kept: dict[str, str], arrangement: Arranged, metric: str
) -> dict[str, Header]:
    columns = {
        "instance": (POSITION, "Instance"),
        "rating": (RATING, "Rating" if arrangement.ratings else ""),
        "value": (arrangement.metric, metric),
    }
    way = "ascending" if wish.ascending else "descending"
    return {
        name: Header(
            label,
            urlencode(_turned(wish, key).query() | kept),
            way if key == wish.key else "",
        )
        for name, (key, label) in columns.items()
        if label
    }


def _turned(wish: Wish, key: str) -> Wish:
    return replace(wish, key=key, ascending=not (wish.key == key and wish.ascending))


def _against(
    submission: Submission, others: list[tuple[int, str]], typed: str
) -> Submission | str | None:
    """Return the other system among the visible ones; guessed ids are refused."""
    if typed == REFERENCE and not submission.task.hidden_references:
        return REFERENCE
    # compared as text: an address can select only a listed system
    if typed not in {str(pk) for pk, _ in others}:
        return None
    return Submission.objects.filter(pk=int(typed)).first()


def _key(against: Submission | str | None) -> str:
    return str(against.pk) if isinstance(against, Submission) else against or ""


def _shown(
    submission: Submission,
    positions: list[int],
    arrangement: Arranged,
    against: Submission | str | None,
    names: Mapping[float, str],
) -> list[Shown]:
    texts = texts_at(against, positions) if isinstance(against, Submission) else {}
    most = MOST_CHARACTERS // max(1, len(positions) * (2 if against else 1))
    shown = []
    for prediction in predictions_at(submission, positions):
        ours = output(submission, prediction)
        if against == REFERENCE:
            other = ours.references[0] if ours.references else None
        else:
            other = texts.get(ours.position)
        is_cut = max(len(ours.text), len(other or "")) > most
        if is_cut:
            ours = replace(ours, text=submission.task.output(ours.text[:most]))
            other = other and submission.task.output(other[:most])
        shown.append(
            Shown(
                output=ours,
                rating=arrangement.ratings.get(ours.position),
                value=arrangement.values.get(ours.position),
                said=_said(arrangement.said.get(ours.position, {}), names),
                boxes=[CHECKBOXES[name] for name in arrangement.boxes(ours.position)],
                other=other,
                whole_query=f"only={ours.position}&open=1" if is_cut else "",
                ours_marked=None if other is None else difference(ours.text, other),
                other_marked=None if other is None else difference(other, ours.text),
            )
        )
    return shown


def _said(
    answers: dict[str, list[float]], names: Mapping[float, str]
) -> list[tuple[str, list[tuple[str, int]]]]:
    return [
        (
            criterion,
            [
                (names.get(value, f"{value:g}"), n)
                for value, n in sorted(Counter(values).items(), reverse=True)
            ],
        )
        for criterion, values in answers.items()
        if criterion not in CHECKBOXES
    ]


def _answers(evaluation: HumanEvaluation | None) -> dict[float, str]:
    scale = all_scales().get(evaluation.campaign.hit_type.scale) if evaluation else None
    return {option.value: option.label for option in scale.options} if scale else {}
