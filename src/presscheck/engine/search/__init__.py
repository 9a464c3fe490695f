"""Search over what the cache holds, and backlinks."""
