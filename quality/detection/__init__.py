"""Detection of noisy workers: from graded test questions to posteriors and verdicts.

`stats` fits a mixture of beta-binomials to a pool of workers and turns posteriors into
decisions, or assesses workers by all of their answers (`stats.assess`).
`services.judge` stores each fit with everything needed to repeat it, and
`services.next_hit` decides whether a worker's next HIT is a test question.

Front door: models; admin; selectors; services (judge); stats (assess, detector_specs,
detectors).
"""
