"""Bans: who is excluded from a pool, why, and which ratings therefore count.

A ban is imposed by a verdict or a person, can be lifted, and is carried out in `crowd`.
Where a fit would exclude too many workers at once, a person decides first
(`services.held_exclusions`). `selectors.clean_ratings` is where every score begins.

Front door: models; selectors (bans, clean_ratings, held,
pending, weights); services (ban, carry_out, held_exclusions).
"""
