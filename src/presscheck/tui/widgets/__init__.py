"""Widgets, which receive data and post messages; they never use the engine."""
