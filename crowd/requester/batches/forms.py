from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from crowd.requester.batches import post as batches

DAY = 86_400
MAX_BYTES = 900_000


class BatchForm(forms.Form):
    name = forms.CharField(
        max_length=100, help_text="A name can be used only once, so that no batch is posted twice."
    )  # fmt: skip
    title = forms.CharField(max_length=128)
    description = forms.CharField(
        max_length=2000, widget=forms.Textarea(attrs={"rows": 2, "cols": 80})
    )
    keywords = forms.CharField(max_length=1000, required=False)
    reward = forms.DecimalField(
        min_value=Decimal("0.00"), max_value=Decimal(1000), decimal_places=2, label="Reward, in dollars"
    )  # fmt: skip
    max_assignments = forms.IntegerField(
        min_value=1, max_value=1000, initial=1, label="Workers per row"
    )
    minutes = forms.IntegerField(
        min_value=1, max_value=60 * 24, initial=60, label="Minutes per assignment"
    )
    days = forms.IntegerField(
        min_value=1, max_value=365, initial=7, label="Days until the HITs expire"
    )
    approval_days = forms.IntegerField(
        min_value=0, max_value=30, initial=3, label="Days until automatic approval"
    )
    page_file = forms.FileField(
        label="Page", help_text="HTML, with ${name} where the value of a column goes."
    )  # fmt: skip
    table_file = forms.FileField(
        label="Table", help_text="CSV in UTF-8. The first line names the columns."
    )  # fmt: skip
    markup = forms.BooleanField(
        required=False,
        label="The table contains HTML",
        help_text="If unchecked, < and & are shown literally.",
    )
    page = forms.CharField(required=False, widget=forms.HiddenInput, strip=False)
    table = forms.CharField(required=False, widget=forms.HiddenInput, strip=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("page", "table"):
            self.fields[f"{name}_file"].required = not self.data.get(name)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("page", "table"):
            if file := cleaned.get(f"{name}_file"):
                try:
                    cleaned[name] = decode_file(file)
                except ValidationError as error:
                    self.add_error(f"{name}_file", error)
            # Browsers send their own line ends.
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
        return cleaned

    def draft(self) -> batches.Draft:
        cleaned = self.cleaned_data
        return batches.draft(
            {
                "Title": cleaned["title"],
                "Description": cleaned["description"],
                "Keywords": cleaned["keywords"],
                "Reward": f"{cleaned['reward']:.2f}",
                "AssignmentDurationInSeconds": cleaned["minutes"] * 60,
                "AutoApprovalDelayInSeconds": cleaned["approval_days"] * DAY,
                "QualificationRequirements": [],
            },
            cleaned["page"],
            cleaned["table"],
            max_assignments=cleaned["max_assignments"],
            lifetime_seconds=cleaned["days"] * DAY,
            markup=cleaned["markup"],
        )


class ReviewForm(forms.Form):
    table_file = forms.FileField(
        label="Table",
        help_text="The table of results, with an x under Approve or a reason under Reject. "
        "Rows with neither stay undecided.",
    )

    def clean_table_file(self) -> str:
        return decode_file(self.cleaned_data["table_file"])


def decode_file(file: Any) -> str:
    """Return a file's text; the error names the line that is not UTF-8."""
    if file.size > MAX_BYTES:
        raise ValidationError(f"A file can have at most {MAX_BYTES} bytes.")
    data: bytes = file.read()
    try:
        # Spreadsheets put a byte-order mark in front, which belongs to no column's
        # name.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValidationError(f"Line {line} is not UTF-8.") from None
