"""Detection of noisy workers: from graded test questions to posteriors and verdicts.

`stats` fits a mixture of beta-binomials to a pool of workers and turns posteriors into
decisions; `services.judge` stores each fit with all that is needed to repeat it.

Front door: models; admin (workers); selectors; services (judge); stats
(detection_study, detector_specs, detectors, honest_study, question_counts, study_plot,
study_table).
"""

from __future__ import annotations
