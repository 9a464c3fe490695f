"""Offline sync: plan, state, progress."""
