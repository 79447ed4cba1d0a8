"""Bans: who is excluded from a pool, why, and which ratings therefore count.

A ban is imposed by a verdict or a person, can be lifted, and is carried out in `crowd`.
If a fit would exclude too many workers at once, a person decides first.
All scores are computed from the ratings that `selectors` leave.

Front door: admin; models; selectors; services.
"""
