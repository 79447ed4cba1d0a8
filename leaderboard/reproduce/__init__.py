"""Published tables, recomputed: one file per table, found and not listed.

A cell holds when the printed number lies within the tolerance of ours. Numbers that
are known not to come out bear the reason and cannot fail; what is printed nowhere is
shown as ours only.
"""

from __future__ import annotations
