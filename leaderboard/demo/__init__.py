"""The demonstration: four small tasks, their systems, and simulated annotators.

`genie demo` uses the whole product with it; all its data are marked as simulated.
"""
