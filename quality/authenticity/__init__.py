"""Authenticity: signs that answers are not a person's own, as evidence for staff.

`stats` measures how each worker's answers agree with a judge's and with those of other
suspected workers, and how little they vary, given the quality of the texts. It also
finds pairs of workers who agree beyond quality, and workers whose test questions went
better than their other answers. No worker is excluded for these signs alone.

Front door: evidence; selectors; stats (likelihood_ratio).
"""
