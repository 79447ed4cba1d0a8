"""Tasks as bundles: a task.toml and its data, drafted from people's files or packed.

Pure. `draft.draft` makes a bundle of the material that `leaderboard.tasks.intake` has
read and of the questions. `bundle` packs bundles into zip files and folders. It opens
them with limits, because strangers may have made them.
"""
