"""Offline sync: the parts to fetch, the state in the cache, and the progress."""
