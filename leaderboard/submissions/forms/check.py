"""The form by which a file is checked and not handed in."""

from __future__ import annotations

from django import forms


class CheckForm(forms.Form):
    file = forms.FileField(
        label="Predictions",
        help_text="The file that you want to submit, plain or compressed with gzip.",
        allow_empty_file=True,
    )
