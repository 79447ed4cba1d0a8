"""Needs of every web process: caches, health, security headers, bounded uploads."""
