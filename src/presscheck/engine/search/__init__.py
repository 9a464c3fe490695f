"""Full-text search of cached content, and backlinks."""
