"""The demonstration: four small tasks, their systems, and simulated annotators.

`genie demo` walks the whole product with it; everything it makes is marked simulated.
"""
