"""Shared parts of the apps' admin pages: fast lists, pages that ask for a reason."""
