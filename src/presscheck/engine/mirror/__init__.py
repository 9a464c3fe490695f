"""Offline sync: what to fetch, what is cached already, progress."""
