"""Fits of the noisy-worker model: all that is needed to repeat them, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from genie.accounts.task_admin import OfTask
from genie.lib.admin.read_only import ReadOnlyAdmin
from quality.detection.models import DetectorFit
from quality.detection.selectors import verdicts_of
from quality.detection.services.assumptions import assumptions
from quality.detection.stats.decisions import (
    PoolExpectation,
    control_false_discoveries,
    cost_threshold,
    expectation,
    threshold_table,
)

# At most this share of honest workers among those who could be excluded together.
_LEVEL = 0.01
_THRESHOLDS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


class CostForm(forms.Form):
    wrong = forms.FloatField(
        min_value=0.001,
        max_value=1_000_000,
        label="One honest worker excluded is as bad as so many noisy workers kept",
    )


@dataclass(frozen=True)
class Decisions:
    """What excluding the workers of a fit is expected to do, threshold by threshold."""

    n_workers: int
    in_force: PoolExpectation
    rows: list[PoolExpectation]
    # the largest set whose expected share of honest workers stays within the level
    most: PoolExpectation
    level: float = _LEVEL


def decisions(fit: DetectorFit, *more: float) -> Decisions | None:
    """Work out what each threshold would do to the workers of a fit; None without any."""
    verdicts = verdicts_of(fit)
    if not verdicts:
        return None
    p_noisy = [verdict.p_noisy for verdict in verdicts]
    used = verdicts[0].threshold
    thresholds = sorted({*_THRESHOLDS, used, *more})
    return Decisions(
        len(verdicts),
        # what was decided, also where a rule of the detector spares somebody
        expectation(p_noisy, [verdict.noisy for verdict in verdicts], threshold=used),
        threshold_table(p_noisy, thresholds),
        expectation(p_noisy, control_false_discoveries(p_noisy, _LEVEL)),
    )


@admin.register(DetectorFit)
class DetectorFitAdmin(OfTask, ReadOnlyAdmin):
    list_display = ["pool", "polarity", "detector", "n_workers", "created_at"]
    list_filter = ["pool", "polarity", "detector"]
    change_form_template = "admin/quality/detectorfit/change_form.html"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        fit = self.get_object(request, object_id)
        form = CostForm(request.GET if "wrong" in request.GET else None)
        wanted = (
            cost_threshold(form.cleaned_data["wrong"], 1.0) if form.is_valid() else None
        )
        found = None
        if fit is not None and self.has_view_permission(request, fit):
            found = decisions(fit, *([] if wanted is None else [wanted]))
        return super().change_view(
            request,
            object_id,
            form_url,
            {
                "decisions": found,
                "assumptions": assumptions(fit) if found and fit else [],
                "cost_form": form,
                "wanted": wanted,
            },
        )
