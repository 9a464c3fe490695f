"""`presscheck cr`."""
