"""Change requests, threads and merge rules."""
