"""The inside of the queue: brokers, locks, heartbeats; only `genie.lib.jobs` is its door."""
