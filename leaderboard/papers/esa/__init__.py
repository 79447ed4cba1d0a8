"""Marked errors (ESA, MQM): spans, scores, times, and agreement between campaigns."""
