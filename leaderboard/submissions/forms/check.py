"""The form to check a file without submitting it."""

from django import forms
from django.utils.translation import gettext_lazy


class CheckForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Predictions"),
        help_text=gettext_lazy(
            "The file that you want to submit, plain or compressed with gzip."
        ),
        allow_empty_file=True,
    )
