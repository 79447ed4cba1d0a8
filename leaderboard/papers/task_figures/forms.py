"""The form for published numbers."""

from django import forms

from leaderboard.papers.figures import all_figures
from leaderboard.papers.task_figures.computed import BOARD


class PublishedForm(forms.Form):
    cells = forms.CharField(
        max_length=500_000,
        label="Numbers",
        help_text="CSV or JSON, with the columns id (SYSTEM/FIGURE, such as Kite/score), "
        "value and, where known, tolerance, table and why.",
        widget=forms.Textarea(
            attrs={"rows": 8, "class": "code", "spellcheck": "false"}
        ),
    )
    table = forms.CharField(
        max_length=100,
        required=False,
        label="Table",
        help_text="Where they are printed, if the list does not say it. What was kept of "
        "the same table is replaced.",
    )
    figures = forms.ChoiceField(
        required=False,
        label="Compared with",
        help_text="Which of our figures a name such as z or score means.",
    )
    part = forms.CharField(
        max_length=100,
        required=False,
        label="Part",
        help_text="Of a list for several tasks: what the ids of this one begin with.",
    )
    why = forms.CharField(
        max_length=500,
        required=False,
        label="Why some cannot come out",
    )

    def __init__(self, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        sets = [BOARD, *all_figures()]
        self.fields["figures"].choices = [  # type: ignore[attr-defined]
            ("", "What fits these judgments"),
            *((slug, slug) for slug in sets),
        ]
