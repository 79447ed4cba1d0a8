"""Sets of figures that a task's published numbers are compared with."""
