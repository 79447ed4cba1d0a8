"""How well a script distinguishes the test questions of shipped tasks from real items."""
