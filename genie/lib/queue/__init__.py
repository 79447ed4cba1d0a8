"""Internals of the queue: brokers, locks, heartbeats; see `genie.lib.jobs`."""
