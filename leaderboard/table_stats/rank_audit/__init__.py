"""Ranks audited: how sure is the order of a leaderboard with a score for each item.

A table of systems and items, from people or programs, gives clusters, the ranks that
each system may hold, and a badge. `read` takes the file apart (it may be a stranger's, so
within `genie.lib.bounded`), `leaderboard.stats.systems.per_item` has the arithmetic,
`report` puts it into words. Nothing of a file is kept.
"""
