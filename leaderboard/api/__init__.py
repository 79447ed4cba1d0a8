"""Parts shared by all routes of the API: errors, pages, query parameters, caching
rules.

A wing's own routes and serializers are in its `api`; `leaderboard.site.api` gives all
of them their addresses.
"""
