"""The arithmetic of boards, comparisons and metrics; pure: no Django, database or clock.

Random functions take a seed or a generator, and most put their input into an order that
depends on the values only, so that the same data and seed give the same bytes whatever
order the rows came in.
"""

from __future__ import annotations
