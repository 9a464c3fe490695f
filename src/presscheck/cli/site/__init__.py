"""`presscheck site`."""
