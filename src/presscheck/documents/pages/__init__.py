"""Page trees, front matter, quotes and suggestions."""
