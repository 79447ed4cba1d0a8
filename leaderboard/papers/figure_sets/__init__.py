"""Sets of figures to compare with a task's published numbers."""
