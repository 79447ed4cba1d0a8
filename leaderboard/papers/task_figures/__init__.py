"""What was published of a task's judgments, kept with it and shown beside ours."""
