"""Fits of the noisy-worker model: all that is needed to repeat them."""

from __future__ import annotations

from django.contrib import admin

from genie.lib.admin.read_only import ReadOnlyAdmin
from quality.detection.models import DetectorFit


@admin.register(DetectorFit)
class DetectorFitAdmin(ReadOnlyAdmin):
    list_display = ["pool", "polarity", "detector", "n_workers", "created_at"]
    list_filter = ["pool", "polarity", "detector"]
