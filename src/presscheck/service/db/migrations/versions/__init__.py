"""The migration steps, in order."""
