"""Find and replace over all pages of a space."""
