"""Widgets. They receive data and post messages, and never use the engine."""
