"""The worker site: what a person at work sees, from the list of work to the earnings.

Front door: none.
"""
