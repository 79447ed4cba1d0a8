"""Where `crowd.requester` was: its jobs are still found here, as `periodic` says."""
