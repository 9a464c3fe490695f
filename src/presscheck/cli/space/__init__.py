"""`presscheck space`."""
