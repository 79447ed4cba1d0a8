"""Bans: who is excluded from a pool, why, and which ratings therefore count.

A ban is imposed by a verdict or a person, can be lifted, and is carried out in `crowd`.
If a fit would exclude too many workers at once, a person decides first
(`services.held_exclusions`). All scores are computed from `selectors.clean_ratings`.

Front door: models; selectors; services.
"""
