"""All kinds of extensions, each found by its own registry."""

from collections.abc import Callable, Mapping
from typing import Any

from crowd.hit_templates import all_templates
from crowd.platforms.base import all_platforms
from crowd.scales.base import all_scales
from genie.lib import outside
from leaderboard.designs.base import all_designs
from leaderboard.imports.readers.layout import all_layouts
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.preflight.base import all_checks
from leaderboard.tasks.readers.base import all_readers
from quality.detection.stats.detector_specs import DETECTORS

FINDERS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "metrics": all_metrics,
    "designs": all_designs,
    "scales": all_scales,
    "readers": all_readers,
    "layouts": all_layouts,
    "platforms": all_platforms,
    "preflight": all_checks,
    "detectors": lambda: DETECTORS,
    "templates": all_templates,
}


def broken() -> list[outside.Problem]:
    for find in FINDERS.values():
        find()
    return outside.problems()
