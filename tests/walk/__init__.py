"""A walk over every address of the site, on boards of every kind.

`worlds` makes the boards, `routes` fills the addresses that the resolver knows, `checks`
compares what comes back with what a board holds. None of them asks the product how it
should look: they know its addresses, its formats and what was put into its database.
"""
