"""Find and replace over the pages of a space."""
