"""Spaces and collections."""
