"""Simulated boards, designs and plans."""
