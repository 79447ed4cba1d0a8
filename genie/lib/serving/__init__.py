"""What every web process needs: caches, health, security headers, bounded uploads."""
