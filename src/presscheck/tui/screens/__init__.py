"""Places: each owns a task and asks the desk."""
