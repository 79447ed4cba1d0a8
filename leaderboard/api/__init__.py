"""Parts that all routes of the API share: errors, pages, parameters, caching rules.

A wing's own routes and serializers are in its `api`; `leaderboard.site.api` gives all
of them their addresses.
"""
