"""Simulated crowds with careless workers, and campaigns that detect them."""
