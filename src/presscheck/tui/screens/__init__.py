"""Places: each owns a task and asks the engine."""
