"""Widgets: they get data and post messages; they never use the engine."""
