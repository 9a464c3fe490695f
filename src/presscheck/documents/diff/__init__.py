"""The changes between two versions of a page, and their rendering as terminal lines."""
