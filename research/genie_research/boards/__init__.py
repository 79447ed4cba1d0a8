"""Simulated boards, designs and plans: how often intervals hold, and what ratings buy."""
