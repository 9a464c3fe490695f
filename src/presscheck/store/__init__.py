"""SQLite files: the cache, which can be deleted at any time, and the outbox, which is never deleted."""
