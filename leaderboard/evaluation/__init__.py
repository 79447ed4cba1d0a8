"""One machine for human evaluation.

A submission alone, two systems of a comparison and several of a joint evaluation are
asked about in the same way: staff approve a price (`decide`), campaigns go out and
answers come in (`run`, `campaigns`), results are computed, it ends. What differs is a
strategy (`strategies`). `machine` alone writes states.
"""
