from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from leaderboard.evaluation.expected import expected_labels
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparisons import (
    LISTED,
    comparable,
    refuse_who_has_none,
)
from leaderboard.evaluation.services import comparison, joint
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from leaderboard.evaluation.selectors.joint import Viewer

CONFIDENCES = (
    ("0.05", "95%"),
    ("0.01", "99%"),
    ("0.001", "99.9%"),
    ("0.0001", "99.99%"),
)


class _SystemsForm(forms.Form):
    of_systems: tuple[str, ...]

    def list_systems(self, rows: QuerySet[Submission], text: str) -> None:
        # Any of the rows is accepted; those that are chosen or match are shown.
        fields: dict[str, Any] = self.fields
        data: Any = self.data
        chosen = [
            int(pk)
            for name in self.of_systems
            for pk in (
                data.getlist(name) if self.is_bound else _initial_values(self, name)
            )
            if str(pk).isdecimal() and len(str(pk)) < 19
        ]
        found = rows.filter(system_name__icontains=text)[: LISTED + 1]
        self.is_long = len(found) > LISTED or bool(text)
        listed = {row.pk: row for row in (*rows.filter(pk__in=chosen), *found[:LISTED])}
        for name in self.of_systems:
            fields[name].queryset = rows
            empty = (
                [("", "---------")]
                if fields[name].widget.input_type == "select"
                else []
            )
            fields[name].widget.choices = [
                *empty,
                *(
                    (pk, fields[name].label_from_instance(row))
                    for pk, row in listed.items()
                ),
            ]


def _initial_values(form: forms.Form, name: str) -> list[Any]:
    value = form.initial.get(name) or []
    return value if isinstance(value, list) else [value]


class ComparisonForm(_SystemsForm):
    of_systems = ("a", "b")
    heading, page = "Compare two systems", "leaderboard:comparison"

    a = forms.ModelChoiceField(Submission.objects.none(), label="First system")
    b = forms.ModelChoiceField(Submission.objects.none(), label="Second system")
    criterion = forms.ChoiceField(label="Question")
    strategy = forms.ChoiceField(
        label="Answers per pair",
        choices=[(name, words) for name, (*_, words) in comparison.STRATEGIES.items()],
    )
    delta = forms.ChoiceField(
        label="Confidence", choices=CONFIDENCES, initial=CONFIDENCES[0][0]
    )
    max_pairs = forms.IntegerField(
        label="Maximum number of pairs",
        min_value=1,
        max_value=comparison.MOST_PAIRS,
        help_text="The comparison stops as inconclusive when so many have been asked about.",
    )

    def __init__(
        self, *args: Any, task: Task, viewer: Viewer, text: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        self.task = task
        self.list_systems(comparable(task, viewer), text)
        fields["criterion"].choices = [*comparison.criteria_of(task).items()]
        fields["max_pairs"].initial = min(400, task.n_instances)

    def question(self) -> comparison.Question:
        said = self.cleaned_data
        strategy, n_workers, _ = comparison.STRATEGIES[said["strategy"]]
        return comparison.Question(
            criterion=said["criterion"],
            delta=float(said["delta"]),
            strategy=strategy,
            n_workers=n_workers,
            max_pairs=said["max_pairs"],
        )

    def ask(self, by: Any) -> Comparison:
        a, b = self.cleaned_data["a"], self.cleaned_data["b"]
        refuse_who_has_none(by, [a, b], Staff.ASK_COMPARISONS)
        return comparison.request(a, b, self.question(), by=by)

    @property
    def figures(self) -> dict[str, Any]:
        """Return what each strategy needs, by default if the form has errors."""
        usual = comparison.Question("", max_pairs=self.fields["max_pairs"].initial)
        return expected_labels(self.task, self.question() if self.is_valid() else usual)


class JointForm(_SystemsForm):
    of_systems = ("systems",)
    heading, page = "Rate systems side by side", "leaderboard:joint"

    systems = forms.ModelMultipleChoiceField(
        Submission.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least two systems."},
    )
    criteria = forms.MultipleChoiceField(
        label="Questions", widget=forms.CheckboxSelectMultiple
    )
    n_instances = forms.IntegerField(label="Instances", min_value=1)
    n_workers = forms.IntegerField(
        label="Workers per instance",
        min_value=1,
        max_value=joint.MOST_WORKERS,
        initial=1,
        help_text="With more than one, the page reports inter-annotator agreement.",
    )

    per_page = forms.IntegerField(
        label="Systems per page",
        min_value=2,
        max_value=joint.MOST_ON_PAGE,
        required=False,
        help_text=f"Empty: all of them, {joint.MOST_ON_PAGE} at most. Fewer: each "
        f"page shows a different set of up to {joint.MOST_SYSTEMS} systems, so that every system "
        "and every pair is rated about equally often.",
    )

    def __init__(
        self, *args: Any, task: Task, viewer: Viewer, text: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        self.list_systems(comparable(task, viewer), text)
        known = joint.criteria_of(task)
        fields["criteria"].choices = [*known.items()]
        fields["criteria"].initial = list(known)
        fields["n_instances"].initial = task.sample_size

    def ask(self, by: Any) -> JointEvaluation:
        said = {**self.cleaned_data}
        systems = list(said.pop("systems"))
        refuse_who_has_none(by, systems, Staff.ASK_JOINT_EVALUATIONS)
        return joint.request(systems, by=by, **said)
