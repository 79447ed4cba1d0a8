"""Tables that are posted as HITs, for requesters who write no programs."""
