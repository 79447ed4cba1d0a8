"""What every web process needs: caches, health, security headers, bounded uploads."""

from __future__ import annotations
