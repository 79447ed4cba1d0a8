"""Messages: what workers are told about their work, so that nothing happens behind their back.

Front door: models; services.
"""
