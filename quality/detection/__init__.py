"""Detection of noisy workers: from graded test questions to posteriors and verdicts.

`stats` fits a mixture of beta-binomials to a pool of workers and turns posteriors into
decisions, or judges workers by all of their answers (`stats.assess`);
`services.judge` stores each fit with all that is needed to repeat it, and
`services.next_hit` says whether a worker's next HIT is a test question.

Front door: models; admin (workers); selectors; services (judge, next_hit); stats
(assess, decisions, detection_study, detector_specs, detectors, question_counts,
study_plot, study_table); stats.crowds (campaign, evidence_study, key_study, order,
people).
"""

from __future__ import annotations
