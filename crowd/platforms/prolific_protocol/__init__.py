"""Prolific's protocol for the adapter `crowd.platforms.prolific`."""
