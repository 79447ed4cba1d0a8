"""Simulated crowds with careless people in them, and campaigns that try to do without."""
