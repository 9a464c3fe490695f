"""What changed between two texts of a page, and the diff as terminal lines."""
