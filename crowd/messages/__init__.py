"""Messages: notices to workers about their work, so that they learn of every change.

Front door: models; services.
"""
