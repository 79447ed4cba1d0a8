"""Appeals: a worker speaks once against a decision, a person answers once.

Front door: services.
"""
