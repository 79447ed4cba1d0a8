"""Mechanical Turk's protocol for the adapter `crowd.platforms.mturk`."""
