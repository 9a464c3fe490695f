"""The inbox screen."""
