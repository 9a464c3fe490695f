"""What can be said to the platform: every call a value, every noun a model; pydantic only."""
