"""The worker site: a worker's pages, from the list of work to the earnings.

Front door: none.
"""
