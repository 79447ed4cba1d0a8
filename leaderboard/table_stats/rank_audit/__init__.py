"""Rank audits: how certain the order of a leaderboard is, given a score for each item.

A table of systems and items, from people or programs, gives clusters, the possible ranks
of each system, and a badge. `read` parses the file (which may be a stranger's, so within
`genie.lib.bounded`), `leaderboard.stats.systems.per_item` has the arithmetic, `report`
puts it into words. Files are never stored.
"""
