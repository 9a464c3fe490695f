"""The comments on the live content of a space: the list of those on a page, and what can be done with them."""
