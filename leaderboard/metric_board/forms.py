"""The upload form for the scores of a metric; `services.outside` does the checks."""

from django import forms


class MetricScoresForm(forms.Form):
    name = forms.CharField(
        label="Name of the metric",
        max_length=60,
        help_text="Shown on the metric board with your user name.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    file = forms.FileField(
        label="Scores",
        help_text=(
            "CSV, TSV or JSONL with system, instance and value, or lines of system, "
            "tab, score as mt-metrics-eval's .seg.score and .sys.score; plain or "
            "compressed with gzip."
        ),
        # the service refuses an empty file, with a clearer message
        allow_empty_file=True,
    )
    lower = forms.BooleanField(label="Lower is better (an error rate)", required=False)
    description = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What it is, its version, and where it is described.",
    )
