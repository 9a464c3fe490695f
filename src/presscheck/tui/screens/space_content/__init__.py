"""The screen of links, files and reusable content of a space."""
