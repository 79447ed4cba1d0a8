"""Automatic metrics of submissions: computed in queued jobs, kept with their signatures.

Light metrics are computed on a submission's way to the board (`services.measure`). Heavy
ones, and those that a task adds later, run in pieces that can be stopped and resumed
(`services.runs`, `services.pieces`). The metrics themselves are pure and live in
`leaderboard.metrics`, one file each.

Front door: models; selectors; services (measure, pieces, realign,
runs).
"""
