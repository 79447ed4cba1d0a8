"""Authenticity: signs that answers are not a person's own, as evidence for staff.

`stats` says of each worker how their answers agree with a judge's, with those of others
under suspicion and how little they vary, all given what the text deserves; which pairs of
workers agree beyond quality; and whether test questions went better than the other
answers support. Nothing here excludes anybody.

Front door: evidence; selectors; stats (answers).
"""
