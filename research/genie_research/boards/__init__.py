"""Simulated boards, designs and plans: coverage of intervals, and the precision of ratings."""
