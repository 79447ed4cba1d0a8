"""What every route of the API shares: errors, pages, query parameters, caching rules.

A wing's own routes and serializers are in its `api`; `leaderboard.site.api` gives all of
them their addresses.
"""
