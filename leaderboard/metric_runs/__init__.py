"""Automatic metrics of submissions: computed in queued jobs, stored with their signatures.

Light metrics are computed while a submission is processed (`services.run`). Heavy
ones, and those that a task adds later, run in pieces that can be stopped and resumed.
The metrics are pure and are in `leaderboard.metrics`,
one file each.

Front door: models; selectors; services.
"""
