"""A page in a change request: its text, its details, and its way to the service."""
