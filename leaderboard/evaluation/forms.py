from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.selectors.comparisons import comparable
from leaderboard.evaluation.services import comparison, joint
from leaderboard.stats.stopping.sequential import RULES
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from leaderboard.evaluation.selectors.comparisons import Viewer

CONFIDENCES = (("0.05", "95 %"), ("0.01", "99 %"), ("0.001", "99.9 %"))
STRATEGIES = [
    (Comparison.Strategy.ONE.value, "One worker for each pair"),
    (Comparison.Strategy.MAX_THREE.value, "Two, and a third where they disagree"),
    (Comparison.Strategy.FIXED.value, "The same worker for all pairs"),
    ("majority-3", "The majority of three"),
    ("majority-5", "The majority of five"),
    ("majority-7", "The majority of seven"),
]


def _rules() -> list[tuple[str, str]]:
    return [
        (
            name,
            name.replace("-", " ")
            + (
                ""
                if rule.anytime_valid
                else " (as published; its error rate is higher than stated)"
            ),
        )
        for name, rule in RULES.items()
    ]


class SystemsForm(forms.Form):
    systems = forms.ModelMultipleChoiceField(
        Submission.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least two systems."},
    )

    def __init__(self, *args: Any, task: Task, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["systems"]
        if isinstance(field, forms.ModelMultipleChoiceField):
            field.queryset = comparable(task, viewer)


class ComparisonForm(SystemsForm):
    criterion = forms.ChoiceField(label="Question")
    delta = forms.ChoiceField(
        label="Confidence", choices=CONFIDENCES, initial=CONFIDENCES[0][0]
    )
    strategy = forms.ChoiceField(label="Answers per pair", choices=STRATEGIES)
    rule = forms.ChoiceField(
        label="Stopping rule", choices=_rules, initial=comparison.DEFAULT_RULE
    )
    max_pairs = forms.IntegerField(
        label="Maximum number of pairs",
        min_value=1,
        max_value=comparison.MOST_PAIRS,
        help_text="The comparison stops as inconclusive when so many have been asked about.",
    )

    def __init__(self, *args: Any, task: Task, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, task=task, viewer=viewer, **kwargs)
        field = self.fields["criterion"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [*comparison.criteria_of(task).items()]
        self.fields["max_pairs"].initial = min(400, task.n_instances)

    def question(self) -> comparison.Question:
        fields = self.cleaned_data
        strategy, _, n_workers = str(fields["strategy"]).partition("-")
        many = strategy == Comparison.Strategy.MAJORITY
        return comparison.Question(
            criterion=fields["criterion"],
            delta=float(fields["delta"]),
            rule=fields["rule"],
            strategy=strategy if many else fields["strategy"],
            n_workers=int(n_workers) if many else 1,
            max_pairs=fields["max_pairs"],
        )


class JointForm(SystemsForm):
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
        help_text=f"Empty: all of them, {joint.MOST_ON_PAGE} at most. Fewer: each page "
        f"shows another choice of up to {joint.MOST_SYSTEMS} systems, so that every system "
        "and every pair is rated about equally often.",
    )

    def __init__(self, *args: Any, task: Task, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, task=task, viewer=viewer, **kwargs)
        known = joint.criteria_of(task)
        field = self.fields["criteria"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [*known.items()]
        field.initial = list(known)
        self.fields["n_instances"].initial = task.sample_size
