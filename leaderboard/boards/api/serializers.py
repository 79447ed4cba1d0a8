from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.reverse import reverse

from genie.lib.interval import Interval
from leaderboard.api.query import Body
from leaderboard.api.records import HTML_URL_HELP, HtmlUrl, Record, html_url
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.judged import JUDGED_HELP, judged_of
from leaderboard.boards.selectors.rows import Attempts, attempts_of
from leaderboard.boards.selectors.submission_progress import (
    ScoreChange,
    score_changes,
    scores_of,
    still_open,
)
from leaderboard.evaluation.api.serializers import Fields, result_field
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.result_columns import board_columns, columns_of
from leaderboard.evaluation.selectors.ranked_scores import partial_of_score
from leaderboard.evaluation.selectors.system_ratings import campaigns_of, evaluation_of
from leaderboard.evaluation.selectors.worker_figures import paid_and_fee
from leaderboard.metric_runs.models import MetricResult
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP
from leaderboard.stats.systems.linking import LinkingConstant
from leaderboard.submissions.models import (
    DETAILS,
    Submission,
    SubmissionEvent,
    detail_names,
)
from leaderboard.submissions.selectors import VisibleParts
from leaderboard.tasks.api import ImportedSerializer, imported_json

State = Submission.State


class NewSubmissionSerializer(Body):
    """Parameters, as multipart/form-data."""

    task = serializers.SlugField(help_text="Slug of the benchmark task.")
    system_name = serializers.CharField(max_length=100)
    file = serializers.FileField(
        allow_empty_file=True,  # the service refuses it with its own code
        help_text="JSON object, JSONL, TSV or one line per instance; plain or gzip.",
    )
    team = serializers.SlugField(
        required=False,
        help_text="Slug of one of your teams; required if you are a member of several.",
    )
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=4000
    )
    links = serializers.ListField(
        child=serializers.CharField(max_length=500, allow_blank=True),
        required=False,
        max_length=10,
        help_text="Web addresses; repeat the field for more than one.",
    )
    visibility = serializers.ChoiceField(
        choices=Submission.Visibility.choices, required=False
    )
    anonymous_until = serializers.DateField(
        required=False,
        help_text="Team, description, links and other information about the system are "
        "hidden until this day.",
    )

    def get_fields(self) -> Fields:
        about: dict[str, Any] = {"required": False, "allow_blank": True}
        details = {
            detail.name: serializers.ChoiceField(
                detail.field.choices, help_text=detail.asked, **about
            )
            if detail.field.choices
            else serializers.CharField(
                max_length=detail.field.max_length, help_text=detail.asked, **about
            )
            for detail in DETAILS
        }
        return super().get_fields() | details


class TeamSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()


class FileSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    sha256 = serializers.CharField()
    bytes = serializers.IntegerField()
    format = serializers.CharField(help_text="Empty until the file has been validated.")


class FileErrorSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField()
    examples = serializers.ListField(child=serializers.DictField())


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    sentence = serializers.CharField()
    figures = serializers.DictField()


class FailureSerializer(serializers.Serializer[Any]):
    step = serializers.CharField()
    reason = serializers.CharField()
    permanent = serializers.BooleanField(
        help_text="False: it will be retried automatically."
    )


class EventSerializer(Record):
    record = SubmissionEvent
    shown = "state sentence at"
    sentence = serializers.CharField(
        allow_null=True, help_text="Null for readers outside the team."
    )


class MetricValueSerializer(Record):
    record = MetricResult
    shown = "value signature computed_at"


class ScoreLinkSerializer(Record):
    """How the crowd behind a score is linked to an earlier one."""

    record = LinkingConstant
    shown = "anchor estimate low high standard_error unit n_outputs n_ratings n_workers"
    anchor = serializers.IntegerField(help_text="Id of the anchor's submission.")
    unit = serializers.CharField(help_text="points or percent.")


class EndsSerializer(Record):
    record = Interval
    shown = "mean=estimate low high"


class JudgedSerializer(serializers.Serializer[Any]):
    """People's mean with the help of licensed judges, which are programs."""

    criterion = serializers.CharField()
    helped = EndsSerializer(help_text="With the judges.")
    plain = EndsSerializer(help_text="From people's ratings alone.")
    explained = serializers.FloatField(
        help_text="Share of the variance between instances that the judges predict."
    )
    labels_saved = serializers.FloatField(
        help_text="Instances that people would not have had to rate for this interval. "
        "Negative if the judges make it wider."
    )
    n_people = serializers.IntegerField(help_text="Instances that people rated.")
    n_judge = serializers.IntegerField(help_text="Instances that the judges scored.")
    judges = serializers.ListField(
        child=serializers.CharField(), help_text="Each with what kind of program it is."
    )
    seed = serializers.IntegerField()


class ScoreSerializer(serializers.Serializer[Any]):
    partial = serializers.SerializerMethodField(  # type: ignore[assignment]
        help_text='Set if too few instances were rated, such as "stopped at 154 of 800". '
        "Partial scores have a rank only if staff decide so."
    )
    created_at = serializers.DateTimeField()
    link = ScoreLinkSerializer(
        allow_null=True,
        help_text="The anchor's score by this crowd minus its earlier score. Null if the "
        "score is not linked to an earlier crowd. It does not change the score "
        "itself.",
    )

    def get_fields(self) -> Fields:
        columns = {
            column.name: result_field(
                column, source=column.path and column.path.replace("__", ".")
            )
            for column in columns_of("api")
        }
        return columns | super().get_fields()

    def get_partial(self, score: Score) -> str | None:
        partial = partial_of_score(score)
        return str(partial) if partial else None


class ScoreChangeSerializer(Record):
    """A published score that was computed again: why, and what that changed."""

    record = ScoreChange
    shown = "criterion at reason before after difference was_provisional"
    help_texts = {
        "reason": 'Such as "2 workers excluded after publication".',
        "before": "The previous mean.",
        "after": "Null if no ratings count any longer.",
        "was_provisional": "Whether the previous score was provisional.",
    }


class SubmissionSerializer(Record):
    """A line of a list."""

    record = Submission
    shown = (
        "id url html_url task system_name team visibility anonymous_until simulated "
        "imported state n_warnings created_at published_at"
    )
    url = serializers.URLField()
    html_url = serializers.URLField(help_text=HTML_URL_HELP)
    task = serializers.CharField()
    team = TeamSerializer(allow_null=True, help_text="Null while anonymous.")
    state = serializers.ChoiceField(choices=Submission.State.choices)
    imported = ImportedSerializer(
        allow_null=True, help_text="Source of imported ratings. Null otherwise."
    )
    n_warnings = serializers.IntegerField()
    help_texts = {"simulated": "Rated by simulated annotators, not by people."}


class AttemptsSerializer(Record):
    record = Attempts
    shown = "n n_rated is_best low high"
    help_texts = {
        "n": "Withdrawn and private ones included.",
        "n_rated": "Attempts that have had a score.",
        "is_best": "Whether this is the best of several rated ones.",
        "low": "95% interval of the ranking score, corrected for the choice of the best "
        "attempt (Šidák). Null otherwise.",
    }


class SubmissionDetailSerializer(SubmissionSerializer):
    """A submission with its events; null where only its team and staff have access."""

    attempts = AttemptsSerializer(
        allow_null=True, help_text="The team's attempts on the task."
    )
    description = serializers.CharField(allow_null=True)
    links = serializers.ListField(child=serializers.CharField(), allow_null=True)
    baseline = serializers.CharField(
        help_text="reference (a human reference), baseline, or empty. Set by staff."
    )
    file = FileSerializer(allow_null=True)
    errors = FileErrorSerializer(many=True, allow_null=True)  # type: ignore[assignment]
    warnings = WarningSerializer(many=True)
    failure = FailureSerializer(allow_null=True)
    cost_cents = serializers.IntegerField(
        allow_null=True, help_text="Approved budget of the human evaluation."
    )
    paid_cents = serializers.IntegerField(
        allow_null=True,
        help_text="Amount paid to workers. Public once the submission is published.",
    )
    fee_cents = serializers.IntegerField(allow_null=True, help_text="Platform fees.")
    events = EventSerializer(many=True)
    metrics = serializers.DictField(child=MetricValueSerializer())
    scores = ScoreSerializer(many=True)
    with_judges = serializers.DictField(
        child=JudgedSerializer(),
        help_text="By criterion, if licensed judges (programs) adjust people's mean. Ranks "
        "use people's ratings alone unless the task sets `judges.rank`.",
    )
    provisional_because = serializers.ListField(
        child=serializers.CharField(),
        help_text="Remaining steps before the scores are final. Empty otherwise.",
    )
    score_changes = ScoreChangeSerializer(
        many=True, help_text="Changes of published scores, oldest first."
    )

    def get_fields(self) -> Fields:
        details = {
            detail.name: serializers.CharField(
                allow_null=True, help_text=detail.answered
            )
            for detail in DETAILS
        }
        return super().get_fields() | details


class HumanScoreSerializer(serializers.Serializer[Any]):
    """Human score for one criterion, from 0 to 100, with its 95% interval."""

    def get_fields(self) -> Fields:
        return {
            column.name: result_field(column, plain=column.name in {"low", "high"})
            for column in board_columns("api")
        }


class PartialSerializer(serializers.Serializer[Any]):
    """A score from too few instances, ranked only if staff decided so."""

    n = serializers.IntegerField(help_text="Instances that were rated.")
    of = serializers.IntegerField(help_text="Instances in the sample.")
    said = serializers.CharField(
        source="__str__", help_text='A phrase such as "stopped at 154 of 800".'
    )


class PendingSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField(help_text="Instances rated so far.")
    of = serializers.IntegerField(help_text="Instances to be rated.")


class StandingSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="pk", help_text="Its id.")
    url = serializers.HyperlinkedIdentityField(
        "api:submission-detail", lookup_field="pk"
    )
    html_url = HtmlUrl("submission")
    rank_first = serializers.IntegerField(
        allow_null=True, help_text=f"Best rank. {RANK_RULE} {RANK_SUMS_HELP}"
    )
    rank_last = serializers.IntegerField(allow_null=True, help_text="Worst rank.")
    cluster = serializers.IntegerField(
        allow_null=True,
        help_text="1 for the best group. Each of its systems (with rank sums, the last of "
        "them) is significantly better than every system of the next group.",
    )
    system = serializers.CharField()
    team = TeamSerializer(allow_null=True, help_text="Null while anonymous.")
    submitted_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Submission.State.choices)
    baseline = serializers.ChoiceField(
        choices=["", *Submission.Baseline.values],
        help_text="reference (a human reference), baseline, or empty.",
    )
    private = serializers.BooleanField(help_text="Only your team can see this row.")
    simulated = serializers.BooleanField(
        help_text="Rated by simulated annotators, not by people."
    )
    imported = serializers.BooleanField(
        help_text="Imported ratings. The task's `imported` has the source."
    )
    human = HumanScoreSerializer(allow_null=True)
    partial = PartialSerializer(  # type: ignore[assignment]
        allow_null=True,
        help_text="Set if too few instances were rated. Partial scores have a rank "
        "only if staff decide so.",
    )
    pending = PendingSerializer(allow_null=True)
    best_of = serializers.IntegerField(
        allow_null=True,
        help_text="Set if it is the best of this many rated attempts of its team, including "
        "withdrawn and private ones. Null while anonymous.",
    )
    criteria = serializers.DictField(child=HumanScoreSerializer())
    with_judges = serializers.DictField(
        source="judged",
        child=JudgedSerializer(),
        help_text=f"By criterion, if licensed judges help. {JUDGED_HELP} Ranks use people's "
        "ratings alone unless the task sets `judges.rank`.",
    )
    metrics = serializers.DictField(child=serializers.FloatField())


# These could disclose another team's submission (as on its page).
_FOR_THE_TEAM = ("near-duplicate",)


def brief_submission(
    submission: Submission, view: VisibleParts, request: Request
) -> dict[str, Any]:
    team = {"slug": submission.team.slug, "name": submission.team.name}
    return {
        "id": submission.pk,
        "url": reverse("api:submission-detail", args=[submission.pk], request=request),
        "html_url": html_url(request, "submission", submission.pk),
        "task": submission.task.slug,
        "system_name": submission.system_name,
        "team": team if view.identity else None,
        "visibility": submission.visibility,
        "anonymous_until": submission.anonymous_until,
        "simulated": submission.simulated,
        "imported": imported_json(submission.task),
        "state": submission.state,
        "n_warnings": len(_warnings(submission, view)),
        "created_at": submission.created_at,
        "published_at": submission.published_at,
    }


def full_submission(
    submission: Submission, view: VisibleParts, request: Request
) -> dict[str, Any]:
    """Return all fields; the team's own matters only to the team and staff."""
    withdrawn = submission.is_withdrawn and not view.inner
    asked = submission.human_evaluation
    scores = [] if withdrawn else _scores(submission, view)
    all_scores = [] if withdrawn else scores_of(submission)
    return {
        **brief_submission(submission, view, request),
        "attempts": _attempts(submission, scores) if view.identity else None,
        "description": submission.description if view.identity else None,
        "links": submission.links if view.identity else None,
        **{
            # free text, which could identify an anonymous system's team
            name: getattr(submission, name) if view.identity else None
            for name in detail_names()
        },
        "baseline": submission.baseline,
        "file": {
            n: getattr(submission, f"file_{n}")
            for n in ("name", "sha256", "bytes", "format")
        }
        if view.inner
        else None,
        "errors": submission.errors if view.inner else None,
        "warnings": _warnings(submission, view),
        "failure": _failure(submission) if view.inner else None,
        "cost_cents": asked.approved_cents if asked and view.inner else None,
        **_paid(submission, view),
        "events": [
            {
                "state": event.state,
                "sentence": event.sentence if view.inner else None,
                "at": event.at,
            }
            for event in submission.events.order_by("pk")
        ],
        "metrics": {} if withdrawn else _metrics(submission),
        "scores": scores,
        "with_judges": judged_of(submission.task, [submission.pk]).get(
            submission.pk, {}
        )
        if scores
        else {},
        "provisional_because": still_open(submission, all_scores),
        "score_changes": score_changes(submission, all_scores),
    }


def _attempts(submission: Submission, scores: list[Score]) -> Attempts:
    main = main_criterion(submission.task)
    ranking = [score for score in scores if score.criterion == main]
    return attempts_of(submission, ranking[0] if ranking else None)


def _paid(submission: Submission, view: VisibleParts) -> dict[str, int | None]:
    """Return the cost of people's answers: to the team at once, to all with the scores."""
    if submission.task.imported:  # payments for imported ratings are unknown
        return {"paid_cents": None, "fee_cents": None}
    evaluation = evaluation_of(submission)
    published = submission.is_published
    if evaluation is None or not (published or (view.inner and view.money)):
        return {"paid_cents": None, "fee_cents": None}
    paid, fee = paid_and_fee(campaigns_of(evaluation))
    return {"paid_cents": paid, "fee_cents": fee}


def _failure(submission: Submission) -> dict[str, Any] | None:
    if not submission.failed:
        return None
    return {
        "step": submission.failed_step,
        "reason": submission.work.failure,
        "permanent": submission.work.failure_permanent,
    }


def _metrics(submission: Submission) -> dict[str, dict[str, Any]]:
    rows = submission.metric_results.order_by("metric", "pk").defer(
        "per_instance", "details"
    )
    return {
        row.metric: {
            "value": row.value,
            "signature": row.signature,
            "computed_at": row.computed_at,
        }
        for row in rows
    }


def _scores(submission: Submission, view: VisibleParts) -> list[Score]:
    """Return the current scores; before publication only to the team and staff."""
    if not (submission.published_at or view.inner):
        return []
    scores = submission.scores.filter(superseded_at=None).order_by("criterion")
    return list(scores.prefetch_related("evaluation__campaigns"))


def _warnings(submission: Submission, view: VisibleParts) -> list[dict[str, Any]]:
    warnings: list[dict[str, Any]] = submission.warnings
    if view.inner:
        return warnings
    return [w for w in warnings if not str(w.get("code", "")).startswith(_FOR_THE_TEAM)]
