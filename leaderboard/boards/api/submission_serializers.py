from typing import Any

from rest_framework import serializers

from genie.lib.interval import Interval
from leaderboard.api.body import Body
from leaderboard.api.links import HTML_URL_HELP
from leaderboard.api.records import Record
from leaderboard.boards.selectors.attempts import Attempts
from leaderboard.boards.selectors.score_changes import ScoreChange
from leaderboard.evaluation.api.serializers import Fields, result_field
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.result_columns import columns_of
from leaderboard.evaluation.selectors.coverage import partial_of_score
from leaderboard.metric_runs.models import MetricResult
from leaderboard.stats.systems.linking import LinkingConstant
from leaderboard.submissions.models import DETAILS, Submission, SubmissionEvent
from leaderboard.tasks.api import ImportedSerializer

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
        help_text="Team, description, links and what else is said of the system stay "
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
        help_text="Share of the variance between instances that the judges foretell."
    )
    labels_saved = serializers.FloatField(
        help_text="Instances that people need not have rated for such an interval; "
        "negative where the judges cost some."
    )
    n_people = serializers.IntegerField(help_text="Instances that people rated.")
    n_judge = serializers.IntegerField(help_text="Instances that the judges scored.")
    judges = serializers.ListField(
        child=serializers.CharField(), help_text="Each with what kind of program it is."
    )
    seed = serializers.IntegerField()


class ScoreSerializer(serializers.Serializer[Any]):
    partial = serializers.SerializerMethodField(  # type: ignore[assignment]
        help_text='Set if too few instances were rated, such as "stopped at 154 of '
        '800"; such a score has a rank only if staff decided so.'
    )
    created_at = serializers.DateTimeField()
    link = ScoreLinkSerializer(
        allow_null=True,
        help_text="What its crowd gave outputs of an anchor, less what they had got "
        "before; null if the score is not linked to an earlier crowd. The score itself "
        "is not changed by it.",
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
        "before": "The mean until then.",
        "after": "Null if no rating counts any more.",
        "was_provisional": "Whether the score had not been final before.",
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
    imported = ImportedSerializer(
        allow_null=True, help_text="Null, or where the judgments were made elsewhere."
    )
    n_warnings = serializers.IntegerField()
    help_texts = {"simulated": "Rated by simulated annotators, not by people."}


class AttemptsSerializer(Record):
    record = Attempts
    shown = "n n_rated is_best low high"
    help_texts = {
        "n": "Withdrawn and private ones included.",
        "n_rated": "Those that have had a score.",
        "is_best": "Whether this is the best of several rated ones.",
        "low": "95 % interval of the ranking score that allows for the choice of the best "
        "(Šidák); null otherwise.",
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
        help_text="Amount paid to workers; public once the submission is published.",
    )
    fee_cents = serializers.IntegerField(allow_null=True, help_text="Platform fees.")
    events = EventSerializer(many=True)
    metrics = serializers.DictField(child=MetricValueSerializer())
    scores = ScoreSerializer(many=True)
    with_judges = serializers.DictField(
        child=JudgedSerializer(),
        help_text="By criterion, where licensed judges, which are programs, help people's "
        "mean; ranks are by people alone unless the task's `judges.rank` says otherwise.",
    )
    provisional_because = serializers.ListField(
        child=serializers.CharField(),
        help_text="What is open before the scores are final; empty otherwise.",
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
