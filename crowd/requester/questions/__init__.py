"""The XML of HITs and tests: reading, checks, display, grading."""
