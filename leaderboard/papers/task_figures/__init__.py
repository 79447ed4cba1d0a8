"""The published numbers of a task, stored with it and compared with ours."""
