"""What we remember: the cache (may be thrown away) and the outbox (never is); the only room that knows sqlite3."""
