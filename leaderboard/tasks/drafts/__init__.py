"""Tasks as bundles: a task.toml and its data, drafted from people's files or packed.

Pure. `draft.draft` makes a bundle of what `leaderboard.tasks.intake` has read and of what
is to be asked; `bundle` packs bundles into zip files and folders, and opens them with
limits, as strangers may have made them.
"""
